#include "base/hash.h"

#include <fmt/core.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 hash_bytes(const void* data, size_t size) {
  XXH128_hash_t h = XXH3_128bits(data, size);
  return {h.low64, h.high64};
}

}  // namespace tenon

#include "ops/hashing.h"

#include <bit>
#include <cstring>

#include "providers/reference/elements.h"
#include "providers/reference/kernel.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

uint32_t scramble(uint32_t block) { return std::rotl(block * 0xcc9e2d51u, 15) * 0x1b873593u; }

// MurmurHash3_x86_32 by Austin Appleby.
uint32_t murmur_hash(std::string_view key, uint32_t seed) {
  uint32_t hash = seed;
  std::string_view rest = key;
  for (; rest.size() >= 4; rest.remove_prefix(4)) {
    uint32_t block;
    std::memcpy(&block, rest.data(), 4);
    hash = std::rotl(hash ^ scramble(block), 13) * 5 + 0xe6546b64u;
  }
  uint32_t tail = 0;
  for (size_t i = rest.size(); i-- > 0;) tail = tail << 8 | static_cast<unsigned char>(rest[i]);
  if (!rest.empty()) hash ^= scramble(tail);
  hash ^= static_cast<uint32_t>(key.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::MurmurHash3>() {
  return [](KernelContext& c) -> Status {
    const auto seed = static_cast<uint32_t>(c.params<MurmurHash3Params>().seed);
    const TensorView& x = c.in(0);
    auto out = raw<uint32_t>(c.out(0));
    const size_t width = static_cast<size_t>(dtype_bits(x.dtype)) / 8;
    WorkMeter meter;
    for (size_t i = 0; i < out.size(); ++i) {
      const std::string_view key = x.dtype == DType::String
                                       ? std::string_view(x.as<std::string>()[i])
                                       : std::string_view(static_cast<const char*>(x.data) + i * width, width);
      meter.spend(static_cast<int64_t>(key.size()) + 1);
      out[i] = murmur_hash(key, seed);
    }
    return {};
  };
}

}  // namespace tenon

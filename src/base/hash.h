#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tenon {

// A 128-bit content hash (xxh3). Equal on every machine.
struct Hash128 {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
  std::string hex() const;
};

Hash128 hash_bytes(const void* data, size_t size);
inline Hash128 hash_bytes(std::span<const std::byte> bytes) { return hash_bytes(bytes.data(), bytes.size()); }

}  // namespace tenon

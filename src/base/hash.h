#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

// A 128-bit content hash (xxh3). Equal on every machine.
struct Hash128 {
  uint64_t low = 0, high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
  // 32 digits, the high half first.
  std::string hex() const;
  static std::optional<Hash128> from_hex(std::string_view digits);
};

Hash128 hash_bytes(const void* data, size_t size);
inline Hash128 hash_bytes(std::span<const std::byte> bytes) { return hash_bytes(bytes.data(), bytes.size()); }
inline Hash128 hash_bytes(std::string_view bytes) { return hash_bytes(bytes.data(), bytes.size()); }

// The same hash over bytes that come in pieces.
class StreamingHash {
 public:
  StreamingHash();
  ~StreamingHash();
  StreamingHash(StreamingHash&&) noexcept;
  StreamingHash& operator=(StreamingHash&&) noexcept;
  void add(std::string_view bytes);
  // Of everything added so far.
  Hash128 value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon

#include "base/hash.h"

#include <fmt/core.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>

#include "base/hash_count.h"

namespace tenon {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

std::optional<Hash128> Hash128::from_hex(std::string_view digits) {
  if (digits.size() != 32) return std::nullopt;
  Hash128 hash;
  for (size_t i = 0; i < digits.size(); ++i) {
    const char c = digits[i];
    const bool decimal = c >= '0' && c <= '9';
    if (!decimal && (c < 'a' || c > 'f')) return std::nullopt;
    uint64_t& half = i < 16 ? hash.high : hash.low;
    half = half << 4 | static_cast<uint64_t>(decimal ? c - '0' : c - 'a' + 10);
  }
  return hash;
}

namespace {

std::atomic<uint64_t> bytes_so_far{0};

}  // namespace

uint64_t hashed_bytes() { return bytes_so_far.load(std::memory_order_relaxed); }

Hash128 hash_bytes(const void* data, size_t size) {
  bytes_so_far.fetch_add(size, std::memory_order_relaxed);
  XXH128_hash_t h = XXH3_128bits(data, size);
  return {h.low64, h.high64};
}

struct StreamingHash::State {
  XXH3_state_t state;
};

StreamingHash::StreamingHash() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->state); }
StreamingHash::~StreamingHash() = default;
StreamingHash::StreamingHash(StreamingHash&&) noexcept = default;
StreamingHash& StreamingHash::operator=(StreamingHash&&) noexcept = default;

void StreamingHash::add(std::string_view bytes) {
  bytes_so_far.fetch_add(bytes.size(), std::memory_order_relaxed);
  XXH3_128bits_update(&state_->state, bytes.data(), bytes.size());
}

Hash128 StreamingHash::value() const {
  const XXH128_hash_t h = XXH3_128bits_digest(&state_->state);
  return {h.low64, h.high64};
}

}  // namespace tenon

#include "tensor/not_finite.h"

#include <algorithm>
#include <cstring>

namespace tenon {

namespace {

// Elements of a word side by side. Without its sign, an element whose exponent bits are all set, and no other, reaches
// the sign bit when the lowest exponent bit is added, and never its neighbour.
struct Lanes {
  uint64_t without_signs, exponent_step;
};

bool any_overflow(Lanes lanes, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  const auto sum = [&](uint64_t word) { return (word & lanes.without_signs) + lanes.exponent_step; };
  return ((sum(a) | sum(b) | sum(c) | sum(d)) & ~lanes.without_signs) != 0;
}

bool any_not_finite(const char* bytes, size_t size, Lanes lanes) {
  uint64_t words[4];
  for (; size >= sizeof words; bytes += sizeof words, size -= sizeof words) {
    std::memcpy(words, bytes, sizeof words);
    if (any_overflow(lanes, words[0], words[1], words[2], words[3])) return true;
  }
  std::memset(words, 0, sizeof words);
  std::memcpy(words, bytes, size);
  return any_overflow(lanes, words[0], words[1], words[2], words[3]);
}

// Elements of one byte, where each type has its own few codes.
template <class IsOne>
bool any_byte(const TensorView& view, IsOne is_one) {
  const auto* bytes = static_cast<const uint8_t*>(view.data);
  return std::any_of(bytes, bytes + view.size(), is_one);
}

}  // namespace

bool has_not_finite(const TensorView& view) {
  const auto check = [&](Lanes lanes) {
    return any_not_finite(static_cast<const char*>(view.data), static_cast<size_t>(view.bytes()), lanes);
  };
  if (view.size() == 0) return false;
  switch (view.dtype) {
    case DType::Float32:
      return check({0x7fffffff7fffffffu, 0x0080000000800000u});
    case DType::Float16:
      return check({0x7fff7fff7fff7fffu, 0x0400040004000400u});
    case DType::BFloat16:
      return check({0x7fff7fff7fff7fffu, 0x0080008000800080u});
    case DType::Float64:
      return check({0x7fffffffffffffffu, 0x0010000000000000u});
    case DType::Float8E4M3FN:
      return any_byte(view, [](uint8_t b) { return (b & 0x7f) == 0x7f; });
    case DType::Float8E5M2:
      return any_byte(view, [](uint8_t b) { return (b & 0x7c) == 0x7c; });
    case DType::Float8E4M3FNUZ:
    case DType::Float8E5M2FNUZ:
      return any_byte(view, [](uint8_t b) { return b == 0x80; });
    case DType::Float8E8M0:
      return any_byte(view, [](uint8_t b) { return b == 0xff; });
    default:
      return false;
  }
}

}  // namespace tenon

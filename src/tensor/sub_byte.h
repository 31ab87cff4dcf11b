#pragma once

#include <cstdint>

// Elements of 2, 4 or 6 bits, packed as a stream of bits: the lowest bits of the first byte are the first element.
namespace tenon {

inline unsigned sub_byte_at(const uint8_t* packed, int64_t i, int bits) {
  // Splitting the index keeps the bit position from overflowing; eight elements always fill whole bytes.
  const int position = static_cast<int>(i % 8) * bits;
  const uint8_t* from = packed + i / 8 * bits + position / 8;
  const int shift = position % 8;
  unsigned value = static_cast<unsigned>(*from) >> shift;
  if (shift + bits > 8) value |= static_cast<unsigned>(from[1]) << (8 - shift);
  return value & ((1u << bits) - 1);
}

// Into bits that are zero.
inline void put_sub_byte(uint8_t* packed, int64_t i, int bits, unsigned value) {
  const int position = static_cast<int>(i % 8) * bits;
  uint8_t* to = packed + i / 8 * bits + position / 8;
  const int shift = position % 8;
  value &= (1u << bits) - 1;
  *to |= static_cast<uint8_t>(value << shift);
  if (shift + bits > 8) to[1] |= static_cast<uint8_t>(value >> (8 - shift));
}

}  // namespace tenon

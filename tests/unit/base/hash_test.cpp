#include "base/hash.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

TEST(Hash128, TextReadsBack) {
  const Hash128 hash = hash_bytes("weights");
  EXPECT_EQ(hash.hex().size(), 32u);
  EXPECT_EQ(Hash128::from_hex(hash.hex()), hash);
  EXPECT_EQ((Hash128{1, 2}).hex(), "00000000000000020000000000000001");
  EXPECT_FALSE(Hash128::from_hex("").has_value());
  EXPECT_FALSE(Hash128::from_hex(std::string(31, '0')).has_value());
  EXPECT_FALSE(Hash128::from_hex(std::string(31, '0') + "g").has_value());
}

TEST(StreamingHash, IsTheHashOfThePiecesTogether) {
  std::string text;
  StreamingHash hash;
  EXPECT_EQ(hash.value(), hash_bytes(""));
  for (int i = 0; i < 2000; ++i) {
    const std::string piece(static_cast<size_t>(i % 7), static_cast<char>('a' + i % 26));
    hash.add(piece);
    text += piece;
  }
  EXPECT_EQ(hash.value(), hash_bytes(text));
}

}  // namespace
}  // namespace tenon

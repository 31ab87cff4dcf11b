#include "wire/npy.h"

#include <gtest/gtest.h>

#include "unit/base/temporary_folder.h"
#include "unit/wire/sample_model.h"

namespace tenon::wire {
namespace {

std::string npy(const std::string& descr, bool fortran, const std::string& shape, const std::string& data,
                int version = 1) {
  std::string dictionary =
      "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }\n";
  std::string header = "\x93NUMPY";
  header += static_cast<char>(version);
  header += '\0';
  const size_t length_bytes = version == 1 ? 2 : 4;
  for (size_t i = 0; i < length_bytes; ++i) header += static_cast<char>(dictionary.size() >> (8 * i));
  return header + dictionary + data;
}

template <class T>
std::vector<T> values(const std::string& bytes) {
  const auto tensor = parse_npy(bytes, nullptr);
  EXPECT_TRUE(tensor.ok()) << tensor.status().to_string();
  if (!tensor.ok()) return {};
  EXPECT_EQ(tensor->dtype(), dtype_of<T>);
  return {tensor->as<T>().begin(), tensor->as<T>().end()};
}
Code code(const std::string& bytes) { return parse_npy(bytes, nullptr).status().code(); }

TEST(ParseNpy, ReadsNumbers) {
  const std::string floats = little_endian<float>({1.5f, -2.0f});
  for (int version : {1, 2, 3})
    EXPECT_EQ(values<float>(npy("<f4", false, "(2,)", floats, version)), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(values<int64_t>(npy("<i8", false, "()", little_endian<int64_t>({-3}))), std::vector<int64_t>{-3});
  EXPECT_EQ(values<uint8_t>(npy("|u1", false, "(1, 2)", "\1\2")), (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(values<bool>(npy("|b1", false, "(2,)", std::string("\0\2", 2))), (std::vector<bool>{false, true}));
  EXPECT_EQ(values<float>(npy("<f4", false, "(0, 3)", "")), std::vector<float>{});
  EXPECT_EQ(values<std::complex<float>>(npy("<c8", false, "(1,)", floats)),
            (std::vector<std::complex<float>>{{1.5f, -2.0f}}));
}

TEST(ParseNpy, SwapsBigEndianNumbers) {
  EXPECT_EQ(values<int32_t>(npy(">i4", false, "(2,)", std::string("\0\0\0\1\xFF\xFF\xFF\xFE", 8))),
            (std::vector<int32_t>{1, -2}));
  EXPECT_EQ(values<std::complex<float>>(npy(">c8", false, "(1,)", std::string("\x3F\x80\0\0\x40\0\0\0", 8))),
            (std::vector<std::complex<float>>{{1.0f, 2.0f}}));
}

TEST(ParseNpy, ReordersFortranArrays) {
  EXPECT_EQ(values<uint8_t>(npy("|u1", true, "(2, 3)", std::string("\0\3\1\4\2\5", 6))),
            (std::vector<uint8_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values<uint8_t>(npy("|u1", true, "(2, 2, 2)", std::string("\0\4\2\6\1\5\3\7", 8))),
            (std::vector<uint8_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(ParseNpy, ReadsText) {
  const std::string utf32 = little_endian<uint32_t>({'a', 0x1F600, 0xE9, 0});
  EXPECT_EQ(values<std::string>(npy("<U2", false, "(2,)", utf32)), (std::vector<std::string>{"a\U0001F600", "\u00E9"}));
  EXPECT_EQ(values<std::string>(npy("|S2", false, "(2,)", std::string("ab\xFF\0", 4))),
            (std::vector<std::string>{"ab", "\xFF"}));
  EXPECT_EQ(code(npy("<U1", false, "(1,)", little_endian<uint32_t>({0xD800}))), Code::InvalidArgument);
  EXPECT_EQ(code(npy("<U1", false, "(1,)", little_endian<uint32_t>({0x110000}))), Code::InvalidArgument);
}

TEST(ParseNpy, NeedsToKnowVoidTypes) {
  const std::string two = npy("<V2", false, "(1,)", std::string("\x80\x3F", 2));
  EXPECT_EQ(code(two), Code::InvalidArgument);
  const auto bfloat = parse_npy(two, nullptr, DType::BFloat16);
  ASSERT_TRUE(bfloat.ok());
  EXPECT_EQ(static_cast<float>(bfloat->as<BFloat16>()[0]), 1.0f);
  EXPECT_FALSE(parse_npy(two, nullptr, DType::Float32).ok());
  const auto packed = parse_npy(npy("|V1", false, "(3,)", "\x01\x0F\x07"), nullptr, DType::Int4);
  ASSERT_TRUE(packed.ok());
  EXPECT_EQ(Bytes(static_cast<const char*>(packed->data()), 2), "\xF1\x07");
}

TEST(ParseNpy, RefusesBadFiles) {
  const std::string good = npy("<f4", false, "(2,)", "12345678");
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(parse_npy(good.substr(0, length), nullptr).ok()) << length;
  EXPECT_EQ(code(good + "x"), Code::InvalidArgument);
  EXPECT_EQ(code(npy("<f4", false, "(-2,)", "12345678")), Code::InvalidArgument);
  EXPECT_EQ(code(npy("<f4", false, "(99999999999999999999,)", "")), Code::InvalidArgument);
  EXPECT_EQ(code(npy("<f4", false, "(4611686018427387904, 4)", "")), Code::InvalidArgument);
  EXPECT_EQ(code(npy("<U0", false, "(4611686018427387904,)", "")), Code::InvalidArgument);
  EXPECT_EQ(code(npy("|V0", false, "(4,)", "")), Code::InvalidArgument);
  EXPECT_EQ(code(npy("<f3", false, "(1,)", "123")), Code::Unsupported);
  EXPECT_EQ(code(npy("|O", false, "(1,)", "12345678")), Code::Unsupported);
  EXPECT_EQ(code(npy("f4", false, "(2,)", "12345678")), Code::InvalidArgument);
  EXPECT_EQ(code(npy("<f4", false, "(2", "12345678")), Code::InvalidArgument);
  EXPECT_EQ(code(npy("<f4", false, "(2,)", "12345678", 9)), Code::Incompatible);
  EXPECT_EQ(code("not an array at all"), Code::InvalidArgument);
}

TEST(ParseNpy, BorrowsAlignedNumbers) {
  const std::vector<float> numbers = {1, 2, 3};
  const auto encoded = encode_npy(Tensor::of<float>({3}, numbers));
  ASSERT_TRUE(encoded.ok());
  EXPECT_EQ(encoded->header.size() % 64, 0u);
  const auto owner = std::make_shared<std::string>(encoded->header + std::string(encoded->data()));
  const auto tensor = parse_npy(*owner, owner);
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->data(), owner->data() + encoded->header.size());
}

TEST(WriteNpy, ReadsBackAsWritten) {
  TemporaryFolder folder;
  for (int code = 1; code <= 26; ++code) {
    const DType dtype = *dtype_from_onnx(code);
    Tensor tensor = Tensor::allocate(dtype, {3, 5}, nullptr).value();
    if (dtype == DType::String) {
      tensor.as_mutable<std::string>()[3] = "gr\u00FC\u00DFe \U0001F600";
    } else {
      auto* bytes = static_cast<uint8_t*>(tensor.mutable_data());
      for (int64_t i = 0; i < tensor.bytes(); ++i)
        bytes[i] = dtype == DType::Bool ? i % 2 : static_cast<uint8_t>(i * 37);
      if (is_sub_byte(dtype)) bytes[tensor.bytes() - 1] = 1;  // no garbage behind the last element
    }
    ASSERT_TRUE(write_npy(folder / "a.npy", tensor).ok());
    const auto again = read_npy(folder / "a.npy", dtype);
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_EQ(again->dtype(), dtype);
    EXPECT_EQ(again->dims(), tensor.dims());
    if (dtype == DType::String)
      EXPECT_TRUE(std::ranges::equal(again->as<std::string>(), tensor.as<std::string>()));
    else
      EXPECT_EQ(std::memcmp(again->data(), tensor.data(), static_cast<size_t>(tensor.bytes())), 0) << dtype_name(dtype);
  }
}

TEST(WriteNpy, RefusesStringsNumpyCannotHold) {
  for (const std::string& text : {std::string("\xFF"), std::string("\xC0\x80"), std::string("\xED\xA0\x80"),
                                  std::string("\xF4\x90\x80\x80"), std::string("a\0", 2), std::string("\xE2\x82")}) {
    const Tensor tensor = Tensor::of<std::string>({1}, std::span(&text, 1));
    EXPECT_EQ(encode_npy(tensor).status().code(), Code::Unsupported);
  }
}

}  // namespace
}  // namespace tenon::wire

#include "wire/onnx_tensor.h"

#include <gtest/gtest.h>

#include <numeric>

#include "unit/wire/sample_model.h"
#include "wire/onnx_fields.h"
#include "wire/onnx_tensor_storage.h"

namespace tenon::wire {
namespace {

using namespace field::tensor;

std::string header(DType dtype, std::initializer_list<int64_t> dims) {
  std::string bytes = int_field(kDataType, static_cast<uint64_t>(dtype)) + bytes_field(kName, "t");
  for (int64_t dim : dims) bytes += int_field(kDims, static_cast<uint64_t>(dim));
  return bytes;
}
std::string varints(std::initializer_list<int64_t> values) {
  std::string bytes;
  for (int64_t value : values) bytes += varint(static_cast<uint64_t>(value));
  return bytes;
}

Result<Tensor> decode(const std::string& bytes, bool borrow = false) {
  // Aligned and kept, so that borrowed elements stay valid.
  auto owner = std::make_shared<std::string>(bytes);
  TN_ASSIGN_OR_RETURN(const TensorProto proto, parse_tensor(*owner));
  return decode_tensor(proto, borrow ? std::shared_ptr<const void>(owner) : nullptr, nullptr);
}
std::string raw_of(const Result<Tensor>& tensor) {
  if (!tensor.ok()) return "error: " + tensor.status().to_string();
  return std::string(static_cast<const char*>(tensor->data()), static_cast<size_t>(tensor->bytes()));
}
template <class T>
std::vector<T> values_of(const Result<Tensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status().to_string();
  if (!tensor.ok()) return {};
  return {tensor->as<T>().begin(), tensor->as<T>().end()};
}

TEST(DecodeTensor, ReadsRawDataOfEveryType) {
  for (int code = 1; code <= 26; ++code) {
    const DType dtype = *dtype_from_onnx(code);
    if (dtype == DType::String) continue;
    const auto size = static_cast<size_t>(*storage_bytes(dtype, 6));
    std::string data(size, '\0');
    std::iota(data.begin(), data.end(), 1);
    if (dtype == DType::Bool) data = std::string("\1\0\1\1\0\1", 6);
    const std::string bytes = header(dtype, {2, 3}) + bytes_field(kRawData, data);
    for (bool borrow : {false, true}) {
      const auto tensor = decode(bytes, borrow);
      ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
      EXPECT_EQ(tensor->dtype(), dtype);
      EXPECT_EQ(tensor->dims(), (std::vector<int64_t>{2, 3}));
      std::string expected = data;
      if (dtype == DType::Int2 || dtype == DType::UInt2) expected[1] &= 0x0F;  // six of eight places are in use
      EXPECT_EQ(raw_of(tensor), expected) << dtype_name(dtype);
    }
  }
}

TEST(DecodeTensor, ReadsInt32DataOfSmallTypes) {
  const auto entries = [](DType dtype, std::initializer_list<int64_t> values) {
    return decode(header(dtype, {static_cast<int64_t>(values.size())}) + bytes_field(kInt32Data, varints(values)));
  };
  EXPECT_EQ(values_of<int32_t>(entries(DType::Int32, {1, -2, INT32_MIN})), (std::vector<int32_t>{1, -2, INT32_MIN}));
  EXPECT_EQ(values_of<int16_t>(entries(DType::Int16, {1, -2})), (std::vector<int16_t>{1, -2}));
  EXPECT_EQ(values_of<uint16_t>(entries(DType::UInt16, {1, 65535})), (std::vector<uint16_t>{1, 65535}));
  EXPECT_EQ(values_of<int8_t>(entries(DType::Int8, {127, -128})), (std::vector<int8_t>{127, -128}));
  EXPECT_EQ(values_of<uint8_t>(entries(DType::UInt8, {0, 255})), (std::vector<uint8_t>{0, 255}));
  EXPECT_EQ(values_of<bool>(entries(DType::Bool, {0, 1, 2})), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(raw_of(entries(DType::Float16, {0x3C00, 0xC000})), little_endian<uint16_t>({0x3C00, 0xC000}));
  EXPECT_EQ(raw_of(entries(DType::BFloat16, {0x3F80})), little_endian<uint16_t>({0x3F80}));
  for (DType dtype :
       {DType::Float8E4M3FN, DType::Float8E4M3FNUZ, DType::Float8E5M2, DType::Float8E5M2FNUZ, DType::Float8E8M0})
    EXPECT_EQ(raw_of(entries(dtype, {0x38, 0xB8})), "\x38\xB8") << dtype_name(dtype);
}

TEST(DecodeTensor, ReadsPackedEntriesOfSubByteTypes) {
  for (DType dtype : {DType::Int4, DType::UInt4, DType::Float4E2M1}) {
    EXPECT_EQ(raw_of(decode(header(dtype, {3}) + bytes_field(kInt32Data, varints({0x21, 0xF3})))), "\x21\x03");
    EXPECT_FALSE(decode(header(dtype, {3}) + bytes_field(kInt32Data, varints({1, 2, 3}))).ok());
  }
  for (DType dtype : {DType::Int2, DType::UInt2})
    EXPECT_EQ(raw_of(decode(header(dtype, {5}) + bytes_field(kInt32Data, varints({0xE4, 0xFF})))), "\xE4\x03");
}

TEST(DecodeTensor, ReadsSixBitEntriesOneByOne) {
  // 0x3F, 0x01, 0x20, 0x15, 0x2A as a stream of bits, lowest first.
  const std::string packed_bytes("\x7F\x00\x56\x2A", 4);
  for (DType dtype : {DType::Float6E2M3, DType::Float6E3M2}) {
    const auto entries = bytes_field(kInt32Data, varints({0x3F, 0x01, 0x20, 0x15, 0x2A}));
    EXPECT_EQ(raw_of(decode(header(dtype, {5}) + entries)), packed_bytes);
    EXPECT_EQ(raw_of(decode(header(dtype, {5}) + bytes_field(kRawData, packed_bytes))), packed_bytes);
    EXPECT_FALSE(decode(header(dtype, {4}) + entries).ok());
  }
}

TEST(DecodeTensor, ReadsTheOtherTypedFields) {
  const std::string floats = little_endian<float>({1.5f, -2.0f}), doubles = little_endian<double>({1.5, -2.0});
  EXPECT_EQ(raw_of(decode(header(DType::Float32, {2}) + bytes_field(kFloatData, floats))), floats);
  EXPECT_EQ(raw_of(decode(header(DType::Float64, {2}) + bytes_field(kDoubleData, doubles))), doubles);
  EXPECT_EQ(raw_of(decode(header(DType::Complex64, {1}) + bytes_field(kFloatData, floats))), floats);
  EXPECT_EQ(raw_of(decode(header(DType::Complex128, {1}) + bytes_field(kDoubleData, doubles))), doubles);
  EXPECT_EQ(values_of<int64_t>(decode(header(DType::Int64, {2}) + bytes_field(kInt64Data, varints({-5, INT64_MAX})))),
            (std::vector<int64_t>{-5, INT64_MAX}));
  EXPECT_EQ(values_of<uint64_t>(decode(header(DType::UInt64, {1}) + bytes_field(kUInt64Data, varints({-1})))),
            (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_EQ(values_of<uint32_t>(decode(header(DType::UInt32, {1}) + bytes_field(kUInt64Data, varints({0xFFFFFFFF})))),
            (std::vector<uint32_t>{UINT32_MAX}));
  EXPECT_EQ(values_of<std::string>(
                decode(header(DType::String, {2}) + bytes_field(kStringData, "") + bytes_field(kStringData, "\xFF"))),
            (std::vector<std::string>{"", "\xFF"}));
}

TEST(DecodeTensor, ReadsUnpackedAndMixedEntries) {
  EXPECT_EQ(values_of<float>(decode(header(DType::Float32, {3}) + fixed32_field(kFloatData, 1) +
                                    bytes_field(kFloatData, little_endian<float>({2, 3})))),
            (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(values_of<double>(decode(header(DType::Float64, {1}) + fixed64_field(kDoubleData, 4))),
            std::vector<double>{4});
  EXPECT_EQ(values_of<int64_t>(decode(header(DType::Int64, {2}) + int_field(kInt64Data, 7) + bytes_field(kDims, "") +
                                      int_field(kInt64Data, 8))),
            (std::vector<int64_t>{7, 8}));
}

TEST(DecodeTensor, ScalarsAndEmptyTensors) {
  EXPECT_EQ(values_of<int64_t>(decode(header(DType::Int64, {}) + int_field(kInt64Data, 9))), std::vector<int64_t>{9});
  for (const std::string& data : {std::string(), bytes_field(kRawData, "")}) {
    const auto tensor = decode(header(DType::Float32, {2, 0, int64_t{1} << 40}) + data);
    ASSERT_TRUE(tensor.ok()) << tensor.status().to_string();
    EXPECT_EQ(tensor->size(), 0);
  }
  EXPECT_FALSE(decode(header(DType::Float32, {})).ok());
}

TEST(DecodeTensor, BorrowsOnlyWhatCanBeUsedAsItIs) {
  const std::string data = little_endian<float>({1, 2});
  for (size_t shift = 0; shift < 4; ++shift) {
    auto owner = std::make_shared<std::string>(std::string(shift, 'x') + data);
    TensorProto proto;
    proto.data_type = 1;
    proto.dims = {2};
    proto.raw_data = Bytes(*owner).substr(shift);
    const auto borrowed = decode_tensor(proto, owner, nullptr);
    const bool aligned = reinterpret_cast<uintptr_t>(proto.raw_data->data()) % alignof(float) == 0;
    EXPECT_EQ(borrowed->data() == proto.raw_data->data(), aligned);
    EXPECT_EQ(raw_of(borrowed), data);
    EXPECT_NE(decode_tensor(proto, nullptr, nullptr)->data(), proto.raw_data->data());
  }
}

TEST(DecodeTensor, NormalisesBoolsAndPadding) {
  const std::string bools = header(DType::Bool, {3}) + bytes_field(kRawData, std::string("\0\1\x80", 3));
  EXPECT_EQ(raw_of(decode(bools, true)), std::string("\0\1\1", 3));
  EXPECT_EQ(raw_of(decode(header(DType::Int4, {1}) + bytes_field(kRawData, "\xF7"), true)), "\x07");
}

TEST(DecodeTensor, RefusesCountsThatDoNotMatch) {
  const std::string wrong[] = {
      header(DType::Float32, {2, 3}) + bytes_field(kRawData, std::string(20, 'x')),
      header(DType::Float32, {2, 3}) + bytes_field(kFloatData, std::string(28, 'x')),
      header(DType::Float32, {1}) + bytes_field(kFloatData, "xxxxx"),
      header(DType::Complex64, {2}) + bytes_field(kFloatData, std::string(8, 'x')),
      header(DType::Int64, {1}),
      header(DType::Int64, {1}) + bytes_field(kInt32Data, "\1"),
      header(DType::String, {2}) + bytes_field(kStringData, "a"),
      header(DType::String, {1}) + bytes_field(kRawData, "a"),
      header(DType::Float32, {int64_t{1} << 40, int64_t{1} << 40}),
      header(DType::Float32, {int64_t{1} << 61}) + bytes_field(kRawData, "xxxx"),
      header(DType::UInt8, {int64_t{1} << 60}) + bytes_field(kRawData, "x"),
      header(DType::Float32, {int64_t{1} << 40, int64_t{1} << 40, 0}),
      header(DType::Float32, {-1, -1}) + bytes_field(kRawData, "xxxx"),
      header(DType::Undefined, {1}) + bytes_field(kRawData, "xxxx"),
      int_field(kDataType, 99) + bytes_field(kRawData, "xxxx"),
      header(DType::Int64, {1}) + bytes_field(kInt64Data, std::string(10, '\xFF') + "\x01"),
      header(DType::Int64, {1}) + fixed64_field(kInt64Data, 1),
  };
  for (const std::string& bytes : wrong) {
    const auto tensor = decode(bytes);
    ASSERT_FALSE(tensor.ok());
    EXPECT_EQ(tensor.status().code(), Code::InvalidModel) << tensor.status().to_string();
    EXPECT_TRUE(tensor.status().where().starts_with("tensor '")) << tensor.status().to_string();
  }
  const auto status = decode(wrong[0]).status();
  EXPECT_EQ(status.to_string(), "tensor 't': element type float and dims [2,3] need 24 bytes, but the raw data has 20");
}

TEST(DecodeTensor, RefusesSegments) {
  EXPECT_EQ(
      decode(header(DType::Float32, {1}) + bytes_field(kSegment, "") + bytes_field(kRawData, "xxxx")).status().code(),
      Code::Unsupported);
}

// Sparse tensors ------------------------------------------------------------------------------------------

Result<Tensor> dense(DType dtype, const std::string& values, std::vector<int64_t> indices,
                     std::vector<int64_t> index_dims, std::vector<int64_t> dims, int64_t max_bytes = 1000) {
  MessageBuilder builder;
  SparseTensorProto sparse;
  const int64_t count[] = {index_dims.empty() ? 0 : index_dims[0]};
  sparse.values = builder.make_tensor_raw("s", dtype, count, values);
  const Bytes index_bytes(reinterpret_cast<const char*>(indices.data()), indices.size() * 8);
  sparse.indices = builder.make_tensor_raw("", DType::Int64, index_dims, index_bytes);
  sparse.dims = std::move(dims);
  return densify(sparse, nullptr, nullptr, max_bytes);
}

TEST(Densify, PlacesValues) {
  const std::string values = little_endian<float>({1, 2});
  EXPECT_EQ(values_of<float>(dense(DType::Float32, values, {1, 5}, {2}, {2, 3})),
            (std::vector<float>{0, 1, 0, 0, 0, 2}));
  EXPECT_EQ(values_of<float>(dense(DType::Float32, values, {5, 1}, {2}, {2, 3})),
            (std::vector<float>{0, 2, 0, 0, 0, 1}));
  EXPECT_EQ(values_of<float>(dense(DType::Float32, values, {0, 1, 1, 0}, {2, 2}, {2, 2})),
            (std::vector<float>{0, 1, 2, 0}));
  EXPECT_EQ(raw_of(dense(DType::Int4, "\xA9", {0, 3}, {2}, {4})), "\x09\xA0");
  EXPECT_EQ(values_of<float>(dense(DType::Float32, "", {}, {0}, {2})), (std::vector<float>{0, 0}));
}

TEST(Densify, ChecksIndicesAndSize) {
  const std::string values = little_endian<float>({1, 2});
  const auto code = [&](std::vector<int64_t> indices, std::vector<int64_t> index_dims, std::vector<int64_t> dims) {
    return dense(DType::Float32, values, std::move(indices), std::move(index_dims), std::move(dims)).status().code();
  };
  EXPECT_EQ(code({1, 6}, {2}, {2, 3}), Code::InvalidModel);
  EXPECT_EQ(code({-1, 2}, {2}, {2, 3}), Code::InvalidModel);
  EXPECT_EQ(code({2, 2}, {2}, {2, 3}), Code::InvalidModel);
  EXPECT_EQ(code({4, 1, 4}, {2}, {2, 3}), Code::InvalidModel);
  EXPECT_EQ(code({0, 3, 1, 0}, {2, 2}, {2, 3}), Code::InvalidModel);
  EXPECT_EQ(code({0, 1}, {2, 1}, {2, 3}), Code::InvalidModel);
  EXPECT_EQ(code({0, 1}, {2}, {-2, 3}), Code::InvalidModel);
  EXPECT_EQ(code({0, 1}, {2}, {1000, 1000}), Code::ResourceLimit);
}

// Whoever asks, with or without somebody to borrow from.
TEST(TensorOverBytes, RefusesStrings) {
  const auto bytes = std::make_shared<std::string>(sizeof(std::string), 'A');
  const TensorHeader header{DType::String, 1, static_cast<int64_t>(bytes->size())};
  EXPECT_FALSE(tensor_over_bytes(header, {1}, *bytes, bytes).ok());
  EXPECT_FALSE(tensor_over_bytes(header, {1}, *bytes, nullptr).ok());
}

}  // namespace
}  // namespace tenon::wire

#include "wire/onnx_tensor.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/checked_math.h"
#include "tensor/canonical.h"
#include "tensor/max_rank.h"
#include "wire/onnx_tensor_storage.h"

namespace tenon::wire {

namespace {

// Kernels that only move elements take them as integers of the same size, whatever their type is.
size_t element_alignment(DType dtype) { return static_cast<size_t>(std::clamp(dtype_bits(dtype) / 8, 1, 8)); }

bool usable_as_is(const TensorHeader& header, Dims dims, Bytes bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % element_alignment(header.dtype) != 0) return false;
  return is_canonical({header.dtype, dims, const_cast<char*>(bytes.data())});
}

// A byte count or position of external data: decimal digits only.
Result<int64_t> parse_count(Bytes text, const char* key) {
  int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < 0)
    return invalid_model("the external data has the {} '{}', which is not a number of bytes", key, text);
  return value;
}

}  // namespace

Result<ExternalRegion> external_region(const TensorProto& proto) {
  ExternalRegion region;
  for (const StringEntry& entry : proto.external_data) {
    if (entry.key == "location") region.location = entry.value;
    if (entry.key == "offset") {
      TN_ASSIGN_OR_RETURN(region.offset, parse_count(entry.value, "offset"));
    }
    if (entry.key == "length") {
      TN_ASSIGN_OR_RETURN(region.length, parse_count(entry.value, "length"));
    }
  }
  return region;
}

namespace {

Result<Tensor> decode_external(const TensorProto& proto, const TensorHeader& header, ExternalData* external) {
  TN_ASSIGN_OR_RETURN(const ExternalRegion declared, external_region(proto));
  const Bytes location = declared.location;
  const int64_t offset = declared.offset, length = declared.length < 0 ? header.bytes : declared.length;
  if (header.dtype == DType::String) return invalid_model("strings cannot be stored as external data");
  if (location.empty()) return invalid_model("the external data has no location");
  if (length != header.bytes)
    return invalid_model("element type {} and dims {} need {} bytes, but the external data declares a length of {}",
                         dtype_name(header.dtype), dims_text(proto.dims), header.bytes, length);
  if (!external)
    return invalid_argument(
        "the elements are in the file '{}'; load the model by its path, or name the folder of this file "
        "(external_folder)",
        location);
  if (length == 0) return Tensor::allocate(header.dtype, proto.dims, nullptr);
  TN_ASSIGN_OR_RETURN(auto region, external->read(location, offset, length));
  if (static_cast<int64_t>(region.bytes.size()) != length)
    return error(Code::Internal, "reading '{}' returned {} bytes instead of {}", location, region.bytes.size(), length);
  return tensor_over_bytes(header, proto.dims, region.bytes, region.owner);
}

Result<Tensor> decode(const TensorProto& proto, const std::shared_ptr<const void>& owner, ExternalData* external) {
  TN_ASSIGN_OR_RETURN(const TensorHeader header, check_header(proto));
  if (proto.has_segment)
    return unsupported("tensors stored in segments are not supported; save the model without segments");
  if (proto.is_external) return decode_external(proto, header, external);
  // An empty raw_data beside typed data says nothing.
  const bool raw = proto.raw_data && !(proto.raw_data->empty() && has_typed_data(proto));
  if (!raw) return decode_typed_data(proto, header, owner);
  if (header.dtype == DType::String) return invalid_model("strings cannot be stored as raw data");
  if (static_cast<int64_t>(proto.raw_data->size()) != header.bytes)
    return invalid_model("element type {} and dims {} need {} bytes, but the raw data has {}", dtype_name(header.dtype),
                         dims_text(proto.dims), header.bytes, proto.raw_data->size());
  return tensor_over_bytes(header, proto.dims, *proto.raw_data, owner);
}

}  // namespace

std::optional<int64_t> count_elements(DType dtype, const std::vector<int64_t>& dims) {
  std::vector<int64_t> without_zeros = dims;
  std::erase(without_zeros, 0);
  const auto most = checked_product(without_zeros);
  if (!most || !storage_bytes(dtype, *most)) return std::nullopt;
  return checked_product(dims);
}

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i == 16) {
      text += ",...";
      break;
    }
    text += fmt::format("{}{}", i ? "," : "", dims[i]);
  }
  return text + "]";
}

Result<TensorHeader> check_header(const TensorProto& proto) {
  TensorHeader header;
  const auto dtype = dtype_from_onnx(proto.data_type);
  if (!dtype) return invalid_model("element type {} is not an ONNX type", proto.data_type);
  header.dtype = *dtype;
  if (proto.dims.size() > kMaxRank)
    return error(Code::ResourceLimit, "the tensor has {} dimensions; the limit is {}", proto.dims.size(), kMaxRank);
  const auto elements = count_elements(header.dtype, proto.dims);
  if (!elements) return invalid_model("dims {} are negative or too large", dims_text(proto.dims));
  header.elements = *elements;
  header.bytes = *storage_bytes(header.dtype, *elements);
  return header;
}

Result<Tensor> tensor_over_bytes(const TensorHeader& header, const std::vector<int64_t>& dims, Bytes bytes,
                                 const std::shared_ptr<const void>& owner) {
  // Bytes of a file are no string objects.
  if (header.dtype == DType::String) return invalid_model("strings cannot be read from raw bytes");
  const bool as_is = usable_as_is(header, dims, bytes);
  if (as_is && owner) return Tensor::borrow(header.dtype, dims, bytes.data(), owner);
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(header.dtype, dims, nullptr));
  if (bytes.empty()) return tensor;
  std::memcpy(tensor.mutable_data(), bytes.data(), bytes.size());
  make_canonical(tensor.view());
  return tensor;
}

Status check_tensor(const TensorProto& proto) {
  return check_header(proto).status().in(fmt::format("tensor '{}'", proto.name));
}

Result<Tensor> decode_tensor(const TensorProto& proto, const std::shared_ptr<const void>& owner,
                             ExternalData* external) {
  const auto named = [&](Status status) { return std::move(status).in(fmt::format("tensor '{}'", proto.name)); };
  try {
    auto tensor = decode(proto, owner, external);
    if (tensor.ok()) return tensor;
    return named(std::move(tensor).status());
  } catch (const protozero::exception& e) {
    return named(invalid_model("the data is not valid protobuf: {}", e.what()));
  }
}

}  // namespace tenon::wire

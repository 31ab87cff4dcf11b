#include "wire/npy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/checked_math.h"
#include "base/file.h"
#include "wire/npy_header.h"
#include "wire/npy_text.h"
#include "wire/onnx_tensor_storage.h"

namespace tenon::wire {

namespace {

struct NumberType {
  char kind;
  int bytes;
  DType dtype;
};
constexpr NumberType kNumberTypes[] = {
    {'b', 1, DType::Bool},      {'i', 1, DType::Int8},        {'i', 2, DType::Int16},   {'i', 4, DType::Int32},
    {'i', 8, DType::Int64},     {'u', 1, DType::UInt8},       {'u', 2, DType::UInt16},  {'u', 4, DType::UInt32},
    {'u', 8, DType::UInt64},    {'f', 2, DType::Float16},     {'f', 4, DType::Float32}, {'f', 8, DType::Float64},
    {'c', 8, DType::Complex64}, {'c', 16, DType::Complex128},
};

// Bytes of one element in a NumPy array, where sub-byte elements have a byte each.
int64_t numpy_bytes(DType dtype) { return std::max(1, dtype_bits(dtype) / 8); }

Result<DType> element_type(const NpyHeader& header, std::optional<DType> void_dtype) {
  if (header.kind == 'U' || header.kind == 'S') return DType::String;
  if (header.kind == 'V') {
    if (!void_dtype)
      return invalid_argument("the array's type has no NumPy name ({} bytes per element); state the element type",
                              header.item_bytes);
    if (*void_dtype == DType::String || numpy_bytes(*void_dtype) != header.item_bytes)
      return invalid_argument("the array has {} bytes per element, which does not fit the element type {}",
                              header.item_bytes, dtype_name(*void_dtype));
    return *void_dtype;
  }
  // What NumPy calls this type when it writes it, although it cannot read that.
  if (header.kind == 'f' && header.item_bytes == 1) return DType::Float8E5M2;
  for (const NumberType& type : kNumberTypes)
    if (type.kind == header.kind && type.bytes == header.item_bytes) return type.dtype;
  return unsupported("NumPy type '{}{}' is not supported", header.kind, header.item_bytes);
}

// Copies elements of `width` bytes from first-index-fastest to last-index-fastest order.
std::string to_row_major(Bytes data, const std::vector<int64_t>& shape, int64_t width) {
  std::string result(data.size(), '\0');
  const size_t rank = shape.size();
  std::array<int64_t, kMaxNpyRank> strides{width}, index{};
  for (size_t axis = 1; axis < rank; ++axis) strides[axis] = strides[axis - 1] * shape[axis - 1];
  int64_t from = 0;
  for (size_t to = 0; to < result.size(); to += static_cast<size_t>(width)) {
    std::memcpy(result.data() + to, data.data() + from, static_cast<size_t>(width));
    for (size_t axis = rank; axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

void swap_bytes(std::string& data, size_t width) {
  for (size_t i = 0; i + width <= data.size(); i += width)
    std::reverse(data.begin() + static_cast<ptrdiff_t>(i), data.begin() + static_cast<ptrdiff_t>(i + width));
}

Result<Tensor> numbers(const NpyHeader& header, DType dtype, int64_t elements, Bytes data,
                       const std::shared_ptr<const void>& owner, const std::shared_ptr<MemoryBudget>& budget) {
  if (!is_sub_byte(dtype))
    return tensor_over_bytes({dtype, elements, static_cast<int64_t>(data.size())}, header.shape, data, owner);
  TN_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(dtype, header.shape, budget));
  pack_sub_byte(dtype, data.data(), elements, tensor.mutable_data());
  return tensor;
}

// How many elements there are, which take all of the bytes after the header.
Result<int64_t> check_length(const NpyHeader& header, DType dtype, uint64_t bytes) {
  const auto elements = count_elements(dtype, header.shape);
  const auto needed = elements ? checked_mul(*elements, header.item_bytes) : std::nullopt;
  if (needed && static_cast<uint64_t>(*needed) == bytes && (header.item_bytes != 0 || *elements == 0)) return *elements;
  return invalid_argument("an array of shape {} with {} bytes per element does not match the {} bytes in the file",
                          dims_text(header.shape), header.item_bytes, bytes);
}

// Whether there is room for this many bytes that are held only while an array is converted.
Status check_room(const std::shared_ptr<MemoryBudget>& budget, size_t bytes) {
  if (!budget) return {};
  TN_RETURN_IF_ERROR(budget->reserve(static_cast<int64_t>(bytes)));
  budget->release(static_cast<int64_t>(bytes));
  return {};
}

}  // namespace

Result<NpyDescription> describe_npy(Bytes beginning, uint64_t file_bytes, std::optional<DType> void_dtype) {
  TN_ASSIGN_OR_RETURN(const NpyHeader header, parse_npy_header(beginning));
  TN_ASSIGN_OR_RETURN(const DType dtype, element_type(header, void_dtype));
  TN_RETURN_IF_ERROR(check_length(header, dtype, file_bytes - header.data_offset).status());
  return NpyDescription{dtype, header.shape};
}

Result<Tensor> parse_npy(Bytes bytes, const std::shared_ptr<const void>& owner, std::optional<DType> void_dtype,
                         const std::shared_ptr<MemoryBudget>& budget) {
  TN_ASSIGN_OR_RETURN(const NpyHeader header, parse_npy_header(bytes));
  TN_ASSIGN_OR_RETURN(const DType dtype, element_type(header, void_dtype));
  Bytes data = bytes.substr(header.data_offset);
  TN_ASSIGN_OR_RETURN(const int64_t elements, check_length(header, dtype, data.size()));
  std::string converted;
  const bool reorder = header.fortran_order && header.shape.size() > 1 && elements > 1;
  const int64_t part_bytes = header.kind == 'c' ? header.item_bytes / 2 : header.kind == 'U' ? 4 : header.item_bytes;
  const bool swap = header.big_endian && header.kind != 'S' && part_bytes > 1;
  if (reorder || swap) TN_RETURN_IF_ERROR(check_room(budget, data.size()));
  if (reorder) converted = to_row_major(data, header.shape, header.item_bytes);
  if (swap) {
    if (!reorder) converted = data;
    swap_bytes(converted, static_cast<size_t>(part_bytes));
  }
  const bool own = reorder || swap;
  if (own) data = converted;
  if (dtype == DType::String) return parse_fixed_text(header, elements, data, budget);
  return numbers(header, dtype, elements, data, own ? nullptr : owner, budget);
}

Result<Tensor> read_npy(const std::string& path, std::optional<DType> void_dtype,
                        const std::shared_ptr<MemoryBudget>& budget) {
  TN_ASSIGN_OR_RETURN(const auto file, MappedFile::open(path));
  auto tensor = parse_npy(file->view(), file, void_dtype, budget);
  if (tensor.ok()) return tensor;
  return std::move(tensor).status().in(path);
}

Result<EncodedNpy> encode_npy(const Tensor& tensor) {
  EncodedNpy npy;
  const DType dtype = tensor.dtype();
  if (tensor.dims().size() > kMaxNpyRank) return unsupported("NumPy arrays have at most {} dimensions", kMaxNpyRank);
  if (dtype == DType::String) {
    int64_t characters = 1;
    TN_ASSIGN_OR_RETURN(npy.converted, to_fixed_text(tensor.as<std::string>(), characters));
    npy.header = make_npy_header(fmt::format("<U{}", characters), tensor.dims());
    return npy;
  }
  std::string descr = fmt::format("<V{}", numpy_bytes(dtype));
  for (const NumberType& type : kNumberTypes)
    if (type.dtype == dtype) descr = fmt::format("{}{}{}", type.bytes > 1 ? '<' : '|', type.kind, type.bytes);
  npy.header = make_npy_header(descr, tensor.dims());
  if (is_sub_byte(dtype)) {
    npy.converted.resize(static_cast<size_t>(tensor.size()));
    unpack_sub_byte(dtype, tensor.data(), tensor.size(), npy.converted.data());
    const int mask = (1 << dtype_bits(dtype)) - 1;
    for (char& c : npy.converted) c = static_cast<char>(c & mask);
  } else {
    npy.tensor = tensor;
  }
  return npy;
}

Bytes EncodedNpy::data() const {
  if (!tensor.defined()) return converted;
  return {static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes())};
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  auto npy = encode_npy(tensor);
  if (!npy.ok()) return std::move(npy).status().in(path);
  const Bytes pieces[] = {npy->header, npy->data()};
  return write_file_atomically(path, pieces);
}

}  // namespace tenon::wire

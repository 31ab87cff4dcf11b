#include "wire/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/checked_math.h"
#include "wire/npz.h"
#include "wire/onnx_tensor_storage.h"

namespace tenon::wire {

namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

struct TypeName {
  const char* name;
  DType dtype;
};
constexpr TypeName kTypeNames[] = {
    {"F64", DType::Float64},
    {"F32", DType::Float32},
    {"F16", DType::Float16},
    {"BF16", DType::BFloat16},
    {"F8_E4M3", DType::Float8E4M3FN},
    {"F8_E5M2", DType::Float8E5M2},
    {"F8_E8M0", DType::Float8E8M0},
    {"F6_E2M3", DType::Float6E2M3},
    {"F6_E3M2", DType::Float6E3M2},
    {"F4", DType::Float4E2M1},
    {"I64", DType::Int64},
    {"I32", DType::Int32},
    {"I16", DType::Int16},
    {"I8", DType::Int8},
    {"U64", DType::UInt64},
    {"U32", DType::UInt32},
    {"U16", DType::UInt16},
    {"U8", DType::UInt8},
    {"BOOL", DType::Bool},
};

std::optional<DType> type_of_name(const std::string& name) {
  for (const TypeName& type : kTypeNames)
    if (name == type.name) return type.dtype;
  return std::nullopt;
}

// Whole numbers that are not negative.
std::optional<std::vector<int64_t>> numbers(const json& list) {
  if (!list.is_array()) return std::nullopt;
  std::vector<int64_t> result;
  for (const json& item : list) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > INT64_MAX) return std::nullopt;
    result.push_back(static_cast<int64_t>(item.get<uint64_t>()));
  }
  return result;
}

Result<SafetensorsFile::Entry> parse_entry(const std::string& name, const json& described, int64_t data_begin,
                                           int64_t data_bytes) {
  SafetensorsFile::Entry entry;
  entry.name = name;
  if (!described.is_object() || !described.contains("dtype") || !described["dtype"].is_string())
    return invalid_argument("the tensor has no dtype");
  const auto dtype = type_of_name(described["dtype"].get<std::string>());
  if (!dtype) return unsupported("the dtype '{}' is not supported", described["dtype"].get<std::string>());
  const auto dims = described.contains("shape") ? numbers(described["shape"]) : std::nullopt;
  const auto range = described.contains("data_offsets") ? numbers(described["data_offsets"]) : std::nullopt;
  if (!dims || !range || range->size() != 2) return invalid_argument("the tensor has no shape or no data_offsets");
  const auto elements = count_elements(*dtype, *dims);
  const auto bytes = elements ? storage_bytes(*dtype, *elements) : std::nullopt;
  const int64_t begin = (*range)[0], end = (*range)[1];
  if (!bytes || begin > end || end > data_bytes || end - begin != *bytes)
    return invalid_argument("element type {} and shape {} do not match bytes {} to {} of the file's {}",
                            dtype_name(*dtype), dims_text(*dims), begin, end, data_bytes);
  entry.dtype = *dtype;
  entry.dims = *dims;
  entry.offset = data_begin + begin;
  entry.bytes = *bytes;
  return entry;
}

// Each byte belongs to one tensor.
Status check_ranges(std::vector<SafetensorsFile::Entry> entries, int64_t begin, int64_t end) {
  std::ranges::sort(entries, {}, [](const auto& e) { return std::pair(e.offset, e.bytes); });
  int64_t at = begin;
  for (const auto& entry : entries) {
    if (entry.offset != at)
      return invalid_argument("tensor '{}' begins at byte {}, but it should begin at byte {}", entry.name, entry.offset,
                              at);
    at += entry.bytes;
  }
  return at == end ? Status() : invalid_argument("{} bytes at the end of the file belong to no tensor", end - at);
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::parse(Bytes bytes, std::shared_ptr<const void> owner) {
  uint64_t header_bytes = 0;
  if (bytes.size() < kLengthBytes)
    return invalid_argument("the file has only {} bytes, too few for a safetensors file", bytes.size());
  std::memcpy(&header_bytes, bytes.data(), kLengthBytes);
  if (header_bytes > kMaxHeaderBytes || header_bytes > bytes.size() - kLengthBytes)
    return invalid_argument("this is not a safetensors file, or it is truncated: its header claims {} bytes",
                            header_bytes);
  const json header = json::parse(bytes.substr(kLengthBytes, header_bytes), nullptr, false);
  if (!header.is_object()) return invalid_argument("the header is not a JSON object");
  SafetensorsFile file;
  file.bytes_ = bytes;
  file.owner_ = std::move(owner);
  const auto data_begin = static_cast<int64_t>(kLengthBytes + header_bytes);
  const int64_t data_bytes = static_cast<int64_t>(bytes.size()) - data_begin;
  for (const auto& [name, described] : header.items()) {
    if (name == "__metadata__") continue;
    auto entry = parse_entry(name, described, data_begin, data_bytes);
    if (!entry.ok()) return std::move(entry).status().in("tensor '" + name + "'");
    file.entries_.push_back(std::move(*entry));
  }
  TN_RETURN_IF_ERROR(check_ranges(file.entries_, data_begin, static_cast<int64_t>(bytes.size())));
  std::ranges::sort(file.entries_, {}, &Entry::name);
  return file;
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  TN_ASSIGN_OR_RETURN(const auto mapped, MappedFile::open(path));
  auto file = parse(mapped->view(), mapped);
  if (file.ok()) return file;
  return std::move(file).status().in(path);
}

const SafetensorsFile::Entry* SafetensorsFile::find(std::string_view name) const {
  const auto it = std::ranges::lower_bound(entries_, name, {}, [](const Entry& e) { return std::string_view(e.name); });
  return it != entries_.end() && it->name == name ? &*it : nullptr;
}

Result<Tensor> SafetensorsFile::read(const Entry& entry) const {
  const Bytes bytes = bytes_.substr(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.bytes));
  return tensor_over_bytes({entry.dtype, *count_elements(entry.dtype, entry.dims), entry.bytes}, entry.dims, bytes,
                           owner_);
}

bool safetensors_has(DType dtype) {
  return std::ranges::find(kTypeNames, dtype, &TypeName::dtype) != std::end(kTypeNames);
}

Status write_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors) {
  std::vector<const NamedTensor*> sorted;
  for (const NamedTensor& tensor : tensors) sorted.push_back(&tensor);
  // Wide elements first, so that every tensor is aligned.
  std::ranges::stable_sort(sorted, [](const NamedTensor* a, const NamedTensor* b) {
    const int wide_a = dtype_bits(a->tensor.dtype()), wide_b = dtype_bits(b->tensor.dtype());
    return wide_a != wide_b ? wide_a > wide_b : a->name < b->name;
  });
  json header = json::object();
  std::vector<std::string_view> pieces(2);
  int64_t at = 0;
  for (const NamedTensor* named : sorted) {
    const Tensor& tensor = named->tensor;
    const auto* type = std::ranges::find(kTypeNames, tensor.dtype(), &TypeName::dtype);
    if (type == std::end(kTypeNames))
      return unsupported("tensor '{}': safetensors cannot store {}", named->name, dtype_name(tensor.dtype()));
    if (header.contains(named->name)) return invalid_argument("tensor '{}' occurs twice", named->name);
    header[named->name] = {
        {"dtype", type->name}, {"shape", tensor.dims()}, {"data_offsets", {at, at + tensor.bytes()}}};
    at += tensor.bytes();
    pieces.emplace_back(static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes()));
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    return unsupported("safetensors requires names in valid UTF-8");
  }
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  pieces[0] = {reinterpret_cast<const char*>(&length), kLengthBytes};
  pieces[1] = text;
  return write_file_atomically(path, pieces);
}

}  // namespace tenon::wire

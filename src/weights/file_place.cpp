#include "weights/file_place.h"

#include <functional>

#include "base/checked_math.h"
#include "base/folder.h"
#include "tensor/dtype.h"
#include "wire/onnx_tensor.h"

namespace tenon {

std::optional<FilePlace> place_of(const wire::TensorProto& tensor, const std::string& path, wire::Bytes file) {
  if (path.empty()) return std::nullopt;
  if (tensor.is_external) {
    const auto region = wire::external_region(tensor);
    if (!region.ok() || region->location.empty()) return std::nullopt;
    const auto dtype = dtype_from_onnx(tensor.data_type);
    if (dtype == DType::String) return std::nullopt;
    const auto count = checked_product(tensor.dims);
    const auto bytes = dtype && count ? storage_bytes(*dtype, *count) : std::nullopt;
    if (!bytes) return std::nullopt;
    return FilePlace{std::string(region->location), region->offset, *bytes};
  }
  if (!tensor.raw_data || tensor.raw_data->empty()) return std::nullopt;
  // What passes have made lies in memory of its own.
  const std::less_equal<const char*> before;
  const char* const begin = tensor.raw_data->data();
  const char* const end = begin + tensor.raw_data->size();
  if (!before(file.data(), begin) || !before(end, file.data() + file.size())) return std::nullopt;
  return FilePlace{file_name_of(path), begin - file.data(), end - begin, true};
}

}  // namespace tenon

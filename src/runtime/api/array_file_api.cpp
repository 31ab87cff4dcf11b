#include "runtime/api/handles.h"
#include "wire/npz.h"

using namespace tenon;

struct tn_npz {
  wire::NpzFile file;
  std::string path;
};

namespace {

// A small file can claim to hold much.
std::shared_ptr<MemoryBudget> default_budget() { return std::make_shared<MemoryBudget>(default_memory_limit()); }

std::optional<DType> known(tn_dtype dtype) { return dtype_from_onnx(dtype); }

Result<Tensor> tensor_to_write(const tn_value* value) {
  const Tensor* tensor = value ? value->value.tensor() : nullptr;
  if (!tensor) return invalid_argument("only tensors can be written as arrays");
  return *tensor;
}

}  // namespace

extern "C" {

tn_status* tn_npy_read(const char* path, tn_dtype unnamed, tn_value** value) {
  return api::guarded([&]() -> Status {
    if (!path || !value) return invalid_argument("path and value must not be NULL");
    TN_ASSIGN_OR_RETURN(Tensor tensor, wire::read_npy(path, known(unnamed), default_budget()));
    *value = new tn_value{std::move(tensor)};
    return {};
  });
}

tn_status* tn_npy_write(const char* path, const tn_value* value) {
  return api::guarded([&]() -> Status {
    if (!path) return invalid_argument("path must not be NULL");
    TN_ASSIGN_OR_RETURN(const Tensor tensor, tensor_to_write(value));
    return wire::write_npy(path, tensor);
  });
}

tn_status* tn_npz_open(const char* path, tn_npz** npz) {
  return api::guarded([&]() -> Status {
    if (!path || !npz) return invalid_argument("path and npz must not be NULL");
    TN_ASSIGN_OR_RETURN(auto file, wire::NpzFile::open(path));
    file.set_budget(default_budget());
    *npz = new tn_npz{std::move(file), path};
    return {};
  });
}

tn_status* tn_npz_limit_memory(tn_npz* npz, int64_t bytes) {
  return api::guarded([&]() -> Status {
    if (!npz || bytes < 1) return invalid_argument("npz must not be NULL, and its memory must have at least 1 byte");
    npz->file.set_budget(std::make_shared<MemoryBudget>(bytes));
    return {};
  });
}
void tn_npz_release(tn_npz* npz) { delete npz; }
size_t tn_npz_count(const tn_npz* npz) { return npz ? npz->file.names().size() : 0; }
const char* tn_npz_name(const tn_npz* npz, size_t index) {
  return index < tn_npz_count(npz) ? npz->file.names()[index].c_str() : nullptr;
}

tn_status* tn_npz_read(const tn_npz* npz, size_t index, tn_dtype unnamed, tn_value** value) {
  return api::guarded([&]() -> Status {
    if (!npz || !value) return invalid_argument("npz and value must not be NULL");
    if (index >= tn_npz_count(npz))
      return invalid_argument("array {} does not exist; the archive has {}", index, tn_npz_count(npz));
    auto tensor = npz->file.read(npz->file.names()[index], known(unnamed));
    if (!tensor.ok()) return std::move(tensor).status().in(npz->path);
    *value = new tn_value{std::move(*tensor)};
    return {};
  });
}

tn_status* tn_npz_write(const char* path, const char* const* names, const tn_value* const* values, size_t count) {
  return api::guarded([&]() -> Status {
    if (!path || ((!names || !values) && count)) return invalid_argument("path, names and values must not be NULL");
    std::vector<wire::NamedTensor> arrays;
    for (size_t i = 0; i < count; ++i) {
      if (!names[i]) return invalid_argument("names must not be NULL");
      auto tensor = tensor_to_write(values[i]);
      if (!tensor.ok()) return std::move(tensor).status().in("array '" + std::string(names[i]) + "'");
      arrays.push_back({names[i], std::move(*tensor)});
    }
    return wire::write_npz(path, arrays);
  });
}

}  // extern "C"

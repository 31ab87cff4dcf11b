// Archives of arrays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tenon/value.hpp"

namespace tenon {
inline namespace v0 {

// An archive of arrays, NumPy's .npz.
class Npz {
 public:
  explicit Npz(const std::string& path) {
    tn_npz* npz = nullptr;
    detail::check(tn_npz_open(detail::c_text(path, "the path of an archive"), &npz));
    handle_.reset(npz);
  }
  // The most memory that arrays read from it take together.
  void limit_memory(int64_t bytes) { detail::check(tn_npz_limit_memory(handle_.get(), bytes)); }
  size_t size() const { return tn_npz_count(handle_.get()); }
  std::string name(size_t i) const { return tn_npz_name(handle_.get(), i); }
  Value read(size_t i, tn_dtype unnamed = TN_UNDEFINED) const {
    tn_value* value = nullptr;
    detail::check(tn_npz_read(handle_.get(), i, unnamed, &value));
    return Value(value);
  }
  static void write(const std::string& path, std::span<const std::pair<std::string, Value>> arrays) {
    std::vector<const char*> names;
    std::vector<const tn_value*> values;
    for (const auto& [name, value] : arrays) {
      names.push_back(detail::c_text(name, "the name of an array"));
      values.push_back(value.get());
    }
    detail::check(
        tn_npz_write(detail::c_text(path, "the path of an archive"), names.data(), values.data(), arrays.size()));
  }

 private:
  detail::Owner<tn_npz, tn_npz_release> handle_;
};

}  // namespace v0
}  // namespace tenon

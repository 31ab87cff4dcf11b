// The types of inputs and outputs, and the element types that C++ has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
inline namespace v0 {

namespace detail {

template <class T>
struct DTypeOf;
#define TN_DTYPE_OF(type, code)             \
  template <>                               \
  struct DTypeOf<type> {                    \
    static constexpr tn_dtype value = code; \
  };
TN_DTYPE_OF(float, TN_FLOAT32)
TN_DTYPE_OF(double, TN_FLOAT64)
TN_DTYPE_OF(int8_t, TN_INT8)
TN_DTYPE_OF(int16_t, TN_INT16)
TN_DTYPE_OF(int32_t, TN_INT32)
TN_DTYPE_OF(int64_t, TN_INT64)
TN_DTYPE_OF(uint8_t, TN_UINT8)
TN_DTYPE_OF(uint16_t, TN_UINT16)
TN_DTYPE_OF(uint32_t, TN_UINT32)
TN_DTYPE_OF(uint64_t, TN_UINT64)
TN_DTYPE_OF(bool, TN_BOOL)
#undef TN_DTYPE_OF

}  // namespace detail

// A type of an input or output. Belongs to its session.
class TypeView {
 public:
  explicit TypeView(const tn_type* type) : type_(type) {}
  tn_kind kind() const { return tn_type_kind(type_); }
  tn_dtype dtype() const { return tn_type_dtype(type_); }
  // Nothing when the rank is unknown; -1 stands for a symbolic extent.
  std::optional<std::vector<int64_t>> dims() const {
    const int64_t rank = tn_type_rank(type_);
    if (rank < 0) return std::nullopt;
    std::vector<int64_t> dims;
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i) dims.push_back(tn_type_dim(type_, i));
    return dims;
  }
  std::string dim_text(size_t axis) const { return tn_type_dim_text(type_, axis); }
  // The name the model gives the extent, or "".
  std::string dim_name(size_t axis) const { return tn_type_dim_name(type_, axis); }
  std::optional<TypeView> element() const {
    const tn_type* inner = tn_type_element(type_);
    return inner ? std::optional(TypeView(inner)) : std::nullopt;
  }
  std::string text() const { return tn_type_text(type_); }
  const tn_type* handle() const { return type_; }

 private:
  const tn_type* type_;
};

}  // namespace v0
}  // namespace tenon

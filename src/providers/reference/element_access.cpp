#include "providers/reference/element_access.h"

#include "providers/reference/convert.h"

namespace tenon {

namespace {

template <class T>
inline constexpr bool is_number = !std::is_same_v<T, std::string> && !std::is_same_v<T, std::complex<float>> &&
                                  !std::is_same_v<T, std::complex<double>>;

}  // namespace

double number_at(const TensorView& view, int64_t index) {
  return with_element_type(view.dtype, [&](auto tag) -> double {
    using T = typename decltype(tag)::type;
    if constexpr (is_number<T>)
      return static_cast<double>(static_cast<const T*>(view.data)[index]);
    else
      return 0;
  });
}

int64_t any_integer_at(const TensorView& view, int64_t index) {
  return with_element_type(view.dtype, [&](auto tag) -> int64_t {
    using T = typename decltype(tag)::type;
    if constexpr (!is_number<T>)
      return 0;
    else if constexpr (is_float_element<T>)
      return from_double<int64_t>(static_cast<double>(static_cast<const T*>(view.data)[index]));
    else
      return static_cast<int64_t>(static_cast<const T*>(view.data)[index]);
  });
}

void store_number(const TensorView& view, int64_t index, double value) {
  with_element_type(view.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_number<T>) static_cast<T*>(view.data)[index] = from_double<T>(value);
  });
}

}  // namespace tenon

#include "tensor/compare.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tenon {

Tolerance default_tolerance(DType dtype) {
  // Sums of a thousand terms lose about that many units; narrow types are summed in a wider one and rounded once.
  switch (dtype) {
    case DType::Float64:
    case DType::Complex128:
      return {1024 * 0x1p-52, 1024 * 0x1p-52};
    case DType::Float32:
    case DType::Complex64:
      return {1024 * 0x1p-23, 1024 * 0x1p-23};
    case DType::Float16:
      return {8 * 0x1p-10, 8 * 0x1p-10};
    case DType::BFloat16:
      return {4 * 0x1p-7, 4 * 0x1p-7};
    case DType::Float8E4M3FN:
    case DType::Float8E4M3FNUZ:
      return {0x1p-2, 0x1p-4};
    case DType::Float6E2M3:
      return {0x1p-2, 0x1p-3};
    case DType::Float8E5M2:
    case DType::Float8E5M2FNUZ:
    case DType::Float4E2M1:
    case DType::Float6E3M2:
      return {0x1p-1, 0x1p-3};
    case DType::Float8E8M0:
      return {1, 0};
    default:
      return {0, 0};
  }
}

namespace {

bool has_rounding(DType dtype) { return is_float(dtype) || dtype == DType::Complex64 || dtype == DType::Complex128; }

template <class T>
double largest_of(const T* elements, size_t count) {
  double largest = 0;
  const auto add = [&](double x) {
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  };
  for (size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
      add(elements[i].real());
      add(elements[i].imag());
    } else if constexpr (!std::is_same_v<T, std::string>) {
      add(static_cast<double>(elements[i]));
    }
  }
  return largest;
}

double largest_in(const Tensor& tensor) {
  if (!tensor.defined() || !has_rounding(tensor.dtype())) return 0;
  const auto count = static_cast<size_t>(tensor.size());
  std::vector<int8_t> unpacked;
  const void* data = tensor.data();
  if (is_sub_byte(tensor.dtype())) {
    unpacked.resize(count);
    unpack_sub_byte(tensor.dtype(), data, tensor.size(), unpacked.data());
    data = unpacked.data();
  }
  return with_element_type(tensor.dtype(), [&](auto tag) {
    return largest_of(static_cast<const typename decltype(tag)::type*>(data), count);
  });
}

class Comparing {
 public:
  explicit Comparing(Tolerance tolerance) : given_(tolerance) {}

  void values(const Value& a, const Value& b) {
    if (a.tensor() && b.tensor()) return tensors(*a.tensor(), *b.tensor());
    if (a.sequence() && b.sequence()) return sequences(*a.sequence(), *b.sequence());
    if (a.map() && b.map()) return maps(*a.map(), *b.map());
    if (a.optional() && b.optional()) {
      const auto &x = a.optional()->item, &y = b.optional()->item;
      if (x && y) return values(*x, *y);
      if (!x && !y) return;
    }
    if (!a.empty() || !b.empty()) result_.comparable = false;
  }

  Comparison finish() {
    const double length = std::sqrt(aa_) * std::sqrt(bb_);
    if (length > 0 && std::isfinite(length))
      result_.cosine = std::clamp(ab_ / length, -1.0, 1.0);
    else
      result_.cosine = aa_ == bb_ ? 1 : 0;
    return result_;
  }

 private:
  void sequences(const Sequence& a, const Sequence& b) {
    if (a.items.size() != b.items.size()) {
      result_.comparable = false;
      return;
    }
    for (size_t i = 0; i < a.items.size(); ++i) values(a.items[i], b.items[i]);
  }

  void maps(const Map& a, const Map& b) {
    if (a.key != b.key || a.int_keys != b.int_keys || a.string_keys != b.string_keys)
      result_.comparable = false;
    else
      tensors(a.values, b.values);
  }

  void tensors(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || a.dims() != b.dims()) {
      result_.comparable = false;
      return;
    }
    if (!a.defined()) return;
    const Tolerance usual = default_tolerance(a.dtype());
    rtol_ = given_.rtol < 0 ? usual.rtol : given_.rtol;
    atol_ = given_.atol < 0 ? usual.atol : given_.atol;
    if (given_.integer_atol && !has_rounding(a.dtype())) {
      rtol_ = 0;
      atol_ = is_integer(a.dtype()) ? *given_.integer_atol : 0;
    }
    result_.allowed_abs = std::max(result_.allowed_abs, atol_);
    if (is_sub_byte(a.dtype())) {
      std::vector<int8_t> x(static_cast<size_t>(a.size())), y(x.size());
      unpack_sub_byte(a.dtype(), a.data(), a.size(), x.data());
      unpack_sub_byte(b.dtype(), b.data(), b.size(), y.data());
      with_element_type(a.dtype(),
                        [&](auto tag) { elements<typename decltype(tag)::type>(x.data(), y.data(), x.size()); });
      return;
    }
    with_element_type(a.dtype(), [&](auto tag) {
      elements<typename decltype(tag)::type>(a.data(), b.data(), static_cast<size_t>(a.size()));
    });
  }

  template <class T>
  void elements(const void* a, const void* b, size_t count) {
    const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
    for (size_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, std::string>) {
        count_element(x[i] == y[i]);
      } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
        const bool real = number(x[i].real(), y[i].real()), imaginary = number(x[i].imag(), y[i].imag());
        count_element(real && imaginary);
      } else if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
        // Not every 64-bit integer is a double, so equality is decided before the conversion.
        const bool near = number(static_cast<double>(x[i]), static_cast<double>(y[i]));
        count_element(x[i] == y[i] || (near && (rtol_ > 0 || atol_ >= 1)));
      } else {
        count_element(number(static_cast<double>(x[i]), static_cast<double>(y[i])));
      }
    }
  }

  void count_element(bool agrees) {
    if (!agrees) {
      if (result_.mismatches++ == 0) result_.first_mismatch = result_.elements;
    }
    ++result_.elements;
  }

  // True when the two agree.
  bool number(double a, double b) {
    if (std::isnan(a) && std::isnan(b)) {
      ++result_.nan_pairs;
      return true;
    }
    if (a == b && std::isinf(a)) return true;
    if (!std::isfinite(a) || !std::isfinite(b)) {
      result_.max_abs = result_.max_rel = INFINITY;
      return false;
    }
    const double distance = std::fabs(a - b);
    result_.max_abs = std::max(result_.max_abs, distance);
    if (b != 0) result_.max_rel = std::max(result_.max_rel, distance / std::fabs(b));
    aa_ += a * a;
    bb_ += b * b;
    ab_ += a * b;
    return distance <= atol_ + rtol_ * std::fabs(b);
  }

  Tolerance given_;
  double rtol_ = 0, atol_ = 0;
  double aa_ = 0, bb_ = 0, ab_ = 0;
  Comparison result_;
};

}  // namespace

double largest_magnitude(const Value& value) {
  if (value.tensor()) return largest_in(*value.tensor());
  if (value.map()) return largest_in(value.map()->values);
  double largest = 0;
  if (value.sequence())
    for (const Value& item : value.sequence()->items) largest = std::max(largest, largest_magnitude(item));
  if (value.optional() && value.optional()->item) largest = largest_magnitude(*value.optional()->item);
  return largest;
}

Comparison compare_values(const Value& actual, const Value& expected, Tolerance tolerance) {
  Comparing comparing(tolerance);
  comparing.values(actual, expected);
  return comparing.finish();
}

}  // namespace tenon

// Loops over elements that compilers make vectors of. Included once per target, inside HWY_BEFORE_NAMESPACE, so there
// is no #pragma once.
#if defined(TENON_CPU_TYPED_LOOPS) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_TYPED_LOOPS
#undef TENON_CPU_TYPED_LOOPS
#else
#define TENON_CPU_TYPED_LOOPS
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
#ifndef __clang__
// Vectors of elements of several sizes, too.
#pragma GCC optimize("vect-cost-model=dynamic")
#endif
namespace tenon::typed {
namespace HWY_NAMESPACE {

// A count that is known makes the loop vectors without a rest.
constexpr int64_t kRun = 64;

// An element depends on elements at the same place alone, also where the result replaces an operand.
#undef TENON_INDEPENDENT
#ifdef __clang__
#define TENON_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TENON_INDEPENDENT _Pragma("GCC ivdep")
#endif

template <class F, class A, class R>
void unary_loop(const void* const* operands, void* out, int64_t count) {
  const auto* a = static_cast<const A*>(operands[0]);
  auto* r = static_cast<R*>(out);
  int64_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    TENON_INDEPENDENT
    for (int64_t k = 0; k < kRun; ++k) r[i + k] = F::apply(a[i + k]);
  }
  for (; i < count; ++i) r[i] = F::apply(a[i]);
}

template <class F, class A, class R>
void binary_loop(const void* const* operands, void* out, int64_t count) {
  const auto *a = static_cast<const A*>(operands[0]), *b = static_cast<const A*>(operands[1]);
  auto* r = static_cast<R*>(out);
  int64_t i = 0;
  for (; i + kRun <= count; i += kRun) {
    TENON_INDEPENDENT
    for (int64_t k = 0; k < kRun; ++k) r[i + k] = F::apply(a[i + k], b[i + k]);
  }
  for (; i < count; ++i) r[i] = F::apply(a[i], b[i]);
}

// What make(T()) gives for the C++ type of a dtype; null for other types.
template <class Make>
auto with_integer_type(DType dtype, Make make) -> decltype(make(int8_t())) {
  switch (dtype) {
    case DType::Int8:
      return make(int8_t());
    case DType::Int16:
      return make(int16_t());
    case DType::Int32:
      return make(int32_t());
    case DType::Int64:
      return make(int64_t());
    case DType::UInt8:
      return make(uint8_t());
    case DType::UInt16:
      return make(uint16_t());
    case DType::UInt32:
      return make(uint32_t());
    case DType::UInt64:
      return make(uint64_t());
    default:
      return nullptr;
  }
}
template <class Make>
auto with_number_type(DType dtype, Make make) -> decltype(make(int8_t())) {
  return dtype == DType::Float64 ? make(double()) : with_integer_type(dtype, make);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon::typed
HWY_AFTER_NAMESPACE();

#endif

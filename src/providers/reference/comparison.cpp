#include "providers/reference/elementwise.h"
#include "providers/reference/text_meter.h"

namespace tenon {

namespace {

// Comparing small floats: their values, not their bits.
template <class T>
decltype(auto) comparable(const T& x) {
  if constexpr (is_float_element<T>)
    return static_cast<double>(x);
  else
    return (x);
}

template <class F>
Status compare_numbers(KernelContext& c, F f) {
  return dispatch_numbers(c.in(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    broadcast_elements<T, bool>(c, [&](const T& a, const T& b) { return f(comparable(a), comparable(b)); });
    return Status();
  });
}

Status compare_equal(KernelContext& c) {
  auto equal = [&](auto tag) {
    using T = typename decltype(tag)::type;
    broadcast_elements<T, bool>(c, [](const T& a, const T& b) { return a == b; });
    return Status();
  };
  if (c.in(0).dtype == DType::Bool || c.in(0).dtype == DType::String)
    return dispatch<bool, std::string>(c.in(0).dtype, equal);
  return compare_numbers(c, [](const auto& a, const auto& b) { return a == b; });
}

template <class F>
Status combine_truths(KernelContext& c, F f) {
  broadcast_elements<bool, bool>(c, f);
  return {};
}

Status choose(KernelContext& c) {
  const TensorView &condition = c.in(0), &a = c.in(1), &b = c.in(2), &out = c.out(0);
  const bool* yes = static_cast<const bool*>(condition.data);
  return dispatch_by_size(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = static_cast<const T*>(a.data);
    const T* y = static_cast<const T*>(b.data);
    T* z = static_cast<T*>(out.data);
    TextMeter meter;
    for (Walker<3> w(out.dims, {broadcast_strides(condition.dims, out.dims), broadcast_strides(a.dims, out.dims),
                                broadcast_strides(b.dims, out.dims)});
         w.more(); w.next())
      meter.copy(yes[w.at(0)] ? x[w.at(1)] : y[w.at(2)], z[w.position()]);
    return Status();
  });
}

}  // namespace

#define COMPARISON(name, sign)                                                                           \
  template <>                                                                                            \
  KernelFunction reference_kernel<OpId::name>() {                                                        \
    return [](KernelContext& c) { return compare_numbers(c, [](auto a, auto b) { return a sign b; }); }; \
  }
COMPARISON(Greater, >)
COMPARISON(GreaterOrEqual, >=)
COMPARISON(Less, <)
COMPARISON(LessOrEqual, <=)
#undef COMPARISON

#define LOGIC(name, sign)                                                                               \
  template <>                                                                                           \
  KernelFunction reference_kernel<OpId::name>() {                                                       \
    return [](KernelContext& c) { return combine_truths(c, [](bool a, bool b) { return a sign b; }); }; \
  }
LOGIC(And, &&)
LOGIC(Or, ||)
LOGIC(Xor, !=)
#undef LOGIC

template <>
KernelFunction reference_kernel<OpId::Equal>() {
  return compare_equal;
}

template <>
KernelFunction reference_kernel<OpId::Where>() {
  return choose;
}

}  // namespace tenon

#include "ops/bitwise.h"

#include <cstring>

#include "ops/cast.h"
#include "providers/reference/elementwise.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

template <class F>
Status combine_bits(KernelContext& c, F f) {
  return dispatch_integers(c.out(0).dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    broadcast_elements<T, T>(c, [&](T a, T b) { return static_cast<T>(f(a, b)); });
    return Status();
  });
}

// Shifts outside [0, bits) move every bit out: what stays is the fill.
template <class T>
T shift(T x, T amount, bool left) {
  constexpr int64_t bits = 8 * sizeof(T);
  if (amount < T{} || static_cast<uint64_t>(amount) >= bits) return !left && x < T{} ? static_cast<T>(-1) : T{};
  return left ? static_cast<T>(static_cast<uint64_t>(x) << amount) : static_cast<T>(x >> amount);
}

Status split_bytes(const TensorView& in, const TensorView& out) {
  return dispatch<Int4, UInt4, Int2, UInt2>(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int bits = dtype_bits(out.dtype);
    T* to = static_cast<T*>(out.data);
    const auto bytes = raw<uint8_t>(in);
    for_each_index(in.size(), [&](int64_t i) {
      for (int shift = 0; shift < 8; shift += bits) *to++ = T(int64_t{bytes[static_cast<size_t>(i)]} >> shift);
    });
    return Status();
  });
}

Status reinterpret(KernelContext& c) {
  const TensorView &in = c.in(0), &out = c.out(0);
  if (c.params<BitCastParams>().split) return split_bytes(in, out);
  if (out.dtype == DType::Bool) {  // a bool is 0 or 1, whatever the bits were
    for_each_index(in.size(), [&](int64_t i) {
      out.as<bool>()[static_cast<size_t>(i)] = raw<uint8_t>(in)[static_cast<size_t>(i)] != 0;
    });
    return {};
  }
  const int64_t bytes = is_sub_byte(in.dtype) ? in.size() : in.bytes();
  if (bytes > 0) std::memcpy(out.data, in.data, static_cast<size_t>(bytes));
  return {};
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::BitwiseAnd>() {
  return [](KernelContext& c) { return combine_bits(c, [](auto a, auto b) { return a & b; }); };
}

template <>
KernelFunction reference_kernel<OpId::BitwiseOr>() {
  return [](KernelContext& c) { return combine_bits(c, [](auto a, auto b) { return a | b; }); };
}

template <>
KernelFunction reference_kernel<OpId::BitwiseXor>() {
  return [](KernelContext& c) { return combine_bits(c, [](auto a, auto b) { return a ^ b; }); };
}

template <>
KernelFunction reference_kernel<OpId::BitShift>() {
  return [](KernelContext& c) {
    const bool left = c.params<BitShiftParams>().direction == "LEFT";
    return combine_bits(c, [&](auto a, auto b) { return shift(a, b, left); });
  };
}

template <>
KernelFunction reference_kernel<OpId::BitCast>() {
  return reinterpret;
}

}  // namespace tenon

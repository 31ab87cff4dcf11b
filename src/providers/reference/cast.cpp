#include "ops/cast.h"

#include <algorithm>

#include "providers/reference/convert.h"
#include "providers/reference/copy.h"
#include "providers/reference/kernel.h"
#include "providers/reference/number_text.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

struct CastOptions {
  Overflow overflow;
  ScaleRounding rounding;
  explicit CastOptions(const CastLikeParams& p)
      : overflow(p.saturate ? Overflow::Saturate : Overflow::Special),
        rounding(p.round_mode == "up"     ? ScaleRounding::Up
                 : p.round_mode == "down" ? ScaleRounding::Down
                                          : ScaleRounding::Nearest) {}
};

template <class T>
inline constexpr bool is_float8 = std::is_same_v<T, Float8E4M3FN> || std::is_same_v<T, Float8E4M3FNUZ> ||
                                  std::is_same_v<T, Float8E5M2> || std::is_same_v<T, Float8E5M2FNUZ>;

// Every element passes through one of three types that hold it exactly, so that n types need n conversions each way.
template <class T>
using Carrier =
    std::conditional_t<is_float_element<T>, double, std::conditional_t<std::is_same_v<T, uint64_t>, uint64_t, int64_t>>;

template <class T, class C>
T convert(C x, const CastOptions& options) {
  if constexpr (is_float8<T>)
    return T(static_cast<double>(x), options.overflow);
  else if constexpr (std::is_same_v<T, Float8E8M0>)
    return T(static_cast<double>(x), options.overflow == Overflow::Saturate, options.rounding);
  else if constexpr (std::is_same_v<C, double>)
    return from_double<T>(x);
  else if constexpr (is_small_int<T>)
    return T(static_cast<int64_t>(x));
  else if constexpr (is_float_element<T> && !std::is_floating_point_v<T>)
    return T(static_cast<double>(x));
  else
    return static_cast<T>(x);  // to bool: zero or not; to integers: the low bits
}

template <class F>
Status dispatch_castable(DType dtype, F&& f) {
  return dispatch<float, double, Float16, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ,
                  Float8E8M0, Float4E2M1, Float6E2M3, Float6E3M2, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                  uint32_t, uint64_t, Int4, UInt4, Int2, UInt2, bool>(dtype, f);
}

constexpr int64_t kChunk = 256;
constexpr int64_t kUnitsPerText = 32;  // of the time that a number takes to be written or read

template <class C>
Status store(const C* from, const TensorView& out, int64_t begin, int64_t count, const CastOptions& options) {
  return dispatch_castable(out.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(out.data) + begin;
    for (int64_t i = 0; i < count; ++i) to[i] = convert<T>(from[i], options);
    return Status();
  });
}

Status cast_numbers(const TensorView& in, const TensorView& out, const CastOptions& options) {
  return dispatch_castable(in.dtype, [&](auto tag) -> Status {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(in.data);
    Carrier<T> chunk[kChunk];
    WorkMeter meter;
    for (int64_t begin = 0; begin < in.size(); begin += kChunk) {
      const int64_t count = std::min(kChunk, in.size() - begin);
      meter.spend(count);
      for (int64_t i = 0; i < count; ++i) chunk[i] = static_cast<Carrier<T>>(from[begin + i]);
      TN_RETURN_IF_ERROR(store(chunk, out, begin, count, options));
    }
    return {};
  });
}

Status numbers_to_strings(const TensorView& in, const TensorView& out) {
  return dispatch_castable(in.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    auto from = in.as<T>();
    auto to = out.as<std::string>();
    WorkMeter meter;
    for (size_t i = 0; i < from.size(); ++i) {
      meter.spend(kUnitsPerText);
      if constexpr (std::is_same_v<T, double>)
        to[i] = number_text(from[i]);
      else if constexpr (is_float_element<T>)
        to[i] = number_text(static_cast<float>(from[i]));
      else
        to[i] = fmt::format("{}", static_cast<Carrier<T>>(from[i]));
    }
    return Status();
  });
}

Status strings_to_numbers(const TensorView& in, const TensorView& out, const CastOptions& options) {
  auto from = in.as<std::string>();
  WorkMeter meter;
  for (int64_t i = 0; i < in.size(); ++i) {
    const std::string& text = from[static_cast<size_t>(i)];
    meter.spend(kUnitsPerText + static_cast<int64_t>(text.size()));
    const auto number = is_float(out.dtype) ? std::nullopt : parse_integer(text);
    if (number) {
      TN_RETURN_IF_ERROR(store(&*number, out, i, 1, options));
      continue;
    }
    const auto real = parse_number(text);
    if (!real)
      return invalid_argument("element {} is '{}', which cannot be cast to {}", i, text, dtype_name(out.dtype));
    TN_RETURN_IF_ERROR(store(&*real, out, i, 1, options));
  }
  return {};
}

Status cast(KernelContext& c, const CastLikeParams& params) {
  const TensorView &in = c.in(0), &out = c.out(0);
  if (in.dtype == out.dtype) {
    if (is_sub_byte(in.dtype))
      std::copy_n(static_cast<const uint8_t*>(in.data), in.size(), static_cast<uint8_t*>(out.data));
    else
      copy_all(in, out);
    return {};
  }
  const CastOptions options(params);
  if (in.dtype == DType::String) return strings_to_numbers(in, out, options);
  if (out.dtype == DType::String) return numbers_to_strings(in, out);
  return cast_numbers(in, out, options);
}

}  // namespace

template <>
KernelFunction reference_kernel<OpId::Cast>() {
  return [](KernelContext& c) { return cast(c, c.params<CastParams>()); };
}

template <>
KernelFunction reference_kernel<OpId::CastLike>() {
  return [](KernelContext& c) { return cast(c, c.params<CastLikeParams>()); };
}

}  // namespace tenon

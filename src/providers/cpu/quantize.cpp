// QuantizeLinear and DequantizeLinear between floats and bytes, a row with one scale at a time.
#include "ops/quantize.h"

#include <algorithm>

#include "providers/cpu/kernel.h"
#include "providers/cpu/moved_elements.h"
#include "providers/cpu/quantize_rows.h"
#include "providers/cpu/rows.h"
#include "providers/reference/element_access.h"

namespace tenon {

namespace {

constexpr int64_t kQuantizedElements = 1 << 14;  // of a chunk, at least

// Rows of neighbours with one scale, which repeats every `scales` rows.
struct QuantizeState {
  int64_t rows = 1, length = 1, scales = 1;
  QuantizedRows<int8_t> signed_rows;
  QuantizedRows<uint8_t> unsigned_rows;

  template <class T>
  const QuantizedRows<T>& functions() const {
    if constexpr (std::is_same_v<T, int8_t>)
      return signed_rows;
    else
      return unsigned_rows;
  }
};

Result<KernelState> bind_quantized(const BindRequest& request, DType wide, DType narrow, int64_t axis,
                                   int64_t block_size) {
  const TensorView &x = request.inputs[0], &scale = request.inputs[1];
  if (wide != DType::Float32 || scale.dtype != DType::Float32)
    return error(Code::Unsupported, "its numbers are not float32");
  if (narrow != DType::Int8 && narrow != DType::UInt8) return error(Code::Unsupported, "its integers are not bytes");
  if (block_size > 0 && scale.size() > 1) return error(Code::Unsupported, "it has a scale for each block");
  auto state = std::make_shared<QuantizeState>();
  if (scale.size() == 1) {
    state->length = x.size();
  } else {
    const auto rank = static_cast<int64_t>(x.dims.size()), at = rank == 1 ? 0 : axis < 0 ? axis + rank : axis;
    for (int64_t i = 0; i < rank; ++i) (i <= at ? state->rows : state->length) *= x.dims[static_cast<size_t>(i)];
    state->scales = scale.size();
    if (state->length == 1) return error(Code::Unsupported, "neighbours have different scales");
  }
  state->signed_rows = quantized_rows<int8_t>(request.isa);
  state->unsigned_rows = quantized_rows<uint8_t>(request.isa);
  return KernelState{std::move(state)};
}

Result<KernelState> bind_quantize(const BindRequest& request) {
  const auto& p = request.params.get<QuantizeLinearParams>();
  if (p.precision != DType::Undefined && p.precision != DType::Float32)
    return error(Code::Unsupported, "it divides in {}", dtype_name(p.precision));
  return bind_quantized(request, request.inputs[0].dtype, request.outputs[0].dtype, p.axis, p.block_size);
}

Result<KernelState> bind_dequantize(const BindRequest& request) {
  const auto& p = request.params.get<DequantizeLinearParams>();
  return bind_quantized(request, request.outputs[0].dtype, request.inputs[0].dtype, p.axis, p.block_size);
}

// f(row functions, first, count, scale, zero) for parts of rows.
template <class T, class F>
void for_each_part(KernelContext& c, const F& f) {
  const auto& s = c.state<QuantizeState>();
  if (s.rows * s.length == 0) return;
  const float* scales = static_cast<const float*>(c.in(1).data);
  const int64_t parts = ceil_div(s.length, kQuantizedElements);
  in_chunks(c, s.rows * parts, kQuantizedElements / s.length, [&](int64_t first, int64_t end) {
    poll_cancelled();
    for (int64_t i = first; i < end; ++i) {
      const int64_t row = i / parts, begin = i % parts * kQuantizedElements, entry = row % s.scales;
      const int64_t zero = c.has(2) ? any_integer_at(c.in(2), entry) : 0;
      f(s.functions<T>(), row * s.length + begin, std::min(kQuantizedElements, s.length - begin), scales[entry],
        static_cast<int32_t>(zero));
    }
  });
}

template <class T>
void quantize_to(KernelContext& c) {
  const float* x = static_cast<const float*>(c.in(0).data);
  T* y = static_cast<T*>(c.out(0).data);
  for_each_part<T>(c, [&](const auto& rows, int64_t first, int64_t count, float scale, int32_t zero) {
    rows.quantize(x + first, count, scale, zero, y + first);
  });
}

template <class T>
void dequantize_from(KernelContext& c) {
  const T* x = static_cast<const T*>(c.in(0).data);
  float* y = static_cast<float*>(c.out(0).data);
  for_each_part<T>(c, [&](const auto& rows, int64_t first, int64_t count, float scale, int32_t zero) {
    rows.dequantize(x + first, count, scale, zero, y + first);
  });
}

Status run_quantize(KernelContext& c) {
  c.out(0).dtype == DType::Int8 ? quantize_to<int8_t>(c) : quantize_to<uint8_t>(c);
  return {};
}

Status run_dequantize(KernelContext& c) {
  c.in(0).dtype == DType::Int8 ? dequantize_from<int8_t>(c) : dequantize_from<uint8_t>(c);
  return {};
}

}  // namespace

std::span<const Variant> quantize_linear_variants() {
  static const auto variants = with_reference(OpId::QuantizeLinear, {{"rows", run_quantize, bind_quantize}});
  return variants;
}

std::span<const Variant> dequantize_linear_variants() {
  static const auto variants = with_reference(OpId::DequantizeLinear, {{"rows", run_dequantize, bind_dequantize}});
  return variants;
}

}  // namespace tenon

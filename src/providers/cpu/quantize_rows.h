#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Rows that have one scale and one zero point. T is int8 or uint8.
template <class T>
struct QuantizedRows {
  // to = x / scale, rounded half to even, + zero, saturated.
  void (*quantize)(const float* x, int64_t count, float scale, int32_t zero, T* to) = nullptr;
  // to = (x - zero) * scale
  void (*dequantize)(const T* x, int64_t count, float scale, int32_t zero, float* to) = nullptr;
};

template <class T>
const QuantizedRows<T>& quantized_rows(Isa isa);
template <>
const QuantizedRows<int8_t>& quantized_rows<int8_t>(Isa isa);
template <>
const QuantizedRows<uint8_t>& quantized_rows<uint8_t>(Isa isa);

}  // namespace tenon

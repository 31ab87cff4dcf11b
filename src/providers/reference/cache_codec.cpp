#include "providers/reference/cache_codec.h"

#include <algorithm>
#include <cmath>

#include "providers/reference/element_access.h"

namespace tenon {

namespace {

constexpr int kNibbleZero = 8;  // nibbles are stored as code + 8

}  // namespace

double CacheCodec::scale(int64_t head, int64_t i) const {
  const double scale = number_at(*scales_, params_.per_channel() ? head * head_ + i : 0);
  return scale == 0.0 ? 1.0 : scale;
}

// The number that is stored for a value.
double CacheCodec::code(DType cache_type, int64_t head, int64_t i, double value) const {
  if (!params_.quantized()) return value;
  const double scaled = value / scale(head, i);
  if (cache_type == DType::Float8E4M3FN) {
    const double largest = 448.0;
    return static_cast<double>(Float8E4M3FN(std::clamp(scaled, -largest, largest)));
  }
  if (std::isnan(scaled)) return 0.0;
  const double limit = params_.kv_cache_bit_width == 4 ? 8.0 : 128.0;
  return std::clamp(std::nearbyint(scaled), -limit, limit - 1.0);
}

double CacheCodec::rounded(DType cache_type, int64_t head, int64_t i, double value) const {
  return params_.quantized() ? code(cache_type, head, i, value) * scale(head, i) : value;
}

double CacheCodec::read(const TensorView& cache, int64_t row, int64_t head, int64_t i) const {
  if (!params_.quantized()) return number_at(cache, row * head_ + i);
  if (params_.kv_cache_bit_width == 8) return number_at(cache, row * head_ + i) * scale(head, i);
  const uint8_t pair = static_cast<const uint8_t*>(cache.data)[row * ((head_ + 1) / 2) + i / 2];
  return ((i % 2 == 0 ? pair & 15 : pair >> 4) - kNibbleZero) * scale(head, i);
}

void CacheCodec::write(const TensorView& cache, int64_t row, int64_t head, int64_t i, double value) const {
  const double number = code(cache.dtype, head, i, value);
  if (params_.kv_cache_bit_width != 4) return store_number(cache, row * head_ + i, number);
  uint8_t& pair = static_cast<uint8_t*>(cache.data)[row * ((head_ + 1) / 2) + i / 2];
  const int nibble = static_cast<int>(number) + kNibbleZero;
  // The lower feature comes first and leaves a zero behind for a partner that may not exist.
  pair = static_cast<uint8_t>(i % 2 == 0 ? nibble | kNibbleZero << 4 : (pair & 15) | nibble << 4);
}

}  // namespace tenon

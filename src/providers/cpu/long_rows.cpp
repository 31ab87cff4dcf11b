#include "providers/cpu/long_rows.h"

#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

// Rows up to here are short work themselves.
constexpr int64_t kLongRow = 1 << 16;

template <class F>
void each_piece(int64_t count, const F& f) {
  if (count <= kLongRow)
    f(int64_t{0}, count);
  else
    in_pieces(count, f);
}

template <class F>
float sum_of_pieces(int64_t count, const F& f) {
  if (count <= kLongRow) return f(int64_t{0}, count);
  float sum = 0;
  in_pieces(count, [&](int64_t begin, int64_t end) { sum += f(begin, end); });
  return sum;
}

}  // namespace

float joined(Accumulation what, float a, float b) {
  switch (what) {
    case Accumulation::Sum:
    case Accumulation::SumOfSizes:
    case Accumulation::SumOfSquares:
      return a + b;
    case Accumulation::Product:
      return a * b;
    case Accumulation::Largest:
      return a > b || a != a ? a : b;
    case Accumulation::Smallest:
      return a < b || a != a ? a : b;
  }
  return a;
}

float LongRows::reduce(Accumulation what, const float* x, int64_t count) const {
  if (count <= kLongRow) return f_.reduce(what, x, count);
  float result = f_.reduce(what, x, 0);
  in_pieces(count, [&](int64_t begin, int64_t end) {
    result = joined(what, result, f_.reduce(what, x + begin, end - begin));
  });
  return result;
}

float LongRows::squares_about(const float* x, float center, int64_t count) const {
  return sum_of_pieces(count,
                       [&](int64_t begin, int64_t end) { return f_.squares_about(x + begin, center, end - begin); });
}

float LongRows::exponentials(const float* x, float shift, float* out, int64_t count) const {
  return sum_of_pieces(
      count, [&](int64_t begin, int64_t end) { return f_.exponentials(x + begin, shift, out + begin, end - begin); });
}

float LongRows::sum_of_exponentials(const float* x, float shift, int64_t count) const {
  return sum_of_pieces(
      count, [&](int64_t begin, int64_t end) { return f_.sum_of_exponentials(x + begin, shift, end - begin); });
}

void LongRows::scale(const float* x, float shift, float factor, float* out, int64_t count) const {
  each_piece(count, [&](int64_t begin, int64_t end) { f_.scale(x + begin, shift, factor, out + begin, end - begin); });
}

void LongRows::normalize(const float* x, float center, float factor, const float* scale, const float* bias, float* out,
                         int64_t count) const {
  each_piece(count, [&](int64_t begin, int64_t end) {
    f_.normalize(x + begin, center, factor, scale + begin, bias ? bias + begin : nullptr, out + begin, end - begin);
  });
}

}  // namespace tenon

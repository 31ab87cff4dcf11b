#pragma once

#include "providers/provider.h"

namespace tenon {

// What a reduction keeps of the numbers it has seen.
enum class Accumulation : uint8_t { Sum, SumOfSizes, SumOfSquares, Product, Largest, Smallest };

// Loops over neighbouring floats. Every sum is taken in an order that depends on the count alone.
struct RowFunctions {
  // One number from a row. NaN wins among the largest and smallest.
  float (*reduce)(Accumulation what, const float* x, int64_t count);
  // sums[i] = what of sums[i] and x[i].
  void (*accumulate)(Accumulation what, const float* x, float* sums, int64_t count);
  // The sum of (x - center)^2.
  float (*squares_about)(const float* x, float center, int64_t count);
  // out = exp(x - shift), and its sum.
  float (*exponentials)(const float* x, float shift, float* out, int64_t count);
  // The same without storing.
  float (*sum_of_exponentials)(const float* x, float shift, int64_t count);
  // out[i] = exp(x[i] - shifts[i]), added to sums[i]; out may be null.
  void (*column_exponentials)(const float* x, const float* shifts, float* sums, float* out, int64_t count);
  // out = (x - shift) * factor
  void (*scale)(const float* x, float shift, float factor, float* out, int64_t count);
  // out = (x - center) * factor * scale[i] + bias[i]; bias may be null.
  void (*normalize)(const float* x, float center, float factor, const float* scale, const float* bias, float* out,
                    int64_t count);
};
const RowFunctions& row_functions(Isa isa);

// The kernel of the reference.
KernelFunction reference_function(OpId op);
// The variants of a family that go before the kernel of the reference, which takes whatever they refuse.
std::vector<Variant> with_reference(OpId op, std::initializer_list<Variant> variants);

}  // namespace tenon

#pragma once

#include "providers/cpu/rows.h"

namespace tenon {

// Two results of one accumulation together. NaN wins among the largest and smallest.
float joined(Accumulation what, float a, float b);

// Row functions for rows of any length: long ones are done in pieces, between which a cancelled run ends. Sums are
// taken in an order that depends on the count alone.
class LongRows {
 public:
  explicit LongRows(const RowFunctions& functions) : f_(functions) {}

  float reduce(Accumulation what, const float* x, int64_t count) const;
  float squares_about(const float* x, float center, int64_t count) const;
  float exponentials(const float* x, float shift, float* out, int64_t count) const;
  float sum_of_exponentials(const float* x, float shift, int64_t count) const;
  void scale(const float* x, float shift, float factor, float* out, int64_t count) const;
  void normalize(const float* x, float center, float factor, const float* scale, const float* bias, float* out,
                 int64_t count) const;
  // For pieces that the caller makes.
  const RowFunctions& functions() const { return f_; }

 private:
  const RowFunctions& f_;
};

}  // namespace tenon

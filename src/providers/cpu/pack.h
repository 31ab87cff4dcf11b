#pragma once

#include <cstdint>

#include "providers/provider.h"

namespace tenon {

// Rows of sixteen neighbouring outputs, as matrices are packed. Kernels of a weight program: the same bits from every
// instruction set.
struct PackKernels {
  // One panel from sixteen rows: to[k * 16 + j] = rows[j][k] (* scale[j]). `streaming` stores bypass the caches and
  // need `to` aligned to 64 bytes. Says whether there is NaN or infinity in the rows.
  bool (*transpose)(const float* const* rows, int64_t depth, const float* scale, bool streaming, float* to);
  // `panels` panels from a matrix whose rows are steps of k: to[p * panel_stride + k * 16 + j] =
  // from[k * from_stride + p * 16 + j] (* scale[p * 16 + j]). Says whether there is NaN or infinity in what it reads.
  bool (*copy)(const float* from, int64_t from_stride, int64_t depth, int64_t panels, const float* scale,
               bool streaming, float* to, int64_t panel_stride);
};

const PackKernels& pack_kernels(Isa isa);

// PackPanels in the Winograd layouts.
Variant pack_winograd_variant();

}  // namespace tenon

// Ops that move elements: each is one copy, or one for each input or output.
#include <algorithm>
#include <cstring>

#include "base/checked_math.h"
#include "ops/concat.h"
#include "ops/depth_space.h"
#include "ops/gather.h"
#include "ops/slice.h"
#include "ops/split.h"
#include "ops/transpose.h"
#include "providers/cpu/channel_parts.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/strided_copy.h"
#include "providers/reference/integers.h"
#include "providers/reference/work_meter.h"

namespace tenon {

namespace {

constexpr int64_t kGatherBytes = 1 << 16;

Result<KernelState> bind_movement(const BindRequest& request) {
  if (request.inputs[0].dtype == DType::String) return error(Code::Unsupported, "its elements are strings");
  for (const auto& views : {request.inputs, request.outputs})
    for (const TensorView& view : views)
      // Depth and space ops see two axes more.
      if (view.dims.size() + 2 > kMostCopyAxes) return error(Code::Unsupported, "it has too many axes");
  return KernelState{nullptr, 0};
}

// Elements between neighbours along each axis.
struct Strides {
  std::array<int64_t, kMostCopyAxes> of{};
  explicit Strides(Dims dims) {
    int64_t step = 1;
    for (size_t i = dims.size(); i-- > 0; step *= dims[i]) of[i] = step;
  }
  int64_t operator[](size_t i) const { return of[i]; }
};

StridedCopy copy_between(const TensorView& from, const TensorView& to) {
  StridedCopy copy;
  copy.from = static_cast<const std::byte*>(from.data);
  copy.to = static_cast<std::byte*>(to.data);
  copy.element_bytes = *storage_bytes(to.dtype, 1);
  return copy;
}

Status run_one(KernelContext& c, StridedCopy copy) {
  run_copies(c, std::span(&copy, 1));
  return {};
}

// The axes of `dims` in the order of the result.
Status run_permuted(KernelContext& c, Dims dims, std::span<const int64_t> perm) {
  if (c.out(0).size() == 0) return {};
  StridedCopy copy = copy_between(c.in(0), c.out(0));
  const Strides from(dims);
  std::array<int64_t, kMostCopyAxes> extents{};
  for (size_t i = 0; i < perm.size(); ++i) extents[i] = dims[static_cast<size_t>(perm[i])];
  const Strides to(Dims(extents.data(), perm.size()));
  for (size_t i = 0; i < perm.size(); ++i) copy.add(extents[i], from[static_cast<size_t>(perm[i])], to[i]);
  return run_one(c, copy);
}

Status run_transpose(KernelContext& c) {
  const auto rank = static_cast<size_t>(c.in(0).rank());
  std::array<int64_t, kMostCopyAxes> perm{};
  const auto& given = c.params<TransposeParams>().perm;
  for (size_t i = 0; i < rank; ++i) {
    perm[i] = given ? (*given)[i] : static_cast<int64_t>(rank - 1 - i);
    if (perm[i] < 0) perm[i] += static_cast<int64_t>(rank);
  }
  return run_permuted(c, c.in(0).dims, std::span(perm.data(), rank));
}

Status run_depth_to_space(KernelContext& c) {
  const auto& p = c.params<DepthSpaceParams>();
  const Dims in = c.in(0).dims, out = c.out(0).dims;
  const int64_t b = p.blocksize;
  // Depth seen as its three factors.
  if (p.mode == "DCR")
    return run_permuted(c, std::array{in[0], b, b, out[1], in[2], in[3]}, std::array<int64_t, 6>{0, 3, 4, 1, 5, 2});
  return run_permuted(c, std::array{in[0], out[1], b, b, in[2], in[3]}, std::array<int64_t, 6>{0, 1, 4, 2, 5, 3});
}

Status run_space_to_depth(KernelContext& c) {
  const auto& p = c.params<DepthSpaceParams>();
  const Dims in = c.in(0).dims, out = c.out(0).dims;
  const std::array dims{in[0], in[1], out[2], p.blocksize, out[3], p.blocksize};
  if (p.mode == "DCR") return run_permuted(c, dims, std::array<int64_t, 6>{0, 3, 5, 1, 2, 4});
  return run_permuted(c, dims, std::array<int64_t, 6>{0, 1, 3, 5, 2, 4});
}

Status run_expand(KernelContext& c) {
  const TensorView &in = c.in(0), &out = c.out(0);
  if (out.size() == 0) return {};
  StridedCopy copy = copy_between(in, out);
  const Strides from(in.dims), to(out.dims);
  const size_t shift = out.dims.size() - in.dims.size();
  for (size_t i = 0; i < out.dims.size(); ++i)
    copy.add(out.dims[i], i < shift || in.dims[i - shift] == 1 ? 0 : from[i - shift], to[i]);
  return run_one(c, copy);
}

Result<KernelState> bind_tile(const BindRequest& request) {
  if (2 * request.inputs[0].dims.size() > kMostCopyAxes) return error(Code::Unsupported, "it has too many axes");
  return bind_movement(request);
}

// Each axis goes over the input again and again: two loops.
Status run_tile(KernelContext& c) {
  const TensorView &in = c.in(0), &out = c.out(0);
  if (out.size() == 0) return {};
  StridedCopy copy = copy_between(in, out);
  const Strides from(in.dims), to(out.dims);
  for (size_t i = 0; i < out.dims.size(); ++i) {
    copy.add(out.dims[i] / in.dims[i], 0, in.dims[i] * to[i]);
    copy.add(in.dims[i], from[i], to[i]);
  }
  return run_one(c, copy);
}

int64_t index_at(const TensorView& view, int64_t i) {
  return view.dtype == DType::Int32 ? view.as<const int32_t>()[static_cast<size_t>(i)]
                                    : view.as<const int64_t>()[static_cast<size_t>(i)];
}

Status run_slice(KernelContext& c) {
  const TensorView &in = c.in(0), &out = c.out(0);
  if (out.size() == 0) return {};
  StridedCopy copy = copy_between(in, out);
  const Strides from(in.dims), to(out.dims);
  std::array<SliceRange, kMostCopyAxes> ranges;
  for (size_t i = 0; i < in.dims.size(); ++i) ranges[i] = {0, 1, in.dims[i]};
  for (int64_t i = 0; i < c.in(1).size(); ++i) {
    int64_t axis = c.has(3) ? index_at(c.in(3), i) : i;
    axis += axis < 0 ? in.rank() : 0;
    const auto at = static_cast<size_t>(axis);
    ranges[at] =
        clamp_slice(in.dims[at], index_at(c.in(1), i), index_at(c.in(2), i), c.has(4) ? index_at(c.in(4), i) : 1);
  }
  for (size_t i = 0; i < in.dims.size(); ++i) {
    copy.from += ranges[i].start * from[i] * copy.element_bytes;
    copy.add(ranges[i].count, from[i] * ranges[i].step, to[i]);
  }
  return run_one(c, copy);
}

// A tensor as [outer, extent, inner] around an axis.
struct AroundAxis {
  int64_t outer = 1, extent = 1, inner = 1;
  AroundAxis(Dims dims, int64_t axis) {
    const auto rank = static_cast<int64_t>(dims.size()), at = axis < 0 ? axis + rank : axis;
    for (int64_t i = 0; i < rank; ++i) (i < at ? outer : i == at ? extent : inner) *= dims[static_cast<size_t>(i)];
  }
};

Status run_concat(KernelContext& c) {
  const TensorView& out = c.out(0);
  if (out.size() == 0) return {};
  const int64_t axis = c.params<ConcatParams>().axis;
  const AroundAxis whole(out.dims, axis);
  int64_t at = 0;
  for (size_t i = 0; i < c.input_count(); ++i) {
    const int64_t run = AroundAxis(c.in(i).dims, axis).extent * whole.inner;
    if (run == 0) continue;
    StridedCopy copy = copy_between(c.in(i), out);
    copy.to += at * copy.element_bytes;
    copy.add(whole.outer, run, whole.extent * whole.inner);
    copy.add(run, 1, 1);
    run_copies(c, std::span(&copy, 1));
    at += run;
  }
  return {};
}

Status run_split(KernelContext& c) {
  const TensorView& in = c.in(0);
  const AroundAxis whole(in.dims, c.params<SplitParams>().axis);
  // A part that nobody wants still takes its place; its size is in the input or follows from equal parts.
  const int64_t equal = ceil_div(whole.extent, static_cast<int64_t>(c.output_count()));
  int64_t start = 0;
  for (size_t i = 0; i < c.output_count(); ++i) {
    const int64_t extent = c.has(1) ? c.in(1).as<const int64_t>()[i] : std::min(equal, whole.extent - start);
    if (c.wants(i) && c.out(i).size() > 0) {
      StridedCopy copy = copy_between(in, c.out(i));
      copy.from += start * whole.inner * copy.element_bytes;
      copy.add(whole.outer, whole.extent * whole.inner, extent * whole.inner);
      copy.add(extent * whole.inner, 1, 1);
      run_copies(c, std::span(&copy, 1));
    }
    start += extent;
  }
  return {};
}

Status run_gather(KernelContext& c) {
  const TensorView &data = c.in(0), &indices = c.in(1), &out = c.out(0);
  const AroundAxis whole(data.dims, c.params<GatherParams>().axis);
  const int64_t count = indices.size();
  WorkMeter meter;
  for (int64_t i = 0; i < count; ++i, meter.spend())
    TN_RETURN_IF_ERROR(checked_index(index_at(indices, i), whole.extent, i).status());
  if (out.size() == 0) return {};
  const int64_t bytes = whole.inner * *storage_bytes(out.dtype, 1), rows = whole.outer * count;
  const auto* from = static_cast<const std::byte*>(data.data);
  auto* to = static_cast<std::byte*>(out.data);
  // Many short rows, or a part of a long one.
  const int64_t parts = ceil_div(bytes, kGatherBytes), per_chunk = std::max<int64_t>(1, kGatherBytes / bytes);
  c.parallel_for(ceil_div(rows, per_chunk) * parts, [&](int64_t chunk) {
    const int64_t first = chunk / parts * per_chunk, end = std::min(rows, first + per_chunk);
    const int64_t begin = chunk % parts * kGatherBytes, size = std::min(kGatherBytes, bytes - begin);
    for (int64_t row = first; row < end; ++row) {
      int64_t index = index_at(indices, row % count);
      if (index < 0) index += whole.extent;
      const std::byte* source = from + (row / count * whole.extent + index) * bytes;
      std::memcpy(to + row * bytes + begin, source + begin, static_cast<size_t>(size));
    }
  });
  return {};
}

}  // namespace

std::span<const Variant> movement_variants(OpId op) {
  if (op == OpId::Concat) {
    static const auto variants = with_reference(op, {{.name = "blocks",
                                                      .run = run_concat_blocks,
                                                      .bind = bind_concat_blocks,
                                                      .reads_dims = true,
                                                      .layouts = Variant::For::Blocks},
                                                     {"copies", run_concat, bind_movement, true}});
    return variants;
  }
  if (op == OpId::Split) {
    static const auto variants = with_reference(op, {{.name = "blocks",
                                                      .run = run_split_blocks,
                                                      .bind = bind_split_blocks,
                                                      .reads_dims = true,
                                                      .layouts = Variant::For::Blocks},
                                                     {"copies", run_split, bind_movement, true}});
    return variants;
  }
#define MOVEMENT(name, run)                                                                  \
  case OpId::name: {                                                                         \
    static const auto variants = with_reference(op, {{"copies", run, bind_movement, true}}); \
    return variants;                                                                         \
  }
  switch (op) {
    MOVEMENT(DepthToSpace, run_depth_to_space)
    MOVEMENT(Expand, run_expand)
    MOVEMENT(Gather, run_gather)
    MOVEMENT(Slice, run_slice)
    MOVEMENT(SpaceToDepth, run_space_to_depth)
    case OpId::Tile: {
      static const auto variants = with_reference(op, {{"copies", run_tile, bind_tile, true}});
      return variants;
    }
      MOVEMENT(Transpose, run_transpose)
    default:
      return {};
  }
#undef MOVEMENT
}

}  // namespace tenon

// Values from rows to blocks of 16 channels and back.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/kernel.h"

namespace tenon {

namespace {

// Channels that begin at a block of their own.
struct Piece {
  int64_t first_channel, channels, first_block;
};

struct ReorderState {
  std::vector<Piece> pieces;  // one for each block
  int64_t images = 0, channels = 0;
  // Spatial axes as planes of rows of columns, without and with border.
  int64_t planes = 1, rows = 1, columns = 1;
  int64_t border_planes = 0, border_rows = 0, border_columns = 0;

  int64_t plane_size() const { return planes * rows * columns; }
  int64_t stored_columns() const { return columns + 2 * border_columns; }
  int64_t stored_rows() const { return rows + 2 * border_rows; }
  int64_t stored_block() const { return (planes + 2 * border_planes) * stored_rows() * stored_columns() * kLanes; }
  // Where the row of a block begins, its border left out.
  int64_t row_offset(int64_t plane, int64_t row) const {
    return (((plane + border_planes) * stored_rows() + row + border_rows) * stored_columns() + border_columns) * kLanes;
  }
};

Result<ReorderState> state_of(const TensorView& value, const ValueLayout& layout) {
  const Dims dims = value.dims;
  if (dims.size() < 3 || dims.size() > 5)
    return error(Code::Unsupported, "a value in blocks has 1 to 3 spatial axes, but this one has {} axes in total",
                 dims.size());
  ReorderState s;
  s.images = dims[0];
  s.channels = dims[1];
  s.columns = dims.back();
  s.border_columns = layout.border;
  if (dims.size() > 3) {
    s.rows = dims[dims.size() - 2];
    s.border_rows = layout.border;
  }
  if (dims.size() > 4) {
    s.planes = dims[2];
    s.border_planes = layout.border;
  }
  const std::vector<int64_t> whole{s.channels};
  int64_t channel = 0;
  for (const int64_t part : layout.segments.empty() ? whole : layout.segments) {
    for (int64_t c = 0; c < part; c += kLanes)
      s.pieces.push_back({channel + c, std::min(kLanes, part - c), static_cast<int64_t>(s.pieces.size())});
    channel += part;
  }
  return s;
}

Result<KernelState> bound(Result<ReorderState> state) {
  TN_RETURN_IF_ERROR(state.status());
  const int64_t chunks = state->images * static_cast<int64_t>(state->pieces.size());
  return KernelState{std::make_shared<const ReorderState>(std::move(*state)), 0, std::max<int64_t>(1, chunks)};
}

Result<KernelState> bind_to_blocks(const BindRequest& r) {
  if (r.input_layouts.empty() || !r.input_layouts[0].is_plain() || r.output_layouts[0].is_plain())
    return error(Code::Unsupported, "it does not convert from plain to blocks");
  return bound(state_of(r.outputs[0], r.output_layouts[0]));
}

Result<KernelState> bind_from_blocks(const BindRequest& r) {
  if (r.input_layouts.empty() || r.input_layouts[0].is_plain() || !r.output_layouts[0].is_plain())
    return error(Code::Unsupported, "it does not convert from blocks to plain");
  return bound(state_of(r.inputs[0], r.input_layouts[0]));
}

// Calls f(row of x, row of the block) for every row of a block.
template <class F>
void for_each_row(const ReorderState& s, float* x, float* block, F&& f) {
  for (int64_t plane = 0; plane < s.planes; ++plane)
    for (int64_t row = 0; row < s.rows; ++row)
      f(x + (plane * s.rows + row) * s.columns, block + s.row_offset(plane, row));
}

template <class F>
Status for_each_block(KernelContext& c, float* plain, float* blocked, F&& f) {
  const auto& s = c.state<ReorderState>();
  const auto blocks = static_cast<int64_t>(s.pieces.size());
  c.parallel_for(s.images * blocks, [&](int64_t chunk) {
    const Piece& piece = s.pieces[static_cast<size_t>(chunk % blocks)];
    const int64_t image = chunk / blocks;
    f(s, piece, plain + (image * s.channels + piece.first_channel) * s.plane_size(),
      blocked + chunk * s.stored_block());
  });
  return {};
}

Status run_to_blocks(KernelContext& c) {
  if (c.in(0).size() == 0) return {};
  return for_each_block(c, c.in(0).as<float>().data(), static_cast<float*>(c.out(0).data),
                        [](const ReorderState& s, const Piece& piece, float* x, float* block) {
                          // Borders and the lanes of channels that are not there hold zero.
                          std::fill_n(block, s.stored_block(), 0.0f);
                          for_each_row(s, x, block, [&](const float* from, float* to) {
                            for (int64_t i = 0; i < s.columns; ++i)
                              for (int64_t lane = 0; lane < piece.channels; ++lane)
                                to[i * kLanes + lane] = from[lane * s.plane_size() + i];
                          });
                        });
}

Status run_from_blocks(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  return for_each_block(c, c.out(0).as<float>().data(), static_cast<float*>(c.in(0).data),
                        [](const ReorderState& s, const Piece& piece, float* x, float* block) {
                          for_each_row(s, x, block, [&](float* to, const float* from) {
                            for (int64_t lane = 0; lane < piece.channels; ++lane)
                              for (int64_t i = 0; i < s.columns; ++i)
                                to[lane * s.plane_size() + i] = from[i * kLanes + lane];
                          });
                        });
}

}  // namespace

std::span<const Variant> reorder_variants() {
  static constexpr Variant kVariants[] = {{"to blocks", run_to_blocks, bind_to_blocks},
                                          {"from blocks", run_from_blocks, bind_from_blocks}};
  return kVariants;
}

}  // namespace tenon

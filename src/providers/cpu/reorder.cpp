// Values from rows to blocks of 16 channels and back.
#include <algorithm>

#include "base/checked_math.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pack.h"
#include "providers/cpu/to_rows.h"

namespace tenon {

namespace {

// Columns of a row that are worth a chunk of their own.
constexpr int64_t kReorderColumns = 2048;

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

  int64_t parts = 1;  // of a block, each some columns of every row
  bool (*to_block)(const float* const* rows, int64_t count, const float* scale, bool streaming, float* to) = nullptr;
  ToRowsFunction to_rows = nullptr;

  int64_t plane_size() const { return planes * rows * columns; }
  int64_t stored_columns() const { return columns + 2 * border_columns; }
  int64_t stored_rows() const { return rows + 2 * border_rows; }
  int64_t stored_block() const { return (planes + 2 * border_planes) * stored_rows() * stored_columns() * kLanes; }
  // Where the row of a block begins, its border left out.
  int64_t row_offset(int64_t plane, int64_t row) const {
    return (((plane + border_planes) * stored_rows() + row + border_rows) * stored_columns() + border_columns) * kLanes;
  }
};

Result<ReorderState> state_of(const TensorView& value, const ValueLayout& layout, Isa isa) {
  const Dims dims = value.dims;
  if (dims.size() < 3 || dims.size() > 5)
    return error(Code::Unsupported, "a value in blocks has 1 to 3 spatial axes, but this one has {} axes in total",
                 dims.size());
  ReorderState s;
  s.images = dims[0];
  s.channels = dims[1];
  s.to_block = pack_kernels(isa).transpose;
  s.to_rows = to_rows_function(isa);
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
  if (layout.border == 0) {
    s.columns = s.plane_size();
    s.planes = s.rows = 1;
  }
  s.parts = std::max<int64_t>(1, s.columns / kReorderColumns);
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
  const int64_t chunks = state->images * static_cast<int64_t>(state->pieces.size()) * state->parts;
  return KernelState{std::make_shared<const ReorderState>(std::move(*state)), 0, std::max<int64_t>(1, chunks)};
}

Result<KernelState> bind_to_blocks(const BindRequest& r) {
  if (r.input_layouts.empty() || !r.input_layouts[0].is_plain() || r.output_layouts[0].is_plain())
    return error(Code::Unsupported, "it does not convert from plain to blocks");
  return bound(state_of(r.outputs[0], r.output_layouts[0], r.isa));
}

Result<KernelState> bind_from_blocks(const BindRequest& r) {
  if (r.input_layouts.empty() || r.input_layouts[0].is_plain() || !r.output_layouts[0].is_plain())
    return error(Code::Unsupported, "it does not convert from blocks to plain");
  return bound(state_of(r.inputs[0], r.input_layouts[0], r.isa));
}

// Calls f(piece, row of x, row of the block, their columns) for the rows of every block, cut into parts.
template <class F>
Status for_each_row(KernelContext& c, float* plain, float* blocked, F&& f) {
  const auto& s = c.state<ReorderState>();
  const auto blocks = static_cast<int64_t>(s.pieces.size());
  c.parallel_for(s.images * blocks * s.parts, [&](int64_t chunk) {
    const int64_t part = chunk % s.parts, block = chunk / s.parts;
    const int64_t first = s.columns * part / s.parts, count = s.columns * (part + 1) / s.parts - first;
    const Piece& piece = s.pieces[static_cast<size_t>(block % blocks)];
    float* x = plain + (block / blocks * s.channels + piece.first_channel) * s.plane_size() + first;
    float* y = blocked + block * s.stored_block() + first * kLanes;
    for (int64_t plane = 0; plane < s.planes; ++plane)
      for (int64_t row = 0; row < s.rows; ++row)
        f(s, piece, x + (plane * s.rows + row) * s.columns, y + s.row_offset(plane, row), count);
  });
  return {};
}

void clear_border(const ReorderState& s, float* blocked) {
  if (s.stored_block() == s.plane_size() * kLanes) return;
  std::fill_n(blocked, s.images * static_cast<int64_t>(s.pieces.size()) * s.stored_block(), 0.0f);
}

Status run_to_blocks(KernelContext& c) {
  if (c.in(0).size() == 0) return {};
  auto* blocked = static_cast<float*>(c.out(0).data);
  clear_border(c.state<ReorderState>(), blocked);
  return for_each_row(c, c.in(0).as<float>().data(), blocked,
                      [](const ReorderState& s, const Piece& piece, const float* x, float* block, int64_t count) {
                        const float* rows[kLanes];
                        for (int64_t lane = 0; lane < kLanes; ++lane)
                          rows[lane] = x + std::min(lane, piece.channels - 1) * s.plane_size();
                        s.to_block(rows, count, nullptr, false, block);
                        // The lanes of channels that are not there hold zero.
                        for (int64_t i = 0; piece.channels < kLanes && i < count; ++i)
                          std::fill(block + i * kLanes + piece.channels, block + (i + 1) * kLanes, 0.0f);
                      });
}

Status run_from_blocks(KernelContext& c) {
  if (c.out(0).size() == 0) return {};
  return for_each_row(c, c.out(0).as<float>().data(), static_cast<float*>(c.in(0).data),
                      [](const ReorderState& s, const Piece& piece, float* x, const float* block, int64_t count) {
                        if (piece.channels == kLanes) return s.to_rows(block, kLanes, count, x, s.plane_size());
                        for (int64_t lane = 0; lane < piece.channels; ++lane)
                          for (int64_t i = 0; i < count; ++i) x[lane * s.plane_size() + i] = block[i * kLanes + lane];
                      });
}

}  // namespace

std::span<const Variant> reorder_variants() {
  static constexpr Variant kVariants[] = {
      {.name = "to blocks", .run = run_to_blocks, .bind = bind_to_blocks, .layouts = Variant::For::Blocks},
      {.name = "from blocks", .run = run_from_blocks, .bind = bind_from_blocks, .layouts = Variant::For::Blocks}};
  return kVariants;
}

}  // namespace tenon

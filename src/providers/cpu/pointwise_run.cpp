// Runs bound pointwise expressions, tile by tile.
#include <algorithm>
#include <cstring>

#include "providers/cpu/pointwise_state.h"
#include "providers/provider.h"

namespace tenon {

namespace {

using Place = PointwiseProgram::Place;
using Access = PointwiseTiles::Access;

// How many elements ahead inputs of large results are fetched.
constexpr float kFetchedAhead = 4096;

class PointwiseRun {
 public:
  PointwiseRun(KernelContext& c, const PointwiseState& state, const PointwiseSchedule& schedule)
      : c_(c), state_(state), tiles_(schedule.tiles), schedule_(schedule), layout_(state), streams_(may_stream()) {}

  void chunk(int64_t number) {
    ThreadMemory m{c_.scratch<std::byte>(), {}, {}};
    find_data(m);
    write_steps(m);
    Addresses at{};
    for (size_t i = 0; i < state_.inputs.size(); ++i)
      if (tiles_.access(i) == Access::Number) at.inputs[i] = number_place(m, i, 0);
    for (int64_t t = tiles_.first_tile(number); t < tiles_.end_tile(number); ++t) run_tile(m, tiles_.tile(t), at);
    if (streams_) finish_streams();
  }

 private:
  struct ThreadMemory {
    std::byte* scratch;
    std::array<const std::byte*, kMostPointwiseInputs> data;  // where each input begins
    std::span<PointwiseStep> steps;                           // as many as the state has, and others around them
    std::byte* input_elements(size_t i) const {
      return scratch + static_cast<int64_t>(i) * PointwiseScratch::kInputBytes;
    }
  };
  // Of the first elements of a tile.
  struct Addresses {
    std::array<std::byte*, kMostPointwiseInputs> inputs;
    std::array<std::byte*, kMostPointwiseInstructions> outputs;
  };

  void find_data(ThreadMemory& m) const {
    std::byte* padded = m.scratch + layout_.padded;
    for (size_t i = 0; i < state_.inputs.size(); ++i) {
      m.data[i] = static_cast<const std::byte*>(c_.in(i).data);
      if (state_.padded_bytes == 0) continue;
      const size_t rank = c_.out(state_.any_output).dims.size();
      const auto padding = state_.stored_dims(c_.in(i).dims, state_.inputs[i].is_blocked, rank).padding();
      if (padding.images == 0) continue;
      const auto bytes = static_cast<size_t>(padding.channels * state_.inputs[i].element_bytes);
      const auto stored = static_cast<size_t>(padding.stored * state_.inputs[i].element_bytes);
      const std::byte* from = m.data[i];
      m.data[i] = padded;
      for (int64_t image = 0; image < padding.images; ++image, from += bytes, padded += stored) {
        std::memcpy(padded, from, bytes);
        std::memset(padded + bytes, 0, stored - bytes);
      }
    }
  }

  void write_steps(ThreadMemory& m) const {
    auto* const first = reinterpret_cast<PointwiseStep*>(m.scratch + layout_.steps);
    PointwiseStep* step = first;
    for (size_t i = 0; fetches() && i < state_.inputs.size(); ++i)
      if (is_fetched(i)) *step++ = {state_.fetch, {nullptr, nullptr}, {~size_t{0}, 0}, {kFetchedAhead, 0}};
    for (const BoundPointwiseStep& from : state_.steps) {
      PointwiseStep to{from.in_memory, {nullptr, nullptr}, {0, 0}, {from.numbers[0], from.numbers[1]}};
      if (schedule_.takes_numbers(from)) to.function = from.of_numbers;
      if (streams_ && from.streamed) to.function = from.streamed;
      for (size_t k = 0; k < from.place_count; ++k) {
        const Place& place = from.operands[k];
        if (place.kind == Place::Kind::Slot)
          to.places[k] = m.scratch + layout_.slots + static_cast<int64_t>(place.number) * PointwiseScratch::kBlockBytes;
        else if (place.kind == Place::Kind::Output || !PointwiseTiles::is_number(tiles_.access(place.number)))
          to.moves[k] = ~size_t{0};
      }
      if (from.puts_block_aside) to.places[1] = m.scratch + layout_.aside;
      *step++ = to;
    }
    *step++ = {state_.end, {nullptr, nullptr}, {0, 0}, {0, 0}};
    m.steps = {first, step};
  }
  // Narrow vectors take so long that inputs come from memory in time by themselves.
  bool fetches() const { return streams_ && state_.block == kMostBlockElements; }
  bool is_fetched(size_t i) const {
    return tiles_.access(i) == Access::Dense && state_.inputs[i].dtype == DType::Float32;
  }

  void set_places(const ThreadMemory& m, const Addresses& at) const {
    PointwiseStep* step = m.steps.data();
    for (size_t i = 0; fetches() && i < state_.inputs.size(); ++i)
      if (is_fetched(i)) step++->places[0] = at.inputs[i];
    for (const BoundPointwiseStep& from : state_.steps) {
      for (size_t k = 0; k < from.place_count; ++k) {
        const Place& place = from.operands[k];
        if (place.kind == Place::Kind::Input) step->places[k] = at.inputs[place.number];
        if (place.kind == Place::Kind::Output) step->places[k] = at.outputs[place.number];
      }
      ++step;
    }
  }

  void run_tile(const ThreadMemory& m, const PointwiseTiles::Tile& tile, Addresses& at) const {
    for (size_t i = 0; i < state_.inputs.size(); ++i)
      if (tiles_.access(i) != Access::Number) at.inputs[i] = input_place(m, i, tile);
    for (size_t k = 0; k < state_.outputs.size(); ++k)
      if (c_.wants(k))
        at.outputs[k] = static_cast<std::byte*>(c_.out(k).data) + tile.position * state_.outputs[k].element_bytes;
    const int64_t rest = tile.count % state_.block, whole = tile.count - rest;
    if (whole > 0) {
      set_places(m, at);
      state_.run(m.steps.data(), static_cast<size_t>(whole));
    }
    if (rest > 0) run_rest(m, at, whole, rest);
  }

  // Less than a block, in memory that has room for one.
  void run_rest(const ThreadMemory& m, const Addresses& tile, int64_t first, int64_t count) const {
    Addresses at = tile;
    for (size_t i = 0; i < state_.inputs.size(); ++i) {
      if (PointwiseTiles::is_number(tiles_.access(i))) continue;
      at.inputs[i] += first * state_.inputs[i].element_bytes;
      if (tiles_.access(i) == Access::Gathered) continue;
      const auto bytes = static_cast<size_t>(count * state_.inputs[i].element_bytes);
      at.inputs[i] = static_cast<std::byte*>(std::memcpy(m.input_elements(i), at.inputs[i], bytes));
    }
    for (size_t k = 0; k < state_.outputs.size(); ++k)
      at.outputs[k] = m.scratch + layout_.outputs + static_cast<int64_t>(k) * PointwiseScratch::kBlockBytes;
    set_places(m, at);
    state_.run(m.steps.data(), static_cast<size_t>(state_.block));
    for (size_t k = 0; k < state_.outputs.size(); ++k) {
      const int64_t bytes = state_.outputs[k].element_bytes;
      if (c_.wants(k)) std::memcpy(tile.outputs[k] + first * bytes, at.outputs[k], static_cast<size_t>(count * bytes));
    }
  }

  // Operands are only read.
  static std::byte* readable(const std::byte* p) { return const_cast<std::byte*>(p); }

  std::byte* input_place(const ThreadMemory& m, size_t i, const PointwiseTiles::Tile& tile) const {
    const int64_t bytes = state_.inputs[i].element_bytes;
    switch (tiles_.access(i)) {
      case Access::Gathered:
        tiles_.gather(i, tile, m.data[i], bytes, m.input_elements(i));
        return m.input_elements(i);
      case Access::RowNumber:
        return number_place(m, i, tiles_.offset(i, tile));
      default:
        return readable(m.data[i] + tiles_.offset(i, tile) * bytes);
    }
  }

  // A number is where it is, or in every element of a block.
  std::byte* number_place(const ThreadMemory& m, size_t i, int64_t offset) const {
    const int64_t bytes = state_.inputs[i].element_bytes;
    const std::byte* number = m.data[i] + offset * bytes;
    if (!schedule_.is_spread[i]) return readable(number);
    std::byte* block = m.input_elements(i);
    std::memcpy(block, number, static_cast<size_t>(bytes));
    repeat_first(block, bytes, state_.block * bytes);
    return block;
  }

  // Stores past the caches begin at whole cache lines.
  bool may_stream() const {
    if (!tiles_.are_large() || !tiles_.begin_at_multiples_of(16)) return false;
    for (size_t k = 0; k < state_.outputs.size(); ++k)
      if (c_.wants(k) && reinterpret_cast<uintptr_t>(c_.out(k).data) % 64 != 0) return false;
    return true;
  }

  KernelContext& c_;
  const PointwiseState& state_;
  const PointwiseTiles& tiles_;
  const PointwiseSchedule& schedule_;
  const PointwiseScratch layout_;
  const bool streams_;
};

}  // namespace

PointwiseScratch::PointwiseScratch(const PointwiseState& state) {
  const size_t steps_at_most = state.steps.size() + state.inputs.size() + 1;
  outputs = static_cast<int64_t>(state.inputs.size()) * kInputBytes;
  slots = outputs + static_cast<int64_t>(state.outputs.size()) * kBlockBytes;
  aside = slots + static_cast<int64_t>(state.slots) * kBlockBytes;
  steps = aside + 2 * kBlockBytes;
  padded = steps + static_cast<int64_t>((steps_at_most * sizeof(PointwiseStep) + 63) / 64 * 64);
  end = padded + state.padded_bytes;
}

void run_pointwise_chunks(KernelContext& c, const PointwiseState& state, const PointwiseSchedule& schedule) {
  PointwiseRun run(c, state, schedule);
  c.parallel_for(schedule.tiles.chunks(), [&](int64_t chunk) { run.chunk(chunk); });
}

}  // namespace tenon

// Expressions that are computed element by element, a tile at a time: every instruction runs over a tile that stays in
// the first-level cache, so that only operands and results go through memory.
#include "ops/pointwise.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/checked_math.h"
#include "providers/cpu/broadcast_grid.h"
#include "providers/cpu/kernel.h"
#include "providers/cpu/pointwise_simd.h"
#include "providers/cpu/rows.h"
#include "providers/cpu/stored_dims.h"

namespace tenon {

namespace {

// Elements of a tile. Eight of them fit into half a first-level cache.
constexpr int64_t kTile = 512;
// Chunks of about this much work are worth a thread: additions of numbers, where a transcendental function counts as
// many.
constexpr int64_t kExpressionWork = 1 << 16;
constexpr int64_t kFunctionWork = 6;
// Results of so many elements are in no cache when somebody reads them.
constexpr int64_t kStreamedElements = 1 << 22;
// How far ahead inputs of such results are fetched.
constexpr int64_t kTilesAhead = 2;

static_assert(kMostPointwiseInputs <= kMostGridOperands);

using Functions = std::array<PointwiseFunction, 3>;  // by TileForm; null: there is none

struct Instruction {
  Functions functions{};
  int operands = 0;
  // Of inputs: their number. Of results: inputs + their register.
  std::array<size_t, PointwiseInstruction::kMostOperands> operand{};
  size_t result = 0;  // a register
  std::array<float, PointwiseInstruction::kNumbers> numbers{};
};

struct Input {
  LoadFunction load = nullptr;  // null: float32
  int64_t element_bytes = 4;
  bool is_blocked = false;
};

struct Output {
  StoreFunction store = nullptr;  // null: float32
  int64_t element_bytes = 4;
  size_t result = 0;  // the register
  size_t output = 0;  // its number
};

bool is_function(PointwiseOp op, Isa isa) { return function_tile(op, isa) || scalar_tile(op, TileForm::Vectors); }

Functions functions_of(PointwiseOp op, Isa isa) {
  const auto all_forms = [](auto&& of_form) {
    return Functions{of_form(TileForm::Vectors), of_form(TileForm::FirstNumber), of_form(TileForm::SecondNumber)};
  };
  switch (op) {
    case PointwiseOp::Cos:
    case PointwiseOp::Pow:
    case PointwiseOp::Sin:
      return all_forms([&](TileForm form) { return scalar_tile(op, form); });
    case PointwiseOp::RoundToFloat16:
      return {rounding_tile(DType::Float16, isa)};
    case PointwiseOp::RoundToBFloat16:
      return {rounding_tile(DType::BFloat16, isa)};
    default:
      if (const PointwiseFunction f = function_tile(op, isa)) return {f};
      return all_forms([&](TileForm form) { return arithmetic_tile(op, form, isa); });
  }
}

// The last instruction that reads each result; results of the node are read in the end.
std::vector<size_t> last_readers(const PointwiseParams& p, size_t inputs) {
  std::vector<size_t> last(p.size(), 0);
  for (size_t i = 0; i < p.size(); ++i) {
    const PointwiseInstruction instruction = p.at(i);
    for (int k = 0; k < pointwise_info(instruction.op).operands; ++k)
      if (const auto operand = static_cast<size_t>(instruction.operands[k]); operand >= inputs)
        last[operand - inputs] = i;
  }
  for (const int64_t r : p.results) last[static_cast<size_t>(r)] = p.size();
  return last;
}

// Registers are free again after the last instruction that reads them, which may already write to them.
std::vector<size_t> assign_registers(const PointwiseParams& p, size_t inputs, size_t& count) {
  const std::vector<size_t> last = last_readers(p, inputs);
  std::vector<size_t> registers(p.size()), free;
  count = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (last[j] == i) free.push_back(registers[j]);
    if (free.empty()) free.push_back(count++);
    registers[i] = free.back();
    free.pop_back();
    // Nobody reads it.
    if (last[i] <= i) free.push_back(registers[i]);
  }
  return registers;
}

// How a run cuts its elements: into parts of rows, or into groups of short rows.
struct Tiling {
  BroadcastGrid grid;
  int64_t rows_per_tile = 1, tiles_per_row = 1, tiles = 0, tiles_per_chunk = 1;

  Tiling(Dims result, std::span<const Dims> operands, int64_t work) : grid(result, operands) {
    if (grid.row * 2 <= kTile && grid.rows > 1) {
      rows_per_tile = std::min(grid.rows, kTile / grid.row);
      tiles = ceil_div(grid.rows, rows_per_tile);
    } else {
      tiles_per_row = ceil_div(grid.row, kTile);
      tiles = grid.rows * tiles_per_row;
    }
    const int64_t tile_work = std::min(kTile, rows_per_tile * grid.row) * work;
    tiles_per_chunk = std::max<int64_t>(1, kExpressionWork / tile_work);
  }
  int64_t chunks() const { return ceil_div(tiles, tiles_per_chunk); }
};

struct Tile {
  int64_t first_row = 0, rows = 1, first_column = 0, columns = 0;
  int64_t count() const { return rows * columns; }
};

Tile tile_at(const Tiling& tiling, int64_t number) {
  const BroadcastGrid& grid = tiling.grid;
  if (tiling.rows_per_tile > 1 || tiling.tiles_per_row == 1) {
    const int64_t row = number * tiling.rows_per_tile;
    return {row, std::min(tiling.rows_per_tile, grid.rows - row), 0, grid.row};
  }
  const int64_t column = number % tiling.tiles_per_row * kTile;
  return {number / tiling.tiles_per_row, 1, column, std::min(kTile, grid.row - column)};
}

// How a run has an input: by what the shapes of this run say of it.
struct Operand {
  enum class Kind : uint8_t { Dense, Number, Rows };
  Kind kind = Kind::Dense;
  bool is_number_in_tile = false;  // one element per tile; the functions take it as it is where they can
  bool is_spread = false;          // ... and some function needs it in every lane
};

// What follows from the shapes of a run.
struct Schedule {
  Tiling tiling;
  size_t inputs = 0;
  std::array<Operand, kMostPointwiseInputs> operands;
  std::array<TileForm, kMostPointwiseInstructions> forms{};  // of the instructions

  Schedule(const std::vector<Instruction>& code, Dims result, std::span<const Dims> dims, int64_t work)
      : tiling(result, dims, work), inputs(dims.size()) {
    for (size_t i = 0; i < inputs; ++i) operands[i] = operand_of(i);
    for (size_t i = 0; i < code.size(); ++i) forms[i] = choose_form(code[i]);
  }

 private:
  Operand operand_of(size_t i) const {
    const BroadcastGrid& grid = tiling.grid;
    if (grid.is_number(i)) return {Operand::Kind::Number, true, false};
    if (grid.is_dense(i)) return {Operand::Kind::Dense, false, false};
    return {Operand::Kind::Rows, tiling.rows_per_tile == 1 && grid.repeats_in_row(i), false};
  }

  // Operands that are one number stay one where the instruction has a form for that.
  TileForm choose_form(const Instruction& instruction) {
    const auto is_number = [&](int k) {
      const size_t place = instruction.operand[static_cast<size_t>(k)];
      return place < inputs && operands[place].is_number_in_tile;
    };
    const auto has = [&](TileForm form) { return instruction.functions[static_cast<size_t>(form)] != nullptr; };
    TileForm form = TileForm::Vectors;
    if (instruction.operands == 2 && is_number(1) && has(TileForm::SecondNumber))
      form = TileForm::SecondNumber;
    else if (instruction.operands == 2 && is_number(0) && has(TileForm::FirstNumber))
      form = TileForm::FirstNumber;
    for (int k = 0; k < instruction.operands; ++k) {
      const bool as_number = (k == 0 && form == TileForm::FirstNumber) || (k == 1 && form == TileForm::SecondNumber);
      if (is_number(k) && !as_number) operands[instruction.operand[static_cast<size_t>(k)]].is_spread = true;
    }
    return form;
  }
};

struct PointwiseState {
  std::vector<Instruction> code;
  std::vector<Input> inputs;
  std::vector<Output> stored;      // after the last instruction, from registers
  std::optional<size_t> written;   // the output that the last instruction writes itself
  StoreFunction stream = nullptr;  // of large results in float32
  size_t registers = 0;
  int64_t work = 0;        // of an element
  size_t any_output = 0;   // that is wanted; all have one shape
  bool in_blocks = false;  // the outputs lie in blocks of channels
  // For the shapes that it was bound with.
  std::vector<std::vector<int64_t>> bound_dims;
  std::optional<Schedule> schedule;

  // Behind the scratch memory: inputs with a number for each channel, in whole blocks.
  int64_t padded_floats = 0;

  int64_t scratch_floats() const { return static_cast<int64_t>(inputs.size() + registers) * kTile; }

  StoredDims stored_dims(Dims dims, bool is_blocked, size_t rank) const {
    return in_blocks ? StoredDims::in_blocks(dims, is_blocked, rank) : StoredDims(dims);
  }
  // For a result and inputs of these dims.
  Schedule schedule_for(Dims result, std::span<const Dims> logical) const {
    std::array<StoredDims, kMostPointwiseInputs> in_memory;
    std::array<Dims, kMostPointwiseInputs> dims;
    for (size_t i = 0; i < logical.size(); ++i) {
      in_memory[i] = stored_dims(logical[i], inputs[i].is_blocked, result.size());
      dims[i] = in_memory[i].dims();
    }
    const StoredDims whole = stored_dims(result, true, result.size());
    return Schedule(code, whole.dims(), std::span(dims).first(logical.size()), work);
  }
};

// Whether a step in blocks can be run: what is not in blocks broadcasts along them.
Status check_blocks(const BindRequest& request, Dims result) {
  if (result.size() < 3 || result.size() + 1 > kMostGridAxes)
    return error(Code::Unsupported, "its result has {} axes", result.size());
  for (size_t i = 0; i < request.outputs.size(); ++i)
    if (request.outputs[i].dtype != DType::Undefined && !is_blocked(request.output_layouts, i))
      return error(Code::Unsupported, "only some of its results are in blocks");
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const Dims dims = request.inputs[i].dims;
    const bool fits =
        is_blocked(request.input_layouts, i) ? std::ranges::equal(dims, result) : fits_blocks(dims, result.size());
    if (!fits) return error(Code::Unsupported, "input {} is not in blocks and does not broadcast along them", i);
  }
  return {};
}

bool any_blocked(std::span<const ValueLayout> layouts) {
  return std::ranges::any_of(layouts, [](const ValueLayout& layout) { return !layout.is_plain(); });
}

Result<KernelState> bind_pointwise(const BindRequest& request) {
  const auto& p = request.params.get<PointwiseParams>();
  const size_t inputs = request.inputs.size();
  for (const TensorView& output : request.outputs)
    if (output.dims.size() > kMostGridAxes) return error(Code::Unsupported, "it has more than {} axes", kMostGridAxes);
  auto state = std::make_shared<PointwiseState>();
  const std::vector<size_t> registers = assign_registers(p, inputs, state->registers);
  const auto place_of = [&](int64_t operand) {
    const auto n = static_cast<size_t>(operand);
    return n < inputs ? n : inputs + registers[n - inputs];
  };
  for (size_t i = 0; i < inputs; ++i) {
    const DType dtype = request.inputs[i].dtype;
    state->inputs.push_back(
        {load_function(dtype, request.isa), *storage_bytes(dtype, 1), is_blocked(request.input_layouts, i)});
  }
  for (size_t i = 0; i < p.size(); ++i) {
    const PointwiseInstruction from = p.at(i);
    Instruction to{functions_of(from.op, request.isa), pointwise_info(from.op).operands, {}, registers[i], {}};
    for (int k = 0; k < to.operands; ++k) to.operand[static_cast<size_t>(k)] = place_of(from.operands[k]);
    std::ranges::copy(from.numbers, to.numbers.begin());
    state->work += is_function(from.op, request.isa) ? kFunctionWork : 1;
    state->code.push_back(to);
  }
  for (size_t i = 0; i < request.outputs.size(); ++i) {
    const TensorView& output = request.outputs[i];
    if (output.dtype == DType::Undefined) continue;
    const auto result = static_cast<size_t>(p.results[i]);
    const bool is_once = std::ranges::count(p.results, p.results[i]) == 1;
    if (output.dtype == DType::Float32 && result + 1 == p.size() && is_once)
      state->written = i;
    else
      state->stored.push_back(
          {store_function(output.dtype, request.isa), *storage_bytes(output.dtype, 1), registers[result], i});
    state->any_output = i;
  }
  std::vector<Dims> dims;
  for (const TensorView& input : request.inputs) {
    dims.push_back(input.dims);
    state->bound_dims.emplace_back(input.dims.begin(), input.dims.end());
  }
  const Dims result = request.outputs[state->any_output].dims;
  state->stream = stream_function(request.isa);
  state->in_blocks = any_blocked(request.input_layouts) || any_blocked(request.output_layouts);
  if (state->in_blocks) {
    TN_RETURN_IF_ERROR(check_blocks(request, result));
    for (size_t i = 0; i < inputs; ++i) {
      const auto padding = state->stored_dims(dims[i], state->inputs[i].is_blocked, result.size()).padding();
      state->padded_floats += padding.images * padding.stored;
    }
  }
  if (count_of(result) > 0) state->schedule = state->schedule_for(result, dims);
  const int64_t scratch = (state->scratch_floats() + state->padded_floats) * static_cast<int64_t>(sizeof(float));
  return KernelState{std::move(state), scratch};
}

// The first elements, again and again, up to `count`. Copies twice as much each time, so that it is vectors that move.
void repeat_first(float* elements, int64_t first, int64_t count) {
  for (int64_t done = first; done < count; done *= 2)
    std::memcpy(elements + done, elements, static_cast<size_t>(std::min(done, count - done)) * sizeof(float));
}
void spread_first(float* elements, int64_t count) { repeat_first(elements, 1, count); }

class Run {
 public:
  Run(KernelContext& c, const PointwiseState& state, const Schedule& schedule)
      : c_(c), state_(state), tiling_(schedule.tiling), schedule_(schedule), streams_(may_stream()) {}

  void chunk(int64_t number) {
    float* const scratch = c_.scratch<float>();
    const Data data = find_data(scratch + state_.scratch_floats());
    Elements elements{};
    for (size_t i = 0; i < schedule_.inputs; ++i)
      if (schedule_.operands[i].kind == Operand::Kind::Number)
        elements[i] = number_everywhere(i, data, scratch + static_cast<int64_t>(i) * kTile);
    const int64_t first = number * tiling_.tiles_per_chunk;
    const int64_t end = std::min(tiling_.tiles, first + tiling_.tiles_per_chunk);
    for (int64_t t = first; t < end; ++t) run_tile(tile_at(tiling_, t), data, scratch, elements);
    if (streams_) finish_streams();
  }

 private:
  // Where the elements of each input are for a tile. Inputs that are one number keep their place for the whole chunk.
  using Elements = std::array<const float*, kMostPointwiseInputs>;
  // Where each input begins.
  using Data = std::array<const std::byte*, kMostPointwiseInputs>;

  Data find_data(float* padded) const {
    Data data{};
    for (size_t i = 0; i < schedule_.inputs; ++i) {
      data[i] = static_cast<const std::byte*>(c_.in(i).data);
      if (state_.padded_floats == 0) continue;
      const Dims result = c_.out(state_.any_output).dims;
      const auto padding = state_.stored_dims(c_.in(i).dims, state_.inputs[i].is_blocked, result.size()).padding();
      if (padding.images == 0) continue;
      float* const first = padded;
      data[i] = reinterpret_cast<const std::byte*>(first);
      const int64_t bytes = state_.inputs[i].element_bytes;
      for (int64_t image = 0; image < padding.images; ++image, padded += padding.stored) {
        const auto* from = static_cast<const std::byte*>(c_.in(i).data) + image * padding.channels * bytes;
        auto* to = reinterpret_cast<std::byte*>(first) + image * padding.stored * bytes;
        std::memset(to, 0, static_cast<size_t>(padding.stored * bytes));
        std::memcpy(to, from, static_cast<size_t>(padding.channels * bytes));
      }
    }
    return data;
  }

  void run_tile(const Tile& tile, const Data& data, float* scratch, Elements& elements) const {
    const size_t inputs = schedule_.inputs;
    for (size_t i = 0; i < inputs; ++i)
      if (schedule_.operands[i].kind != Operand::Kind::Number)
        elements[i] = prepare(i, data, tile, scratch + static_cast<int64_t>(i) * kTile);
    float* const registers = scratch + static_cast<int64_t>(inputs) * kTile;
    const int64_t count = tile.count(), position = tile.first_row * tiling_.grid.row + tile.first_column;
    if (streams_) fetch_ahead(data, position + kTilesAhead * kTile);
    for (size_t i = 0; i < state_.code.size(); ++i) {
      const Instruction& instruction = state_.code[i];
      std::array<const float*, PointwiseInstruction::kMostOperands> at{};
      for (size_t k = 0; k < static_cast<size_t>(instruction.operands); ++k) {
        const size_t place = instruction.operand[k];
        at[k] = place < inputs ? elements[place] : registers + static_cast<int64_t>(place - inputs) * kTile;
      }
      float* out = registers + static_cast<int64_t>(instruction.result) * kTile;
      if (state_.written && !streams_ && i + 1 == state_.code.size())
        out = static_cast<float*>(c_.out(*state_.written).data) + position;
      instruction.functions[static_cast<size_t>(schedule_.forms[i])](at.data(), out, count, instruction.numbers.data());
    }
    if (streams_)
      state_.stream(registers + static_cast<int64_t>(state_.code.back().result) * kTile,
                    static_cast<float*>(c_.out(*state_.written).data) + position, count);
    for (const Output& o : state_.stored) {
      const float* from = registers + static_cast<int64_t>(o.result) * kTile;
      auto* to = static_cast<std::byte*>(c_.out(o.output).data) + position * o.element_bytes;
      if (o.store)
        o.store(from, to, count);
      else
        std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
    }
  }

  // Elements that a later tile reads, which come from memory while this one is computed.
  void fetch_ahead(const Data& data, int64_t position) const {
    for (size_t i = 0; i < schedule_.inputs; ++i) {
      if (schedule_.operands[i].kind != Operand::Kind::Dense) continue;
      const int64_t bytes = state_.inputs[i].element_bytes;
      for (int64_t at = 0; at < kTile * bytes; at += 64) __builtin_prefetch(data[i] + position * bytes + at);
    }
  }

  // Elements of an input as float32.
  void load(size_t i, const Data& data, int64_t offset, int64_t count, float* to) const {
    const Input& input = state_.inputs[i];
    const std::byte* from = data[i] + offset * input.element_bytes;
    if (input.load)
      input.load(from, to, count);
    else
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  }

  // An input of one element: where it is, or in own memory. One that is also needed in every lane fills the memory; its
  // first element is the number then.
  const float* number_everywhere(size_t i, const Data& data, float* own) const {
    const bool is_spread = schedule_.operands[i].is_spread;
    if (!state_.inputs[i].load && !is_spread) return reinterpret_cast<const float*>(data[i]);
    load(i, data, 0, 1, own);
    if (is_spread) spread_first(own, kTile);
    return own;
  }

  // The elements of an input for a tile: where they are, or in memory of the tile's own.
  const float* prepare(size_t i, const Data& data, const Tile& tile, float* own) const {
    const Operand& operand = schedule_.operands[i];
    const Input& input = state_.inputs[i];
    if (operand.kind == Operand::Kind::Dense) {
      const int64_t offset = tile.first_row * tiling_.grid.row + tile.first_column;
      if (!input.load) return reinterpret_cast<const float*>(data[i]) + offset;
      load(i, data, offset, tile.count(), own);
      return own;
    }
    if (operand.is_number_in_tile) {
      const int64_t offset = RowCursor(tiling_.grid, i, tile.first_row).offset();
      if (!input.load && !operand.is_spread) return reinterpret_cast<const float*>(data[i]) + offset;
      load(i, data, offset, 1, own);
      if (operand.is_spread) spread_first(own, tile.count());
      return own;
    }
    RowCursor cursor(tiling_.grid, i, tile.first_row);
    if (tile.rows == 1 && !tiling_.grid.repeats_in_row(i) && !input.load)
      return reinterpret_cast<const float*>(data[i]) + cursor.offset() + tile.first_column;
    gather_rows(i, data, tile, cursor, own);
    return own;
  }

  // Several rows at once where they are the same elements.
  void gather_rows(size_t i, const Data& data, const Tile& tile, RowCursor& cursor, float* to) const {
    const bool repeats = tiling_.grid.repeats_in_row(i);
    for (int64_t row = 0; row < tile.rows;) {
      const int64_t offset = cursor.offset();
      int64_t same = 0;
      for (; row < tile.rows && cursor.offset() == offset; ++row, ++same) cursor.next();
      const int64_t first = repeats ? 1 : tile.columns;
      load(i, data, repeats ? offset : offset + tile.first_column, first, to);
      repeat_first(to, first, same * tile.columns);
      to += same * tile.columns;
    }
  }

  // Tiles begin at whole cache lines where they are parts of rows.
  bool may_stream() const {
    if (!state_.written || tiling_.grid.rows * tiling_.grid.row < kStreamedElements) return false;
    const auto place = reinterpret_cast<uintptr_t>(c_.out(*state_.written).data);
    const bool is_whole = tiling_.grid.rows == 1 || tiling_.grid.row % 16 == 0;
    return place % 64 == 0 && is_whole && tiling_.rows_per_tile == 1;
  }

  KernelContext& c_;
  const PointwiseState& state_;
  const Tiling& tiling_;
  const Schedule& schedule_;
  const bool streams_;
};

void run_chunks(KernelContext& c, const PointwiseState& state, const Schedule& schedule) {
  Run run(c, state, schedule);
  c.parallel_for(schedule.tiling.chunks(), [&](int64_t chunk) { run.chunk(chunk); });
}

bool has_bound_dims(const KernelContext& c, const PointwiseState& state) {
  for (size_t i = 0; i < c.input_count(); ++i)
    if (!std::ranges::equal(c.in(i).dims, state.bound_dims[i])) return false;
  return true;
}

Status run_pointwise(KernelContext& c) {
  const auto& state = c.state<PointwiseState>();
  const Dims result = c.out(state.any_output).dims;
  if (count_of(result) == 0) return {};
  if (has_bound_dims(c, state)) {
    run_chunks(c, state, *state.schedule);
    return {};
  }
  std::array<Dims, kMostPointwiseInputs> dims;
  for (size_t i = 0; i < c.input_count(); ++i) dims[i] = c.in(i).dims;
  run_chunks(c, state, state.schedule_for(result, std::span(dims).first(c.input_count())));
  return {};
}

}  // namespace

std::span<const Variant> pointwise_variants() {
  static const auto variants =
      with_reference(OpId::Pointwise, {{"tiles", run_pointwise, bind_pointwise, true, Variant::For::Both}});
  return variants;
}

}  // namespace tenon

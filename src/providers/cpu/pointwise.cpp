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

namespace tenon {

namespace {

// Elements of a tile. Eight of them fit into half a first-level cache.
constexpr int64_t kTile = 512;
// Chunks of about this much work are worth a thread: additions of numbers, where a transcendental function counts as
// many.
constexpr int64_t kExpressionWork = 1 << 16;
constexpr int64_t kFunctionWork = 6;

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
  std::vector<Output> stored;     // after the last instruction, from registers
  std::optional<size_t> written;  // the output that the last instruction writes itself
  size_t registers = 0;
  int64_t work = 0;       // of an element
  size_t any_output = 0;  // that is wanted; all have one shape
  // For the shapes that it was bound with.
  std::vector<std::vector<int64_t>> bound_dims;
  std::optional<Schedule> schedule;

  int64_t scratch_floats() const { return static_cast<int64_t>(inputs.size() + registers) * kTile; }
};

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
  for (const TensorView& input : request.inputs)
    state->inputs.push_back({load_function(input.dtype, request.isa), *storage_bytes(input.dtype, 1)});
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
  if (count_of(result) > 0) state->schedule.emplace(state->code, result, dims, state->work);
  const int64_t scratch = state->scratch_floats() * static_cast<int64_t>(sizeof(float));
  return KernelState{std::move(state), scratch};
}

// The first element in all the others. Copies twice as much each time, so that it is vectors that move.
void spread_first(float* elements, int64_t count) {
  for (int64_t done = 1; done < count; done *= 2)
    std::memcpy(elements + done, elements, static_cast<size_t>(std::min(done, count - done)) * sizeof(float));
}

class Run {
 public:
  Run(KernelContext& c, const PointwiseState& state, const Schedule& schedule)
      : c_(c), state_(state), tiling_(schedule.tiling), schedule_(schedule) {}

  void chunk(int64_t number) {
    float* const scratch = c_.scratch<float>();
    Elements elements{};
    for (size_t i = 0; i < schedule_.inputs; ++i)
      if (schedule_.operands[i].kind == Operand::Kind::Number)
        elements[i] = number_everywhere(i, scratch + static_cast<int64_t>(i) * kTile);
    const int64_t first = number * tiling_.tiles_per_chunk;
    const int64_t end = std::min(tiling_.tiles, first + tiling_.tiles_per_chunk);
    for (int64_t t = first; t < end; ++t) run_tile(tile_at(tiling_, t), scratch, elements);
  }

 private:
  // Where the elements of each input are for a tile. Inputs that are one number keep their place for the whole chunk.
  using Elements = std::array<const float*, kMostPointwiseInputs>;

  void run_tile(const Tile& tile, float* scratch, Elements& elements) const {
    const size_t inputs = schedule_.inputs;
    for (size_t i = 0; i < inputs; ++i)
      if (schedule_.operands[i].kind != Operand::Kind::Number)
        elements[i] = prepare(i, tile, scratch + static_cast<int64_t>(i) * kTile);
    float* const registers = scratch + static_cast<int64_t>(inputs) * kTile;
    const int64_t count = tile.count(), position = tile.first_row * tiling_.grid.row + tile.first_column;
    for (size_t i = 0; i < state_.code.size(); ++i) {
      const Instruction& instruction = state_.code[i];
      std::array<const float*, PointwiseInstruction::kMostOperands> at{};
      for (size_t k = 0; k < static_cast<size_t>(instruction.operands); ++k) {
        const size_t place = instruction.operand[k];
        at[k] = place < inputs ? elements[place] : registers + static_cast<int64_t>(place - inputs) * kTile;
      }
      float* out = registers + static_cast<int64_t>(instruction.result) * kTile;
      if (state_.written && i + 1 == state_.code.size())
        out = static_cast<float*>(c_.out(*state_.written).data) + position;
      instruction.functions[static_cast<size_t>(schedule_.forms[i])](at.data(), out, count, instruction.numbers.data());
    }
    for (const Output& o : state_.stored) {
      const float* from = registers + static_cast<int64_t>(o.result) * kTile;
      auto* to = static_cast<std::byte*>(c_.out(o.output).data) + position * o.element_bytes;
      if (o.store)
        o.store(from, to, count);
      else
        std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
    }
  }

  // Elements of an input as float32.
  void load(size_t i, int64_t offset, int64_t count, float* to) const {
    const Input& input = state_.inputs[i];
    const auto* from = static_cast<const std::byte*>(c_.in(i).data) + offset * input.element_bytes;
    if (input.load)
      input.load(from, to, count);
    else
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(float));
  }

  // An input of one element: where it is, or in own memory. One that is also needed in every lane fills the memory; its
  // first element is the number then.
  const float* number_everywhere(size_t i, float* own) const {
    const bool is_spread = schedule_.operands[i].is_spread;
    if (!state_.inputs[i].load && !is_spread) return static_cast<const float*>(c_.in(i).data);
    load(i, 0, 1, own);
    if (is_spread) spread_first(own, kTile);
    return own;
  }

  // The elements of an input for a tile: where they are, or in memory of the tile's own.
  const float* prepare(size_t i, const Tile& tile, float* own) const {
    const Operand& operand = schedule_.operands[i];
    const Input& input = state_.inputs[i];
    const auto* data = static_cast<const std::byte*>(c_.in(i).data);
    if (operand.kind == Operand::Kind::Dense) {
      const int64_t offset = tile.first_row * tiling_.grid.row + tile.first_column;
      if (!input.load) return reinterpret_cast<const float*>(data) + offset;
      load(i, offset, tile.count(), own);
      return own;
    }
    if (operand.is_number_in_tile) {
      const int64_t offset = RowCursor(tiling_.grid, i, tile.first_row).offset();
      if (!input.load && !operand.is_spread) return reinterpret_cast<const float*>(data) + offset;
      load(i, offset, 1, own);
      if (operand.is_spread) spread_first(own, tile.count());
      return own;
    }
    RowCursor cursor(tiling_.grid, i, tile.first_row);
    const bool repeats = tiling_.grid.repeats_in_row(i);
    if (tile.rows == 1 && !repeats && !input.load)
      return reinterpret_cast<const float*>(data) + cursor.offset() + tile.first_column;
    float* to = own;
    for (int64_t r = 0; r < tile.rows; ++r, cursor.next(), to += tile.columns) {
      if (repeats) {
        load(i, cursor.offset(), 1, to);
        spread_first(to, tile.columns);
      } else {
        load(i, cursor.offset() + tile.first_column, tile.columns, to);
      }
    }
    return own;
  }

  KernelContext& c_;
  const PointwiseState& state_;
  const Tiling& tiling_;
  const Schedule& schedule_;
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
  run_chunks(c, state, Schedule(state.code, result, std::span(dims).first(c.input_count()), state.work));
  return {};
}

}  // namespace

std::span<const Variant> pointwise_variants() {
  static const auto variants = with_reference(OpId::Pointwise, {{"tiles", run_pointwise, bind_pointwise, true}});
  return variants;
}

}  // namespace tenon

// Expressions that are computed element by element, a block at a time: elements stay in registers from the first
// instruction to the last, so that only operands and results go through memory.
#include "ops/pointwise.h"

#include <algorithm>

#include "providers/cpu/kernel.h"
#include "providers/cpu/pointwise_state.h"
#include "providers/cpu/rows.h"

namespace tenon {

namespace {

// Functions take so many times as long as additions; so does going through memory.
constexpr int64_t kFunctionWork = 12, kMemoryWork = 2;

// The function of a step of the program, in both forms.
void bind_compute(BoundPointwiseStep& to, const PointwiseProgram::Step& from, Isa isa) {
  const PointwiseOp op = from.instruction.op;
  std::ranges::copy(from.instruction.numbers, to.numbers.begin());
  if (op == PointwiseOp::RoundToFloat16 || op == PointwiseOp::RoundToBFloat16) {
    to.in_memory = rounding_step(op == PointwiseOp::RoundToFloat16 ? DType::Float16 : DType::BFloat16, isa);
    return;
  }
  if (pointwise_info(op).operands == 3) {
    to.in_memory = ternary_step(op, from.position, isa);
    if (op == PointwiseOp::Clip && from.position == 0) to.of_numbers = clip_to_numbers_step(isa);
    return;
  }
  const auto in_form = [&](StepForm form) {
    if (const auto f = function_step(op, isa)) return form == StepForm::Itself ? f : nullptr;
    if (const auto f = wide_step(op, form, isa)) return f;
    return arithmetic_step(op, form, isa);
  };
  to.puts_block_aside = function_step(op, isa) || wide_step(op, StepForm::Itself, isa);
  const bool is_alone = from.with_itself || pointwise_info(op).operands == 1;
  to.in_memory = in_form(is_alone ? StepForm::Itself : from.position == 0 ? StepForm::Memory : StepForm::MemoryFirst);
  if (!is_alone) to.of_numbers = in_form(from.position == 0 ? StepForm::Number : StepForm::NumberFirst);
}

BoundPointwiseStep bind_step(const PointwiseProgram::Step& from, const PointwiseState& state, Isa isa) {
  using Step = PointwiseProgram::Step;
  using Place = PointwiseProgram::Place;
  BoundPointwiseStep to;
  to.place_count = from.places;
  to.operands = from.operands;
  const Place& place = from.operands[0];
  switch (from.kind) {
    case Step::Kind::Load: {
      const DType dtype = place.kind == Place::Kind::Input ? state.inputs[place.number].dtype : DType::Float32;
      to.in_memory = load_step(dtype, isa);
      if (dtype == DType::Float32) to.of_numbers = load_number_step(isa);
      break;
    }
    case Step::Kind::Compute:
      bind_compute(to, from, isa);
      break;
    case Step::Kind::Store: {
      const DType dtype = place.kind == Place::Kind::Output ? state.outputs[place.number].dtype : DType::Float32;
      to.in_memory = store_step(dtype, isa);
      if (place.kind == Place::Kind::Output && dtype == DType::Float32) to.streamed = stream_step(isa);
      break;
    }
  }
  return to;
}

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

void bind_program(PointwiseState& state, const BindRequest& request) {
  std::vector<DType> inputs, outputs;
  for (const TensorView& input : request.inputs) {
    const size_t i = inputs.size();
    inputs.push_back(input.dtype);
    state.inputs.push_back({input.dtype, *storage_bytes(input.dtype, 1), is_blocked(request.input_layouts, i)});
  }
  for (const TensorView& output : request.outputs) {
    const bool is_wanted = output.dtype != DType::Undefined;
    if (is_wanted) state.any_output = outputs.size();
    outputs.push_back(output.dtype);
    state.outputs.push_back({output.dtype, is_wanted ? *storage_bytes(output.dtype, 1) : 0});
  }
  const auto program = make_pointwise_program(request.params.get<PointwiseParams>(), inputs, outputs);
  state.slots = program.slots;
  state.work = kMemoryWork * static_cast<int64_t>(inputs.size() + outputs.size());
  for (const PointwiseProgram::Step& step : program.steps) {
    state.steps.push_back(bind_step(step, state, request.isa));
    state.work += state.steps.back().puts_block_aside ? kFunctionWork : 1;
  }
  state.block = block_elements(request.isa);
  state.run = run_steps(request.isa);
  state.end = end_step(request.isa);
  state.fetch = fetch_step(request.isa);
}

Result<KernelState> bind_pointwise(const BindRequest& request) {
  for (const TensorView& output : request.outputs)
    if (output.dims.size() > kMostGridAxes) return error(Code::Unsupported, "it has more than {} axes", kMostGridAxes);
  if (request.outputs.size() > kMostPointwiseInstructions)
    return error(Code::Unsupported, "it has {} results", request.outputs.size());
  auto state = std::make_shared<PointwiseState>();
  bind_program(*state, request);
  std::vector<Dims> dims;
  for (const TensorView& input : request.inputs) {
    dims.push_back(input.dims);
    state->bound_dims.emplace_back(input.dims.begin(), input.dims.end());
  }
  const Dims result = request.outputs[state->any_output].dims;
  state->in_blocks = any_blocked(request.input_layouts) || any_blocked(request.output_layouts);
  if (state->in_blocks) {
    TN_RETURN_IF_ERROR(check_blocks(request, result));
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto padding = state->stored_dims(dims[i], state->inputs[i].is_blocked, result.size()).padding();
      state->padded_bytes += padding.images * padding.stored * state->inputs[i].element_bytes;
    }
  }
  if (count_of(result) > 0) state->schedule = state->schedule_for(result, dims);
  const int64_t scratch = PointwiseScratch(*state).end;
  return KernelState{std::move(state), scratch};
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
    run_pointwise_chunks(c, state, *state.schedule);
    return {};
  }
  std::array<Dims, kMostPointwiseInputs> dims;
  for (size_t i = 0; i < c.input_count(); ++i) dims[i] = c.in(i).dims;
  run_pointwise_chunks(c, state, state.schedule_for(result, std::span(dims).first(c.input_count())));
  return {};
}

}  // namespace

PointwiseSchedule::PointwiseSchedule(std::span<const BoundPointwiseStep> steps, Dims result,
                                     std::span<const Dims> inputs, int64_t work)
    : tiles(result, inputs, work) {
  for (const BoundPointwiseStep& step : steps)
    for (const auto& place : step.places())
      if (place.kind == PointwiseProgram::Place::Kind::Input && PointwiseTiles::is_number(tiles.access(place.number)) &&
          !takes_numbers(step))
        is_spread[place.number] = true;
}

bool PointwiseSchedule::takes_numbers(const BoundPointwiseStep& step) const {
  return step.of_numbers && std::ranges::all_of(step.places(), [&](const PointwiseProgram::Place& place) {
           return place.kind == PointwiseProgram::Place::Kind::Input &&
                  PointwiseTiles::is_number(tiles.access(place.number));
         });
}

PointwiseSchedule PointwiseState::schedule_for(Dims result, std::span<const Dims> logical) const {
  std::array<StoredDims, kMostPointwiseInputs> in_memory;
  std::array<Dims, kMostPointwiseInputs> dims;
  for (size_t i = 0; i < logical.size(); ++i) {
    in_memory[i] = stored_dims(logical[i], inputs[i].is_blocked, result.size());
    dims[i] = in_memory[i].dims();
  }
  const StoredDims whole = stored_dims(result, true, result.size());
  return PointwiseSchedule(steps, whole.dims(), std::span(dims).first(logical.size()), work);
}

std::span<const Variant> pointwise_variants() {
  static const auto variants =
      with_reference(OpId::Pointwise, {{"tiles", run_pointwise, bind_pointwise, true, Variant::For::Both}});
  return variants;
}

}  // namespace tenon

#include "swap/weight_program.h"

#include <algorithm>

#include "tensor/canonical.h"

namespace tenon {

namespace {

// At one step; working memory is there for so many.
constexpr int kMostThreads = 64;

}  // namespace

std::optional<FamilyFacts> family_facts(std::string_view name) {
  const KernelFamily* family = find_family(name);
  return family ? std::optional(FamilyFacts{family->version, family->exact}) : std::nullopt;
}

Result<std::unique_ptr<const WeightProgram>> WeightProgram::make(std::shared_ptr<const Program> program) {
  std::unique_ptr<WeightProgram> made(new WeightProgram(std::move(program)));
  for (size_t slot = 0; slot < made->slot_count(); ++slot) {
    std::unique_ptr<PreparedPlan> prepared;
    if (const auto& expression = made->program_->weight_program[slot].expression) {
      const Type& type = made->result_type(slot);
      if (!type.is_tensor() || type.dtype == DType::Undefined || !type.shape || !is_static(*type.shape))
        return invalid_model("the expression of slot {} has no fixed type", slot);
      // Sources have one shape, so there is one binding. Exact kernels give the same bits with any instruction set.
      TN_ASSIGN_OR_RETURN(prepared, PreparedPlan::make(*expression, {.cached_segments = 1, .threads = kMostThreads}));
    }
    made->prepared_.push_back(std::move(prepared));
  }
  return std::unique_ptr<const WeightProgram>(std::move(made));
}

const Type& WeightProgram::result_type(size_t slot) const {
  const Plan& plan = *program_->weight_program[slot].expression;
  return plan.values[static_cast<size_t>(plan.outputs[0])].type;
}

DType WeightProgram::dtype(size_t slot) const {
  if (!is_source(slot)) return result_type(slot).dtype;
  return program_->sources[static_cast<size_t>(program_->weight_program[slot].sources[0])].dtype;
}

std::vector<int64_t> WeightProgram::dims(size_t slot) const {
  if (is_source(slot)) return program_->sources[static_cast<size_t>(program_->weight_program[slot].sources[0])].dims;
  std::vector<int64_t> dims;
  for (const Dim& d : *result_type(slot).shape) dims.push_back(d.value());
  return dims;
}

int64_t WeightProgram::bytes(size_t slot) const {
  return dtype(slot) == DType::String ? 0 : *storage_bytes(dtype(slot), count_of(dims(slot)));
}

std::vector<bool> WeightProgram::watched_sources(size_t slot) const {
  std::vector<bool> watched(program_->weight_program[slot].sources.size(), false);
  if (is_source(slot)) return watched;
  const Plan& plan = *program_->weight_program[slot].expression;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (!prepared_[slot]->family(i).watches_inputs) continue;
    for (size_t source = 0; source < watched.size(); ++source)
      if (std::ranges::find(plan.steps[i].inputs, plan.inputs[source].value) != plan.steps[i].inputs.end())
        watched[source] = true;
  }
  return watched;
}

Status WeightProgram::compute(size_t slot, const std::vector<Value>& sources, const TensorView& result,
                              ArenaPool& arenas, ThreadPool* pool, std::atomic<bool>* not_finite) const {
  static const Limits limits;
  RunState state;
  // Expressions read their sources as inputs, and no slots.
  state.budget = arenas.budget();
  state.limits = &limits;
  state.pool = pool;
  std::atomic<bool> found{false};
  state.not_finite = &found;
  std::vector<const Value*> inputs;
  for (const Value& source : sources) inputs.push_back(&source);
  const OutputTarget target = result;
  Value none;
  TN_RETURN_IF_ERROR(run_plan(*prepared_[slot], state, arenas, inputs, std::span(&target, 1), std::span(&none, 1)));
  if (found && not_finite) not_finite->store(true, std::memory_order_relaxed);
  if (found || !ends_in_watching_step(slot)) make_nans_canonical(result);
  return {};
}

// Such a step moves and scales finite elements, which gives no NaN.
bool WeightProgram::ends_in_watching_step(size_t slot) const {
  const size_t steps = prepared_[slot]->plan().steps.size();
  return steps > 0 && prepared_[slot]->family(steps - 1).watches_inputs;
}

}  // namespace tenon

#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <list>
#include <map>

#include "base/fork.h"
#include "tensor/canonical.h"

namespace tenon {

Result<std::unique_ptr<Session>> Session::prepare(std::shared_ptr<const Program> program, SessionOptions options) {
  std::unique_ptr<Session> session(new Session());
  session->forks_ = fork_count();
  session->budget_ = std::make_shared<MemoryBudget>(options.limits.memory_bytes);
  session->options_ = std::move(options);
  session->describe(program->plan);
  TN_ASSIGN_OR_RETURN(auto plan, session->prepare_program(std::move(program), session->options_.plan_key));
  session->current_ = std::make_shared<const Current>(Current{std::move(plan), nullptr});
  session->arenas_ = std::make_unique<ArenaPool>(session->budget_);
  session->budget_->set_reclaim([arenas = session->arenas_.get()] { arenas->release_idle(); });
  return session;
}

Result<std::shared_ptr<Session::PreparedProgram>> Session::prepare_program(std::shared_ptr<const Program> program,
                                                                           std::optional<Hash128> key) const {
  auto plan = std::make_shared<PreparedProgram>();
  plan->program = std::move(program);
  plan->known_key = key;
  BindOptions binding{options_.limits.cached_bindings, options_.isa, 1, options_.keep_subnormals,
                      fixed_slots(*plan->program)};
  if (options_.pool) binding.threads += std::min(options_.max_helpers, options_.pool->workers());
  TN_ASSIGN_OR_RETURN(plan->prepared, PreparedPlan::make(plan->program->plan, binding));
  return plan;
}

// Results may hold on to the budget for longer.
Session::~Session() {
  if (budget_) budget_->set_reclaim({});
}

Result<std::unique_ptr<Session>> Session::make(std::shared_ptr<const Program> program,
                                               std::shared_ptr<const WeightSnapshot> weights, SessionOptions options) {
  TN_ASSIGN_OR_RETURN(auto session, prepare(std::move(program), std::move(options)));
  session->current_ = std::make_shared<const Current>(Current{session->current_->plan, std::move(weights)});
  return session;
}

Result<std::unique_ptr<Session>> Session::make_from_sources(std::shared_ptr<const Program> program,
                                                            WeightSnapshot weights, SessionOptions options) {
  TN_ASSIGN_OR_RETURN(auto session, prepare(std::move(program), std::move(options)));
  TN_ASSIGN_OR_RETURN(const SwapTools tools, session->swap_tools(*session->current_->plan));
  TN_ASSIGN_OR_RETURN(auto made, make_first_weights(tools, std::move(weights)));
  session->current_ = std::make_shared<const Current>(Current{session->current_->plan, std::move(made)});
  return session;
}

namespace {

// The same as below for most tensors, without allocating anything.
bool fits_quickly(const Type& declared, const Tensor& given) {
  return declared.is_tensor() && declared.dtype == given.dtype() && declared.shape &&
         std::ranges::equal(*declared.shape, given.dims(),
                            [](const Dim& want, int64_t got) { return !want.is_constant() || want.value() == got; });
}

// Checks a value against the type its input declares.
Status check_value(const Type& declared, const Value& given) {
  if (declared.kind == Type::Kind::Unknown) return {};
  if (declared.kind == Type::Kind::Optional) {
    if (auto o = given.optional())
      return o->item && declared.element ? check_value(*declared.element, *o->item) : Status();
    return declared.element ? check_value(*declared.element, given) : Status();
  }
  const Type actual = given.type();
  if (declared.kind != actual.kind)
    return invalid_argument("expects {}, but the value is {}", declared.to_string(), actual.to_string());
  if (declared.kind == Type::Kind::Sequence) {
    if (!declared.element) return {};
    // Elements may have any shapes, whatever the declaration expects of them; no rule relies on it.
    const Type element = without_shape(*declared.element);
    for (const Value& item : given.sequence()->items) TN_RETURN_IF_ERROR(check_value(element, item));
    return {};
  }
  if (declared.kind == Type::Kind::Map) return {};
  if (declared.dtype != DType::Undefined && declared.dtype != actual.dtype)
    return invalid_argument("expects element type {}, but the tensor is {}", dtype_name(declared.dtype),
                            dtype_name(actual.dtype));
  if (!declared.shape) return {};
  if (declared.shape->size() != actual.shape->size())
    return invalid_argument("expects rank {} {}, but the tensor has rank {} {}", declared.shape->size(),
                            shape_text(*declared.shape), actual.shape->size(), shape_text(*actual.shape));
  for (size_t i = 0; i < declared.shape->size(); ++i) {
    const Dim& want = (*declared.shape)[i];
    const int64_t got = (*actual.shape)[i].value();
    if (want.is_constant() && want.value() != got)
      return invalid_argument("expects the shape {}, but the tensor has {}: dimension {} must be {}",
                              shape_text(*declared.shape), shape_text(*actual.shape), i, want.value());
  }
  return {};
}

}  // namespace

Status Session::check_inputs(std::span<const Value* const> inputs) const {
  if (inputs.size() != input_count())
    return invalid_argument("the model has {} inputs, but {} are given", input_count(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanValue& declared = input(i);
    if (!inputs[i]) {
      if (input_has_default(i)) continue;
      return invalid_argument("input '{}' {} is missing", declared.name, declared.type.to_string());
    }
    if (const Tensor* tensor = inputs[i]->tensor(); tensor && fits_quickly(declared.type, *tensor)) continue;
    TN_RETURN_IF_ERROR(check_value(declared.type, *inputs[i]).in("input '" + declared.name + "'"));
  }
  return {};
}

void Session::describe(const Plan& plan) {
  for (const PlanInput& in : plan.inputs)
    inputs_.push_back({plan.values[static_cast<size_t>(in.value)], in.default_slot >= 0});
  output_names_ = plan.output_names;
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < input_count(); ++i) {
    const Type& type = input(i).type;
    if (!type.is_tensor() || !type.shape) continue;
    for (size_t axis = 0; axis < type.shape->size(); ++axis)
      if (const auto name = (*type.shape)[axis].as_symbol())
        if (const size_t symbol = known.emplace(*name, known.size()).first->second; symbol < kNamedSymbols)
          symbol_axes_.push_back({symbol, i, axis});
  }
}

std::optional<std::string> Session::symbol_conflict(std::span<const Value* const> inputs) const {
  std::array<const SymbolAxis*, kNamedSymbols> first{};
  const auto extent = [&](const SymbolAxis& a) { return inputs[a.input]->tensor()->dims()[a.axis]; };
  for (const SymbolAxis& a : symbol_axes_) {
    if (!inputs[a.input] || !inputs[a.input]->tensor()) continue;
    const SymbolAxis*& known = first[a.symbol];
    if (!known) known = &a;
    if (extent(*known) == extent(a)) continue;
    return fmt::format("the dimension '{}' is {} in input '{}' but {} in input '{}'",
                       (*input(a.input).type.shape)[a.axis].to_string(), extent(*known), input(known->input).name,
                       extent(a), input(a.input).name);
  }
  return std::nullopt;
}

Status Session::run(std::span<const Value*> inputs, std::span<const OutputTarget> targets, std::span<Value> results,
                    const RunOptions& options) const {
  if (fork_count() != forks_)
    return error(Code::Unsupported,
                 "the process was forked after this session was created, and the child does not have the session's "
                 "threads; create the session in the child, or start the child as a separate program");
  TN_RETURN_IF_ERROR(check_inputs(inputs));
  std::list<Value> changed;
  for (const Value*& input : inputs) {
    if (!input || (input->tensor() && is_canonical(input->tensor()->view()))) continue;
    TN_ASSIGN_OR_RETURN(Value value, canonical(*input, budget_));
    input = &changed.emplace_back(std::move(value));
  }
  RunState state;
  const std::shared_ptr<const Current> held = current();
  const WeightSnapshot& weights = *held->weights;
  if (weights.empty_slot() >= 0)
    return error(Code::NotFound, "the model was compiled without its weights; set these first: {}",
                 open_weights_text(*held->plan->program, weights));
  state.slots = {held->weights, &weights.slots};
  state.slots_number = weights.number.value();
  state.budget = budget_;
  state.limits = &options_.limits;
  state.cancelled = options.cancelled;
  state.pool = options_.pool.get();
  state.max_helpers = options_.max_helpers;
  state.stop = options.stop;
  state.seed = options_.seed + 0x2545f4914f6cdd1dull * runs_.fetch_add(1, std::memory_order_relaxed);
  state.profile = options.profile;
  if (options.profile || options.stop.ask) {
    const auto now = std::chrono::steady_clock::now();
    state.next_question = now + RunState::kQuestionInterval;
    state.profile_origin_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  }
  Status status = run_plan(*held->plan->prepared, state, *arenas_, inputs, targets, results);
  if (status.ok() || status.code() != Code::InvalidModel) return status;
  // Names of extents are hints, which models get wrong; they explain a failure, they do not make one.
  const auto conflict = symbol_conflict(inputs);
  return conflict ? invalid_argument("{}: {}", *conflict, status.to_string()) : status;
}

Result<std::vector<Value>> Session::run(const std::vector<Value>& inputs, std::span<const OutputTarget> targets,
                                        const RunOptions& options) const {
  std::vector<const Value*> pointers;
  for (const Value& value : inputs) pointers.push_back(value.empty() ? nullptr : &value);
  std::vector<Value> results(output_count());
  TN_RETURN_IF_ERROR(run(pointers, targets, results, options));
  return results;
}

}  // namespace tenon

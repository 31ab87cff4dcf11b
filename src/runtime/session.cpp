#include "runtime/session.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <map>

#include "tensor/canonical.h"

namespace tenon {

Result<std::unique_ptr<Session>> Session::prepare(std::shared_ptr<const Program> program, SessionOptions options) {
  std::unique_ptr<Session> session(new Session());
  session->program_ = std::move(program);
  session->budget_ = std::make_shared<MemoryBudget>(options.limits.memory_bytes);
  session->find_symbols();
  TN_ASSIGN_OR_RETURN(session->prepared_, PreparedPlan::make(session->program_->plan, options.limits.cached_bindings,
                                                             fixed_slots(*session->program_)));
  session->budget_->set_reclaim([plan = session->prepared_.get()] { plan->release_idle_arenas(); });
  session->options_ = std::move(options);
  return session;
}

// Results may hold on to the budget for longer.
Session::~Session() {
  if (budget_) budget_->set_reclaim({});
}

Result<std::unique_ptr<Session>> Session::make(std::shared_ptr<const Program> program,
                                               std::shared_ptr<const WeightSnapshot> weights, SessionOptions options) {
  TN_ASSIGN_OR_RETURN(auto session, prepare(std::move(program), std::move(options)));
  session->weights_ = std::move(weights);
  return session;
}

Result<std::unique_ptr<Session>> Session::make_from_sources(std::shared_ptr<const Program> program,
                                                            WeightSnapshot weights, SessionOptions options) {
  TN_ASSIGN_OR_RETURN(auto session, prepare(std::move(program), std::move(options)));
  TN_ASSIGN_OR_RETURN(const SwapTools tools, session->swap_tools());
  TN_ASSIGN_OR_RETURN(session->weights_, make_first_weights(tools, std::move(weights)));
  return session;
}

const PlanValue& Session::input(size_t i) const {
  return program_->plan.values[static_cast<size_t>(program_->plan.inputs[i].value)];
}
const PlanValue& Session::output(size_t i) const {
  return program_->plan.values[static_cast<size_t>(program_->plan.outputs[i])];
}

namespace {

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
    return invalid_argument("expects {}, the value given is {}", declared.to_string(), actual.to_string());
  if (declared.kind == Type::Kind::Sequence) {
    if (!declared.element) return {};
    // Elements may have any shapes, whatever the declaration expects of them; no rule relies on it.
    const Type element = without_shape(*declared.element);
    for (const Value& item : given.sequence()->items) TN_RETURN_IF_ERROR(check_value(element, item));
    return {};
  }
  if (declared.kind == Type::Kind::Map) return {};
  if (declared.dtype != DType::Undefined && declared.dtype != actual.dtype)
    return invalid_argument("expects element type {}, the tensor given is {}", dtype_name(declared.dtype),
                            dtype_name(actual.dtype));
  if (!declared.shape) return {};
  if (declared.shape->size() != actual.shape->size())
    return invalid_argument("expects rank {} {}, the tensor given has rank {} {}", declared.shape->size(),
                            shape_text(*declared.shape), actual.shape->size(), shape_text(*actual.shape));
  for (size_t i = 0; i < declared.shape->size(); ++i) {
    const Dim& want = (*declared.shape)[i];
    const int64_t got = (*actual.shape)[i].value();
    if (want.is_constant() && want.value() != got)
      return invalid_argument("expects the shape {}, the tensor given is {}: dimension {} must be {}",
                              shape_text(*declared.shape), shape_text(*actual.shape), i, want.value());
  }
  return {};
}

}  // namespace

Status Session::check_inputs(const std::vector<Value>& inputs) const {
  if (inputs.size() != input_count())
    return invalid_argument("the model has {} inputs, {} are given", input_count(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanValue& declared = input(i);
    if (inputs[i].empty()) {
      if (input_has_default(i)) continue;
      return invalid_argument("input '{}' {} is missing", declared.name, declared.type.to_string());
    }
    TN_RETURN_IF_ERROR(check_value(declared.type, inputs[i]).in("input '" + declared.name + "'"));
  }
  return {};
}

void Session::find_symbols() {
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

// Runs on every call, so it allocates nothing unless there is something to tell.
std::optional<std::string> Session::symbol_conflict(const std::vector<Value>& inputs) const {
  std::array<const SymbolAxis*, kNamedSymbols> first{};
  const auto extent = [&](const SymbolAxis& a) { return inputs[a.input].tensor()->dims()[a.axis]; };
  for (const SymbolAxis& a : symbol_axes_) {
    if (!inputs[a.input].tensor()) continue;
    const SymbolAxis*& known = first[a.symbol];
    if (!known) known = &a;
    if (extent(*known) == extent(a)) continue;
    return fmt::format("{} is {} in input '{}' and {} in input '{}'", (*input(a.input).type.shape)[a.axis].to_string(),
                       extent(*known), input(known->input).name, extent(a), input(a.input).name);
  }
  return std::nullopt;
}

Result<std::vector<Value>> Session::run(std::vector<Value> inputs, std::span<const OutputTarget> targets,
                                        const RunOptions& options) const {
  TN_RETURN_IF_ERROR(check_inputs(inputs));
  for (Value& input : inputs) {
    TN_ASSIGN_OR_RETURN(input, canonical(std::move(input), budget_));
  }
  RunState state;
  const std::shared_ptr<const WeightSnapshot> held = weights();
  if (held->empty_slot() >= 0)
    return error(Code::NotFound, "the model was compiled without its weights; still to be set: {}",
                 open_weights_text(*program_, *held));
  state.slots = {held, &held->slots};
  state.budget = budget_;
  state.limits = &options_.limits;
  state.cancelled = options.cancelled;
  state.pool = options_.pool.get();
  state.max_helpers = options_.max_helpers;
  state.stop = options.stop;
  state.seed = options_.seed + 0x2545f4914f6cdd1dull * runs_.fetch_add(1, std::memory_order_relaxed);
  state.profile = options.profile;
  const auto now = std::chrono::steady_clock::now();
  state.next_question = now + RunState::kQuestionInterval;
  state.profile_origin_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  // Names of extents are hints, which models get wrong; they explain a failure, they do not make one.
  const auto conflict = symbol_conflict(inputs);
  auto results = run_plan(*prepared_, state, std::move(inputs), {}, targets);
  if (!conflict || results.ok() || results.status().code() != Code::InvalidModel) return results;
  return invalid_argument("{}: {}", *conflict, results.status().to_string());
}

}  // namespace tenon

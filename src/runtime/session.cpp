#include "runtime/session.h"

#include <chrono>
#include <map>

namespace tenon {

Result<std::unique_ptr<Session>> Session::make(std::shared_ptr<const Program> program, std::vector<Tensor> slots,
                                               SessionOptions options) {
  std::unique_ptr<Session> session(new Session());
  session->program_ = std::move(program);
  session->options_ = options;
  session->budget_ = std::make_shared<MemoryBudget>(options.limits.memory_bytes);
  TN_ASSIGN_OR_RETURN(session->prepared_, PreparedPlan::make(session->program_->plan, options.limits.cached_bindings));
  auto snapshot = std::make_shared<WeightSnapshot>();
  snapshot->slots = std::move(slots);
  session->weights_ = std::move(snapshot);
  return session;
}

const PlanValue& Session::input(size_t i) const {
  return program_->plan.values[static_cast<size_t>(program_->plan.inputs[i].value)];
}
const PlanValue& Session::output(size_t i) const {
  return program_->plan.values[static_cast<size_t>(program_->plan.outputs[i])];
}

namespace {

// Checks a value against the type its input declares; symbols must mean one extent in the whole call.
Status check_value(const Type& declared, const Value& given, std::map<std::string, int64_t>& symbols) {
  if (declared.kind == Type::Kind::Unknown) return {};
  if (declared.kind == Type::Kind::Optional) {
    if (auto o = given.optional())
      return o->item && declared.element ? check_value(*declared.element, *o->item, symbols) : Status();
    return declared.element ? check_value(*declared.element, given, symbols) : Status();
  }
  const Type actual = given.type();
  if (declared.kind != actual.kind)
    return invalid_argument("expects {}, the value given is {}", declared.to_string(), actual.to_string());
  if (declared.kind == Type::Kind::Sequence) {
    for (const Value& item : given.sequence()->items)
      if (declared.element) {
        std::map<std::string, int64_t> free;  // items of a sequence need not agree on symbols
        TN_RETURN_IF_ERROR(check_value(*declared.element, item, free));
      }
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
    if (auto name = want.as_symbol()) symbols.emplace(*name, got);
  }
  return {};
}

}  // namespace

Status Session::check_inputs(const std::vector<Value>& inputs) const {
  if (inputs.size() != input_count())
    return invalid_argument("the model has {} inputs, {} are given", input_count(), inputs.size());
  std::map<std::string, int64_t> symbols;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanValue& declared = input(i);
    if (inputs[i].empty()) {
      if (input_has_default(i)) continue;
      return invalid_argument("input '{}' {} is missing", declared.name, declared.type.to_string());
    }
    TN_RETURN_IF_ERROR(check_value(declared.type, inputs[i], symbols).in("input '" + declared.name + "'"));
  }
  return {};
}

Result<std::vector<Value>> Session::run(std::vector<Value> inputs, std::span<const OutputTarget> targets,
                                        const RunOptions& options) const {
  TN_RETURN_IF_ERROR(check_inputs(inputs));
  RunState state;
  state.weights = weights_;
  state.budget = budget_;
  state.limits = &options_.limits;
  state.cancelled = options.cancelled;
  state.pool = options_.pool.get();
  state.seed = options_.seed + 0x2545f4914f6cdd1dull * runs_.fetch_add(1, std::memory_order_relaxed);
  state.profile = options.profile;
  state.profile_origin_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return run_plan(*prepared_, state, std::move(inputs), {}, targets);
}

}  // namespace tenon

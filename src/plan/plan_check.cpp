#include "plan/plan_check.h"

#include <algorithm>

#include "base/checked_math.h"
#include "ops/attention.h"
#include "plan/bytes.h"
#include "plan/property.h"

namespace tenon {

namespace {

size_t body_count(const Step& step) {
  if (!op_def(step.op).has_bodies) return 0;
  if (step.op == OpId::If) return 2;
  if (step.op != OpId::FlexAttention) return 1;
  const auto& params = step.params.get<FlexAttentionParams>();
  return static_cast<size_t>(params.has_score_mod) + static_cast<size_t>(params.has_prob_mod);
}

// A family is named "provider/Op". Its kernel reads the parameters of that op and of no other.
bool family_runs(std::string_view family, const OpDef& def) {
  const size_t slash = family.find('/');
  if (slash == std::string_view::npos || family.substr(slash + 1) != def.name) return false;
  return (family.substr(0, slash) == "control") == def.has_bodies;
}

// As many as the op takes, and those it always has are there.
bool fits(const Arity& arity, const std::vector<PlanValueId>& values) {
  const auto always = static_cast<size_t>(arity.min);
  return values.size() >= always && values.size() <= static_cast<size_t>(arity.max) &&
         std::find(values.begin(), values.begin() + arity.min, kNoValue) == values.begin() + arity.min;
}

}  // namespace

Status check_signature(const Step& step) {
  const OpDef& def = op_def(step.op);
  if (!family_runs(step.family, def))
    return invalid_model("the kernel family '{}' does not run {}", step.family, def.name);
  if (!step.params.holds(*def.params_type))
    return invalid_model("{} has parameters that belong to another op", def.name);
  if (step.bodies.size() != body_count(step))
    return invalid_model("{} has {} sub-plans but needs {}", def.name, step.bodies.size(), body_count(step));
  if (!fits(def.inputs, step.inputs))
    return invalid_model("{} cannot take these {} inputs", def.name, step.inputs.size());
  if (!fits(def.outputs, step.outputs))
    return invalid_model("{} cannot have these {} outputs", def.name, step.outputs.size());
  if (std::ranges::all_of(step.outputs, [](PlanValueId v) { return v == kNoValue; }))
    return invalid_model("no output of {} is used", def.name);
  return {};
}

namespace {

// Wider borders and more channels than any kernel reads are damage.
constexpr int kMostBorder = 64;
constexpr int64_t kMostChannels = int64_t{1} << 31;

class PlanCheck {
 public:
  enum class Place { Program, Expression, Body };
  PlanCheck(const Plan& plan, Place place, size_t slots)
      : plan_(plan), place_(place), slots_(slots), defined_(plan.values.size(), false) {}

  Status check() {
    TN_RETURN_IF_ERROR(check_values());
    TN_RETURN_IF_ERROR(check_entries());
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      Status status = check_step(plan_.steps[s]);
      if (!status.ok()) return std::move(status).in(fmt::format("step {}", s));
    }
    if (plan_.output_names.size() != plan_.outputs.size())
      return invalid_model("there are {} outputs but {} output names", plan_.outputs.size(), plan_.output_names.size());
    for (const PlanValueId v : plan_.outputs) {
      if (v == kNoValue && place_ == Place::Body) continue;
      TN_RETURN_IF_ERROR(read(v));
      TN_RETURN_IF_ERROR(must_be_plain(v, "an output"));
    }
    return {};
  }

 private:
  bool in_range(PlanValueId v) const { return v >= 0 && static_cast<size_t>(v) < plan_.values.size(); }

  Status read(PlanValueId v) const {
    if (!in_range(v)) return invalid_model("value {} does not exist; there are {}", v, plan_.values.size());
    if (!defined_[static_cast<size_t>(v)]) return invalid_model("value {} is read before it is computed", v);
    return {};
  }
  Status define(PlanValueId v) {
    if (!in_range(v)) return invalid_model("value {} does not exist; there are {}", v, plan_.values.size());
    if (defined_[static_cast<size_t>(v)]) return invalid_model("value {} is computed twice", v);
    defined_[static_cast<size_t>(v)] = true;
    return {};
  }

  // Slots have their values from the start.
  Status check_values() {
    for (size_t v = 0; v < plan_.values.size(); ++v) {
      const PlanValue& value = plan_.values[v];
      const bool is_slot = value.storage == Storage::Slot;
      const bool fits = is_slot ? value.slot >= 0 && static_cast<size_t>(value.slot) < slots_ : value.slot == -1;
      if (!fits) return invalid_model("value {} refers to slot {}, but there are {} slots", v, value.slot, slots_);
      TN_RETURN_IF_ERROR(check_layout(v));
      defined_[v] = is_slot;
    }
    return {};
  }

  // Only a tensor between two steps can be anything but plain.
  Status check_layout(size_t v) const {
    const PlanValue& value = plan_.values[v];
    const ValueLayout& layout = value.layout;
    if (layout.is_plain()) return {};
    const auto& shape = value.type.shape;
    const bool fits = value.storage == Storage::Arena && value.type.is_tensor() && shape && shape->size() >= 3;
    int64_t channels = 0;
    for (const int64_t part : layout.segments) {
      if (part < 1 || part > kMostChannels) return invalid_model("value {} has a segment of {} channels", v, part);
      channels += part;
    }
    const bool adds_up = layout.segments.empty() || (fits && (*shape)[1].equals(channels));
    if (!fits || !adds_up || layout.border > kMostBorder)
      return invalid_model("value {} cannot have the layout {}", v, layout_text(layout));
    return {};
  }

  Status must_be_plain(PlanValueId v, const char* what) const {
    if (v == kNoValue || !in_range(v) || plan_.values[static_cast<size_t>(v)].layout.is_plain()) return {};
    return invalid_model("value {} is {}, so its layout must be plain", v, what);
  }

  Status check_entries() {
    for (const PlanInput& input : plan_.inputs) {
      if (input.default_slot < -1 || input.default_slot >= static_cast<int64_t>(slots_))
        return invalid_model("an input refers to the default slot {}, but there are {} slots", input.default_slot,
                             slots_);
      TN_RETURN_IF_ERROR(define(input.value));
      TN_RETURN_IF_ERROR(must_be_plain(input.value, "an input"));
    }
    if (!plan_.late_dims.empty() && place_ != Place::Program)
      return invalid_model("only the main plan may have run-time dimensions");
    if (!plan_.captures.empty() && place_ != Place::Body) return invalid_model("only sub-plans may capture values");
    for (const Capture& capture : plan_.captures) {
      TN_RETURN_IF_ERROR(define(capture.inner));
      TN_RETURN_IF_ERROR(must_be_plain(capture.inner, "captured"));
    }
    return {};
  }

  Status check_step(const Step& step) {
    TN_RETURN_IF_ERROR(check_signature(step));
    for (const PlanValueId v : step.inputs)
      if (v != kNoValue) TN_RETURN_IF_ERROR(read(v));
    for (const auto& body : step.bodies) {
      for (const Capture& capture : body->captures) {
        TN_RETURN_IF_ERROR(read(capture.outer));
        TN_RETURN_IF_ERROR(must_be_plain(capture.outer, "captured"));
      }
      TN_RETURN_IF_ERROR(PlanCheck(*body, Place::Body, slots_).check());
    }
    for (const PlanValueId v : step.outputs)
      if (v != kNoValue) TN_RETURN_IF_ERROR(define(v));
    return {};
  }

  const Plan& plan_;
  Place place_;
  size_t slots_;
  std::vector<bool> defined_;
};

Status check_source_id(const Program& program, int32_t source) {
  if (source >= 0 && static_cast<size_t>(source) < program.sources.size()) return {};
  return invalid_model("source {} does not exist; there are {}", source, program.sources.size());
}

Status check_entry(const Program& program, size_t slot) {
  const WeightEntry& entry = program.weight_program[slot];
  if (entry.slot != static_cast<int64_t>(slot)) return invalid_model("the entry is for another slot, {}", entry.slot);
  for (const int32_t source : entry.sources) TN_RETURN_IF_ERROR(check_source_id(program, source));
  if (!entry.expression) {
    if (entry.sources.size() == 1) return {};
    return invalid_model("an entry without an expression needs one source, but it has {}", entry.sources.size());
  }
  const Plan& expression = *entry.expression;
  if (expression.inputs.size() != entry.sources.size() || expression.outputs.size() != 1)
    return invalid_model("an expression with {} inputs and {} outputs has {} sources", expression.inputs.size(),
                         expression.outputs.size(), entry.sources.size());
  return PlanCheck(expression, PlanCheck::Place::Expression, 0).check();
}

}  // namespace

Status check_exactness(const Program& program, const FindFamilyFacts& family_facts) {
  if (!family_facts) return {};
  for (const WeightEntry& entry : program.weight_program) {
    if (!entry.expression) continue;
    for (const Step& step : entry.expression->steps)
      if (const auto facts = family_facts(step.family); !facts || !facts->exact)
        return invalid_model("slot {}: the kernel family '{}' must not compute weights because it is not exact",
                             entry.slot, step.family);
  }
  return {};
}

Status check_program(const Program& program) {
  TN_RETURN_IF_ERROR(PlanCheck(program.plan, PlanCheck::Place::Program, program.weight_program.size()).check());
  for (const SourceInfo& source : program.sources) {
    const auto elements = checked_product(source.dims);
    if (!elements || !storage_bytes(source.dtype, *elements))
      return invalid_model("the source '{}' has an impossible shape", source.name);
  }
  for (size_t slot = 0; slot < program.weight_program.size(); ++slot) {
    Status status = check_entry(program, slot);
    if (!status.ok()) return std::move(status).in(fmt::format("slot {}", slot));
  }
  for (const Guard& guard : program.guards) {
    TN_RETURN_IF_ERROR(check_source_id(program, guard.source));
    if (!property_from_text(guard.property))
      return error(Code::Incompatible, "the plan depends on the unknown property '{}'; {}", guard.property,
                   kMadeByAnotherVersion);
  }
  return {};
}

}  // namespace tenon

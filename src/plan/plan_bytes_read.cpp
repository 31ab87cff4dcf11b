#include "plan/plan_bytes.h"
#include "plan/plan_check.h"
#include "plan/type_bytes.h"

namespace tenon {

namespace {

// As deep as the stack of a thread allows with a wide margin; runs end much earlier.
constexpr int kMaxNesting = 500;

// A debug map as a stream of names, empty ones where there is no map.
class NameStream {
 public:
  static Result<NameStream> open(std::string_view bytes) {
    NameStream stream;
    if (bytes.empty()) return stream;
    stream.present_ = true;
    ByteReader in(bytes);
    if (in.get<uint32_t>() != kProgramVersion)
      return error(Code::Incompatible, "the debug map has an unknown format; {}", kMadeByAnotherVersion);
    TN_ASSIGN_OR_RETURN(stream.strings_, StringTable::read(in));
    stream.ids_ = in.get_list<uint32_t>();
    TN_RETURN_IF_ERROR(in.finish());
    return stream;
  }
  Status next(std::string& name) {
    if (!present_) return {};
    if (at_ >= ids_.size()) return invalid_model("the debug map has too few names");
    TN_ASSIGN_OR_RETURN(name, strings_.at(ids_[at_++]));
    return {};
  }
  Status finish() const {
    if (at_ == ids_.size()) return {};
    return invalid_model("the debug map has {} names, but the program needs {}", ids_.size(), at_);
  }

 private:
  bool present_ = false;
  StringTable strings_;
  std::vector<uint32_t> ids_;
  size_t at_ = 0;
};

class ProgramReader {
 public:
  ProgramReader(ByteReader in, const StringTable& strings, NameStream names, const FindFamilyFacts& family_facts)
      : in_(in), strings_(strings), types_(strings), names_(std::move(names)), family_facts_(family_facts) {}

  Result<std::shared_ptr<const Program>> read() {
    auto program = std::make_shared<Program>();
    TN_RETURN_IF_ERROR(read_plan(program->plan, 0, false));
    TN_RETURN_IF_ERROR(read_sources(program->sources));
    TN_RETURN_IF_ERROR(read_weight_program(program->weight_program));
    TN_RETURN_IF_ERROR(read_guards(program->guards));
    TN_RETURN_IF_ERROR(in_.finish());
    TN_RETURN_IF_ERROR(names_.finish());
    TN_RETURN_IF_ERROR(check_program(*program));
    TN_RETURN_IF_ERROR(check_exactness(*program, family_facts_));
    return std::shared_ptr<const Program>(std::move(program));
  }

 private:
  // Counts are bounded by the fewest bytes an element can take.
  static constexpr size_t kValueBytes = 12, kInputBytes = 12, kCaptureBytes = 8, kStepBytes = 26, kPlanBytes = 24;
  static constexpr size_t kOutputBytes = 8, kSourceBytes = 13, kEntryBytes = 13, kGuardBytes = 16, kLateBytes = 5;

  Status read_text(std::string& text) {
    TN_ASSIGN_OR_RETURN(text, strings_.at(in_.get<uint32_t>()));
    return {};
  }

  Status read_plan(Plan& plan, int depth, bool nested) {
    if (depth > kMaxNesting)
      return error(Code::ResourceLimit, "sub-plans are nested more than {} levels deep", kMaxNesting);
    TN_RETURN_IF_ERROR(read_values(plan));
    std::vector<std::string> input_names;
    TN_RETURN_IF_ERROR(read_inputs(plan, input_names));
    plan.captures.resize(in_.get_count(kCaptureBytes));
    for (Capture& capture : plan.captures) {
      capture.outer = in_.get<PlanValueId>();
      capture.inner = in_.get<PlanValueId>();
    }
    plan.late_dims.resize(in_.get_count(kLateBytes));
    for (LateDim& late : plan.late_dims) {
      TN_RETURN_IF_ERROR(read_text(late.symbol));
      TN_RETURN_IF_ERROR(read_choice(late.classes, LateDim::Classes::Doublings, "class of run-time dimensions"));
    }
    // One by one: each may hold plans that claim as many again, so that memory for all of them at once adds up.
    for (size_t s = 0, count = in_.get_count(kStepBytes); s < count; ++s) {
      Step step;
      Status status = read_step(step, depth);
      if (!status.ok()) return std::move(status).in(fmt::format("step {}", s));
      plan.steps.push_back(std::move(step));
    }
    TN_RETURN_IF_ERROR(read_outputs(plan, nested));
    return nested ? in_.status() : name_inputs(plan, input_names);
  }

  Status read_values(Plan& plan) {
    plan.values.resize(in_.get_count(kValueBytes));
    for (PlanValue& value : plan.values) {
      TN_RETURN_IF_ERROR(names_.next(value.name));
      TN_ASSIGN_OR_RETURN(value.type, types_.read(in_));
      TN_RETURN_IF_ERROR(read_choice(value.storage, Storage::Boxed, "storage class"));
      value.slot = in_.get<int32_t>();
      TN_RETURN_IF_ERROR(read_choice(value.layout.kind, ValueLayout::Kind::Blocked16, "value layout"));
      if (value.layout.is_plain()) continue;
      value.layout.border = in_.get<uint8_t>();
      value.layout.segments = in_.get_list<int64_t>();
    }
    return in_.status();
  }

  template <class E>
  Status read_choice(E& value, E last, const char* what) {
    const auto number = in_.get<uint8_t>();
    if (number > static_cast<uint8_t>(last))
      return error(Code::Incompatible, "unknown {} {}; {}", what, number, kMadeByAnotherVersion);
    value = static_cast<E>(number);
    return {};
  }

  Status read_inputs(Plan& plan, std::vector<std::string>& names) {
    plan.inputs.resize(in_.get_count(kInputBytes));
    names.resize(plan.inputs.size());
    for (size_t i = 0; i < plan.inputs.size(); ++i) {
      plan.inputs[i].value = in_.get<PlanValueId>();
      plan.inputs[i].default_slot = in_.get<int32_t>();
      TN_RETURN_IF_ERROR(read_text(names[i]));
    }
    return in_.status();
  }

  // What callers feed by name keeps its name without a debug map.
  Status name_inputs(Plan& plan, const std::vector<std::string>& names) {
    TN_RETURN_IF_ERROR(in_.status());
    for (size_t i = 0; i < names.size(); ++i) {
      const PlanValueId v = plan.inputs[i].value;
      if (v >= 0 && static_cast<size_t>(v) < plan.values.size()) plan.values[static_cast<size_t>(v)].name = names[i];
    }
    return {};
  }

  Status read_outputs(Plan& plan, bool nested) {
    plan.outputs.resize(in_.get_count(kOutputBytes));
    plan.output_names.resize(plan.outputs.size());
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      plan.outputs[i] = in_.get<PlanValueId>();
      TN_RETURN_IF_ERROR(read_text(plan.output_names[i]));
      if (nested) TN_RETURN_IF_ERROR(names_.next(plan.output_names[i]));
    }
    return {};
  }

  Status read_step(Step& step, int depth) {
    TN_RETURN_IF_ERROR(names_.next(step.origin));
    TN_RETURN_IF_ERROR(read_text(step.family));
    step.family_version = in_.get<uint16_t>();
    TN_RETURN_IF_ERROR(check_family(step));
    TN_ASSIGN_OR_RETURN(const std::string_view name, strings_.at(in_.get<uint32_t>()));
    const auto op = op_from_name(name);
    if (!op) return error(Code::Incompatible, "unknown op '{}'; {}", name, kMadeByAnotherVersion);
    step.op = *op;
    const std::string_view params = in_.get_block();
    step.inputs = in_.get_list<PlanValueId>();
    step.outputs = in_.get_list<PlanValueId>();
    const size_t bodies = in_.get_count(kPlanBytes);
    TN_RETURN_IF_ERROR(in_.status());
    auto read_params = params_from_bytes(*op, params);
    if (!read_params.ok())
      return error(Code::Incompatible, "{}; {}", read_params.status().message(), kMadeByAnotherVersion);
    step.params = std::move(read_params).value();
    for (size_t b = 0; b < bodies; ++b) {
      auto body = std::make_shared<Plan>();
      TN_RETURN_IF_ERROR(read_plan(*body, depth + 1, true));
      step.bodies.push_back(std::move(body));
    }
    return {};
  }

  Status check_family(const Step& step) const {
    if (!family_facts_) return {};
    const auto facts = family_facts_(step.family);
    if (!facts) return error(Code::Incompatible, "unknown kernel family '{}'; {}", step.family, kMadeByAnotherVersion);
    if (facts->version == step.family_version) return {};
    return error(Code::Incompatible,
                 "the plan needs version {} of the kernel family '{}', but this Tenon has version {}; {}",
                 step.family_version, step.family, facts->version, kMadeByAnotherVersion);
  }

  Status read_sources(std::vector<SourceInfo>& sources) {
    sources.resize(in_.get_count(kSourceBytes));
    for (SourceInfo& source : sources) {
      TN_RETURN_IF_ERROR(read_text(source.name));
      TN_ASSIGN_OR_RETURN(source.dtype, types_.read_dtype(in_, false));
      source.dims = in_.get_list<int64_t>();
      const auto expected = in_.get<uint8_t>();
      if (expected > 1) return invalid_model("the source '{}' has the invalid flag {}", source.name, expected);
      source.expected = expected == 1;
    }
    return in_.status();
  }

  Status read_weight_program(std::vector<WeightEntry>& entries) {
    entries.resize(in_.get_count(kEntryBytes));
    for (WeightEntry& entry : entries) {
      entry.slot = in_.get<int32_t>();
      entry.sources = in_.get_list<int32_t>();
      TN_RETURN_IF_ERROR(read_text(entry.layout));
      const auto has_expression = in_.get<uint8_t>();
      if (has_expression > 1)
        return invalid_model("an entry of the weight program has the invalid form {}", has_expression);
      if (has_expression == 0) continue;
      auto expression = std::make_shared<Plan>();
      TN_RETURN_IF_ERROR(read_plan(*expression, 0, true));
      entry.expression = std::move(expression);
    }
    return in_.status();
  }

  Status read_guards(std::vector<Guard>& guards) {
    guards.resize(in_.get_count(kGuardBytes));
    for (Guard& guard : guards) {
      guard.source = in_.get<int32_t>();
      TN_RETURN_IF_ERROR(read_text(guard.asker));
      TN_RETURN_IF_ERROR(read_text(guard.property));
      TN_RETURN_IF_ERROR(read_text(guard.answer));
    }
    return in_.status();
  }

  ByteReader in_;
  const StringTable& strings_;
  TypeReader types_;
  NameStream names_;
  const FindFamilyFacts& family_facts_;
};

}  // namespace

Result<std::shared_ptr<const Program>> program_from_bytes(std::string_view bytes, std::string_view debug_map,
                                                          const FindFamilyFacts& family_facts) {
  ByteReader in(bytes);
  const auto version = in.get<uint32_t>();
  TN_RETURN_IF_ERROR(in.status());
  if (version != kProgramVersion)
    return error(Code::Incompatible, "the program has version {}, but this Tenon reads version {}; {}", version,
                 kProgramVersion, kMadeByAnotherVersion);
  TN_ASSIGN_OR_RETURN(const StringTable strings, StringTable::read(in));
  TN_ASSIGN_OR_RETURN(NameStream names, NameStream::open(debug_map));
  return ProgramReader(in, strings, std::move(names), family_facts).read();
}

}  // namespace tenon

#include "plan/plan_bytes.h"

#include "plan/type_bytes.h"

namespace tenon {

namespace {

// Writes plans; their strings are collected and come first in the end.
class PlanWriter {
 public:
  // Input and output names of a nested plan (a body or an expression) mean nothing to a caller.
  void plan(const Plan& plan, bool nested) {
    out_.put_count(plan.values.size());
    for (const PlanValue& value : plan.values) {
      write_type(value.type, strings_, out_);
      out_.put(static_cast<uint8_t>(value.storage));
      out_.put(value.slot);
      layout(value.layout);
    }
    out_.put_count(plan.inputs.size());
    for (const PlanInput& input : plan.inputs) {
      out_.put(input.value);
      out_.put(input.default_slot);
      text(nested ? "" : plan.values[static_cast<size_t>(input.value)].name);
    }
    out_.put_count(plan.captures.size());
    for (const Capture& capture : plan.captures) {
      out_.put(capture.outer);
      out_.put(capture.inner);
    }
    out_.put_count(plan.late_dims.size());
    for (const LateDim& late : plan.late_dims) {
      text(late.symbol);
      out_.put(static_cast<uint8_t>(late.classes));
    }
    out_.put_count(plan.steps.size());
    for (const Step& s : plan.steps) step(s);
    out_.put_count(plan.outputs.size());
    for (size_t i = 0; i < plan.outputs.size(); ++i) {
      out_.put(plan.outputs[i]);
      text(nested ? "" : plan.output_names[i]);
    }
  }

  void weights(const Program& program) {
    out_.put_count(program.sources.size());
    for (const SourceInfo& source : program.sources) {
      text(source.name);
      text(dtype_name(source.dtype));
      out_.put_list(source.dims);
      out_.put(static_cast<uint8_t>(source.expected));
    }
    out_.put_count(program.weight_program.size());
    for (const WeightEntry& entry : program.weight_program) {
      out_.put(entry.slot);
      out_.put_list(entry.sources);
      text(entry.layout);
      out_.put(static_cast<uint8_t>(entry.expression != nullptr));
      if (entry.expression) plan(*entry.expression, true);
    }
    out_.put_count(program.guards.size());
    for (const Guard& guard : program.guards) {
      out_.put(guard.source);
      text(guard.asker);
      text(guard.property);
      text(guard.answer);
    }
  }

  std::string finish() const {
    ByteWriter all;
    all.put(kProgramVersion);
    strings_.write(all);
    all.put_raw(out_.bytes());
    return all.take();
  }

 private:
  void text(std::string_view value) { out_.put(strings_.id(value)); }

  void layout(const ValueLayout& layout) {
    out_.put(static_cast<uint8_t>(layout.kind));
    if (layout.is_plain()) return;
    out_.put(layout.border);
    out_.put_list(layout.segments);
  }

  void step(const Step& step) {
    text(step.family);
    out_.put(static_cast<uint16_t>(step.family_version));
    text(op_def(step.op).name);
    out_.put_block(params_to_bytes(step.op, step.params));
    out_.put_list(step.inputs);
    out_.put_list(step.outputs);
    out_.put_count(step.bodies.size());
    for (const auto& body : step.bodies) plan(*body, true);
  }

  StringTableWriter strings_;
  ByteWriter out_;
};

// The names of a program in the order in which its plans are written.
class DebugMapWriter {
 public:
  void plan(const Plan& plan, bool nested) {
    for (const PlanValue& value : plan.values) text(value.name);
    for (const Step& step : plan.steps) {
      text(step.origin);
      for (const auto& body : step.bodies) this->plan(*body, true);
    }
    if (nested)
      for (const std::string& name : plan.output_names) text(name);
  }

  std::string finish() const {
    ByteWriter all;
    all.put(kProgramVersion);
    strings_.write(all);
    all.put_list(names_);
    return all.take();
  }

 private:
  void text(std::string_view value) { names_.push_back(strings_.id(value)); }

  StringTableWriter strings_;
  std::vector<uint32_t> names_;
};

}  // namespace

std::string program_to_bytes(const Program& program) {
  PlanWriter writer;
  writer.plan(program.plan, false);
  writer.weights(program);
  return writer.finish();
}

std::string debug_map_to_bytes(const Program& program) {
  DebugMapWriter writer;
  writer.plan(program.plan, false);
  for (const WeightEntry& entry : program.weight_program)
    if (entry.expression) writer.plan(*entry.expression, true);
  return writer.finish();
}

std::string plan_to_bytes(const Plan& plan) {
  PlanWriter writer;
  writer.plan(plan, true);
  return writer.finish();
}

}  // namespace tenon

#include "artifact_mutation.h"

#include <algorithm>

#include "plan/artifact_records.h"
#include "plan/keys.h"

namespace tenon::fuzz {

namespace {

// Gives the fields of parameters other values.
class ParamsChanger final : public FieldVisitor {
 public:
  explicit ParamsChanger(std::minstd_rand& random) : random_(random) {}
  using FieldVisitor::field;
  void field(const char*, int64_t& v) override {
    if (hit()) v = integer();
  }
  void field(const char*, float& v) override {
    if (hit()) v = static_cast<float>(integer()) / 4;
  }
  void field(const char*, std::string& v) override {
    if (hit()) v = v.substr(0, v.size() / 2);
  }
  void field(const char*, std::vector<int64_t>& v) override {
    change_list(v, [&] { return integer(); });
  }
  void field(const char*, std::vector<float>& v) override {
    change_list(v, [&] { return static_cast<float>(integer()); });
  }
  void field(const char*, std::vector<std::string>& v) override {
    change_list(v, [] { return std::string("x"); });
  }
  void field(const char*, Tensor& v) override {
    if (hit()) v = Tensor::scalar(integer());
  }

 protected:
  void optional_field(const char*, bool& present) override {
    if (hit()) present = !present;
  }

 private:
  bool hit() { return random_() % 3 == 0; }
  int64_t integer() {
    constexpr int64_t kValues[] = {0, 1, -1, 2, 3, -2, 7, 64, 1 << 20, int64_t{1} << 40, INT64_MAX, INT64_MIN};
    return kValues[random_() % std::size(kValues)];
  }
  template <class T, class Make>
  void change_list(std::vector<T>& list, Make make) {
    if (!hit()) return;
    if (random_() % 2 == 0)
      list.push_back(make());
    else if (!list.empty() && random_() % 2 == 0)
      list.pop_back();
    else if (!list.empty())
      list[random_() % list.size()] = make();
  }
  std::minstd_rand& random_;
};

std::shared_ptr<const Plan> changed_copy(const Plan& plan, const auto& change) {
  Plan copy = plan;
  change(copy);
  return std::make_shared<const Plan>(std::move(copy));
}

}  // namespace

int64_t ArtifactMutation::odd_integer() {
  constexpr int64_t kValues[] = {0, 1, 2, 3, 5, 64, 1000, -1, int64_t{1} << 33, INT64_MAX};
  return kValues[below(std::size(kValues))];
}

PlanValueId ArtifactMutation::value_of(const Plan& plan) {
  if (chance(8)) return kNoValue;
  if (chance(30)) return static_cast<PlanValueId>(odd_integer());
  return plan.values.empty() ? kNoValue : static_cast<PlanValueId>(below(plan.values.size()));
}

void ArtifactMutation::change_ids(const Plan& plan, std::vector<PlanValueId>& ids) {
  if (ids.empty() || chance(3))
    ids.push_back(value_of(plan));
  else if (chance(3))
    ids.pop_back();
  else if (chance(4))
    ids[below(ids.size())] = kNoValue;
  else
    ids[below(ids.size())] = value_of(plan);
}

void ArtifactMutation::change_params(Step& step) {
  auto params = op_def(step.op).copy_params(step.params.erased());
  ParamsChanger changer(random_);
  op_def(step.op).visit_params(params.get(), changer);
  step.params = Params::of_op(step.op, std::move(params));
}

void ArtifactMutation::change_type(Type& type) {
  constexpr DType kTypes[] = {DType::Float32, DType::Int64, DType::Bool, DType::String, DType::Int4, DType::Undefined};
  if (chance(3)) {
    type.dtype = kTypes[below(std::size(kTypes))];
  } else if (type.shape && !type.shape->empty() && chance(2)) {
    (*type.shape)[below(type.shape->size())] = Dim(odd_integer());
  } else if (chance(2)) {
    type = Type::sequence(type);
  } else {
    type = Type::tensor(kTypes[below(std::size(kTypes))]);
  }
}

void ArtifactMutation::change_value(PlanValue& value) {
  if (chance(2)) return change_type(value.type);
  if (chance(2)) value.storage = static_cast<Storage>(below(3));
  value.slot = value.storage == Storage::Slot ? static_cast<int32_t>(below(4)) : -1;
}

void ArtifactMutation::change_step(Plan& plan, Step& step, int depth) {
  switch (below(8)) {
    case 0:
      return change_ids(plan, step.inputs);
    case 1:
      return change_ids(plan, step.outputs);
    case 2:
    case 3:
      return change_params(step);
    case 4: {  // another op, with its own parameters
      step.op = all_ops()[below(all_ops().size())];
      step.params = default_params(step.op);
      step.family = (op_def(step.op).has_bodies() ? "control/" : "reference/") + std::string(op_def(step.op).name);
      return;
    }
    case 5: {  // the kernel of another op
      const OpDef& other = op_def(all_ops()[below(all_ops().size())]);
      constexpr const char* kProviders[] = {"reference/", "control/", "cpu/"};
      step.family = kProviders[below(3)] + std::string(chance(2) ? other.name : op_def(step.op).name);
      return;
    }
    case 6:
      if (!step.bodies.empty() && chance(4)) return step.bodies.pop_back();
      [[fallthrough]];
    default:
      if (step.bodies.empty() || depth > 3) return change_params(step);
      auto& body = step.bodies[below(step.bodies.size())];
      body = changed_copy(*body, [&](Plan& copy) { change_plan(copy, depth + 1); });
  }
}

void ArtifactMutation::change_plan(Plan& plan, int depth) {
  switch (below(8)) {
    case 0:
      if (!plan.values.empty()) change_value(plan.values[below(plan.values.size())]);
      return;
    case 1:
      if (!plan.outputs.empty()) plan.outputs[below(plan.outputs.size())] = value_of(plan);
      return;
    case 2:
      if (!plan.captures.empty())
        (chance(2) ? plan.captures[0].outer : plan.captures[0].inner) = value_of(plan);
      else if (!plan.inputs.empty())
        plan.inputs[below(plan.inputs.size())].default_slot = static_cast<int32_t>(below(4)) - 1;
      return;
    case 3:
      if (plan.steps.size() > 1) std::swap(plan.steps[below(plan.steps.size())], plan.steps[below(plan.steps.size())]);
      return;
    default:
      if (!plan.steps.empty()) change_step(plan, plan.steps[below(plan.steps.size())], depth);
  }
}

void ArtifactMutation::change_entry(Program& program) {
  WeightEntry& entry = program.weight_program[below(program.weight_program.size())];
  if (entry.expression && !chance(3))
    entry.expression = changed_copy(*entry.expression, [&](Plan& copy) { change_plan(copy, 0); });
  else if (!entry.sources.empty() && !program.sources.empty() && chance(2))
    entry.sources[below(entry.sources.size())] = static_cast<int32_t>(below(program.sources.size()));
  else
    entry.layout = chance(2) ? "" : "panels";
}

void ArtifactMutation::change_program(Program& program) {
  if (!program.weight_program.empty() && chance(4)) return change_entry(program);
  if (!program.guards.empty() && chance(8)) return program.guards.pop_back();
  change_plan(program.plan, 0);
}

void ArtifactMutation::change_packed(ArtifactContents& contents) {
  PackedRecord& record = contents.packed[below(contents.packed.size())];
  if (!record.dims.empty() && chance(2))
    std::swap(record.dims.front(), record.dims.back());
  else if (chance(2))
    record.offset = contents.packed[below(contents.packed.size())].offset;
  else if (chance(3))
    record.dims.insert(record.dims.end(), 70, 1);
  else if (chance(3))
    record.offset = odd_integer() / 64 * 64;
  else if (chance(3))
    record.file = contents.packed[below(contents.packed.size())].content;
  else
    record.dtype = chance(2) ? DType::Int32 : DType::String;
}

void ArtifactMutation::change_source(SourceRecord& record, size_t packed_count) {
  constexpr const char* kFiles[] = {"", ".", "..", "../x", "/etc/passwd", "/dev/zero", "weights.bin"};
  switch (below(6)) {
    case 0:
      record.place = static_cast<SourceRecord::Place>(below(4));
      return;
    case 1:
      record.packed = static_cast<int32_t>(below(packed_count + 2)) - 1;
      return;
    case 2:
      (chance(2) ? record.offset : record.bytes) = odd_integer();
      return;
    case 3:
      (chance(2) ? record.file_offset : record.file_bytes) = odd_integer();
      return;
    case 4:
      record.file = kFiles[below(std::size(kFiles))];
      record.file_has_names = chance(2);
      return;
    default:
      if (chance(2) || record.info.dims.empty())
        record.info.dims.push_back(odd_integer());
      else
        record.info.dims[below(record.info.dims.size())] = odd_integer();
  }
}

void ArtifactMutation::change(ArtifactContents& contents) {
  if (!contents.packed.empty() && chance(12)) return change_packed(contents);
  if (!contents.sources.empty() && chance(12))
    return change_source(contents.sources[below(contents.sources.size())], contents.packed.size());
  if (contents.models.empty()) return;
  ModelRecord& model = contents.models[below(contents.models.size())];
  if (!model.slots.empty() && chance(12)) {
    std::swap(model.slots[below(model.slots.size())], model.slots[below(model.slots.size())]);
    return;
  }
  Program program = *model.program;
  for (size_t changes = 1 + below(2); changes-- > 0;) change_program(program);
  model.program = std::make_shared<const Program>(std::move(program));
}

std::string with_contents(std::string_view file, const ArtifactFrame& frame, ArtifactContents contents) {
  for (ModelRecord& model : contents.models) model.plan_key = plan_key(*model.program);
  const auto users = users_of(contents);
  for (size_t i = 0; i < users.size(); ++i) contents.packed[i].users = users[i];
  const auto records = records_to_bytes(contents, true);
  ArtifactFrame changed = frame;
  std::string bytes(file.substr(0, static_cast<size_t>(frame.at(Section::Embedded).end())));
  for (size_t i = 0; i < kSectionCount; ++i) {
    const auto section = static_cast<Section>(i);
    if (is_large(section)) continue;
    SectionPlace& place = changed.at(section);
    bytes.resize(static_cast<size_t>(aligned(static_cast<int64_t>(bytes.size()), section_alignment(section))), '\0');
    place = {static_cast<int64_t>(bytes.size()), static_cast<int64_t>(records[i].size()), hash_bytes(records[i])};
    bytes += records[i];
  }
  const std::string head = frame_to_bytes(changed);
  return bytes.replace(0, head.size(), head);
}

}  // namespace tenon::fuzz

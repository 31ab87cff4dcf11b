#include "plan/plan_bytes.h"

#include <gtest/gtest.h>

#include "plan/bytes.h"
#include "plan/keys.h"
#include "plan/plan_check.h"
#include "unit/plan/sample_program.h"

namespace tenon {
namespace {

std::shared_ptr<const Program> reread(const Program& program, bool with_names = true) {
  auto read = program_from_bytes(program_to_bytes(program), with_names ? debug_map_to_bytes(program) : std::string());
  EXPECT_TRUE(read.ok()) << read.status().to_string();
  return read.ok() ? std::move(read).value() : std::make_shared<const Program>();
}

Status refusal(const Program& program) { return program_from_bytes(program_to_bytes(program)).status(); }

TEST(ProgramBytes, ReadBackAsTheyWere) {
  const Program program = sample_program();
  const auto read = reread(program);
  EXPECT_EQ(program_to_bytes(*read), program_to_bytes(program));
  EXPECT_EQ(debug_map_to_bytes(*read), debug_map_to_bytes(program));
  const Plan& plan = read->plan;
  ASSERT_EQ(plan.values.size(), program.plan.values.size());
  for (size_t v = 0; v < plan.values.size(); ++v) {
    EXPECT_EQ(plan.values[v].type, program.plan.values[v].type) << v;
    EXPECT_EQ(plan.values[v].name, program.plan.values[v].name) << v;
    EXPECT_EQ(plan.values[v].storage, program.plan.values[v].storage) << v;
    EXPECT_EQ(plan.values[v].slot, program.plan.values[v].slot) << v;
  }
  EXPECT_EQ(plan.inputs[1].default_slot, 0);
  EXPECT_EQ(plan.output_names, program.plan.output_names);
  EXPECT_EQ(plan.steps[1].family, "control/If");
  EXPECT_EQ(plan.steps[2].inputs, (std::vector<PlanValueId>{3, kNoValue, 4}));
  const Plan& body = *plan.steps[1].bodies[1];
  EXPECT_EQ(body.steps[0].op, OpId::Mul);
  EXPECT_EQ(body.steps[0].origin, "else node");
  EXPECT_EQ(body.captures[0].outer, 3);
  EXPECT_EQ(body.output_names, std::vector<std::string>{"else"});
  const WeightEntry& entry = read->weight_program[1];
  EXPECT_EQ(entry.layout, "halves");
  EXPECT_EQ(entry.expression->steps[1].params.get<CastParams>().to, DType::Float16);
  EXPECT_EQ(entry.expression->values[1].name, "doubled");
  EXPECT_FALSE(read->weight_program[0].expression);
  EXPECT_EQ(read->sources[1].name, "scope/s");
  EXPECT_EQ(read->guards[0].answer, "no");
  EXPECT_EQ(read->guards[1].source, 2);
}

TEST(ProgramBytes, WithoutTheDebugMapOnlyNamesAreMissing) {
  const Program program = sample_program();
  const auto read = reread(program, false);
  EXPECT_EQ(program_to_bytes(*read), program_to_bytes(program));
  EXPECT_EQ(read->plan.values[1].name, "data");
  EXPECT_EQ(read->plan.values[3].name, "");
  EXPECT_EQ(read->plan.steps[0].origin, "");
  EXPECT_EQ(read->plan.output_names, program.plan.output_names);
  EXPECT_EQ(read->plan.steps[1].bodies[0]->output_names, std::vector<std::string>{""});
}

TEST(ProgramBytes, NamesThatOnlyMessagesUseAreNotInTheKey) {
  Program program = sample_program();
  const Hash128 key = plan_key(program);
  EXPECT_EQ(plan_key(sample_program()), key);
  program.plan.steps[0].origin = "renamed";
  program.plan.values[3].name = "renamed";
  EXPECT_EQ(plan_key(program), key);
  program.plan.values[1].name = "renamed input";
  EXPECT_NE(plan_key(program), key);
}

TEST(ProgramBytes, AWeightProgramUsesExactFamiliesOnly) {
  const std::string bytes = program_to_bytes(sample_program());
  const auto cast_is_exact = [](bool exact) {
    return
        [exact](std::string_view family) { return std::optional(FamilyFacts{1, family != "reference/Cast" || exact}); };
  };
  EXPECT_TRUE(program_from_bytes(bytes, {}, cast_is_exact(true)).ok());
  const Status refusal = program_from_bytes(bytes, {}, cast_is_exact(false)).status();
  EXPECT_EQ(refusal.code(), Code::InvalidModel);
  EXPECT_NE(refusal.message().find("slot 1: the kernel family 'reference/Cast' must not compute weights"),
            std::string::npos)
      << refusal.message();
  // In a plan it may be anything that is there.
  const auto mul_is_known = [](std::string_view family) {
    return std::optional(FamilyFacts{1, family != "reference/Mul"});
  };
  EXPECT_TRUE(program_from_bytes(bytes, {}, mul_is_known).ok());
}

// Fills every field with something that is not its default.
class Filler final : public FieldVisitor {
 public:
  void field(const char*, int64_t& v) override { v = 1; }
  void field(const char*, float& v) override { v = 0.625f; }
  void field(const char*, std::string& v) override { v = "text"; }
  void field(const char*, std::vector<int64_t>& v) override { v = {-1, int64_t{1} << 40}; }
  void field(const char*, std::vector<float>& v) override { v = {1.5f, -0.0f}; }
  void field(const char*, std::vector<std::string>& v) override { v = {"", "two"}; }
  void field(const char*, Tensor& v) override {
    const std::vector<std::string> words = {"a", "b"};
    v = numbers_ ? Tensor::scalar(7) : Tensor::of<std::string>({2}, std::span(words));
    numbers_ = !numbers_;
  }

 protected:
  void optional_field(const char*, bool& present) override { present = true; }

 private:
  bool numbers_ = false;
};

TEST(ProgramBytes, ParamsOfEveryOpReadBack) {
  Program program;
  program.plan.values = {arena_value("x", DType::Float32, {2})};
  program.plan.inputs = {{0, -1}};
  const auto step_of = [&](OpId op) {
    const OpDef& def = op_def(op);
    std::vector<PlanValueId> outputs;
    for (int i = 0; i < std::max(std::min(1, def.outputs.max), def.outputs.min); ++i) {
      outputs.push_back(static_cast<PlanValueId>(program.plan.values.size()));
      program.plan.values.push_back(arena_value("", DType::Float32, {2}));
    }
    return make_step(op, std::vector<PlanValueId>(static_cast<size_t>(def.inputs.min), 0), outputs, "");
  };
  for (const OpId op : all_ops()) {
    if (op_def(op).has_bodies()) continue;
    auto params = op_def(op).make_params();
    Filler filler;
    op_def(op).visit_params(params.get(), filler);
    program.plan.steps.push_back(step_of(op));
    program.plan.steps.push_back(step_of(op));
    program.plan.steps.back().params = Params::of_op(op, std::move(params));
  }
  const auto read = reread(program);
  ASSERT_EQ(read->plan.steps.size(), program.plan.steps.size());
  for (size_t s = 0; s < program.plan.steps.size(); ++s) {
    const Step &a = program.plan.steps[s], &b = read->plan.steps[s];
    EXPECT_EQ(a.op, b.op);
    EXPECT_EQ(params_to_bytes(a.op, a.params), params_to_bytes(b.op, b.params)) << op_def(a.op).name;
  }
}

TEST(ProgramBytes, EveryTruncationIsRefused) {
  const std::string bytes = program_to_bytes(sample_program()), names = debug_map_to_bytes(sample_program());
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(program_from_bytes(bytes.substr(0, length)).ok()) << length;
  for (size_t length = 1; length < names.size(); ++length)
    EXPECT_FALSE(program_from_bytes(bytes, names.substr(0, length)).ok()) << length;
  EXPECT_FALSE(program_from_bytes(bytes + '\0').ok());
  EXPECT_FALSE(program_from_bytes(bytes, names + '\0').ok());
}

// Without checksums many flips still read as a program; what is read must then be one.
TEST(ProgramBytes, EveryFlippedByteIsRefusedOrReadsAsAProgram) {
  const std::string bytes = program_to_bytes(sample_program()), names = debug_map_to_bytes(sample_program());
  for (size_t i = 0; i < bytes.size() + names.size(); ++i)
    for (const int pattern : {0x01, 0x80, 0xff}) {
      std::string program = bytes, debug_map = names;
      char& byte = i < bytes.size() ? program[i] : debug_map[i - bytes.size()];
      byte = static_cast<char>(byte ^ pattern);
      const auto read = program_from_bytes(program, debug_map);
      if (!read.ok()) continue;
      EXPECT_TRUE(check_program(**read).ok());
      EXPECT_TRUE(program_from_bytes(program_to_bytes(**read), debug_map_to_bytes(**read)).ok()) << i;
    }
}

TEST(ProgramBytes, UnknownNamesAreIncompatible) {
  const std::string bytes = program_to_bytes(sample_program());
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = bytes;
    changed.replace(changed.rfind(from), from.size(), to);
    return program_from_bytes(changed).status();
  };
  for (const auto& [from, to] :
       {std::pair("Clip", "Clap"), std::pair("float16", "float61"), std::pair("all positive", "all positivo")}) {
    const Status status = replaced(from, to);
    EXPECT_EQ(status.code(), Code::Incompatible);
    EXPECT_NE(status.message().find(to), std::string::npos) << status.to_string();
    EXPECT_NE(status.message().find("compile the model again"), std::string::npos);
  }
  const auto read = program_from_bytes(bytes, {}, [](std::string_view family) {
    return family == "reference/Clip" ? std::nullopt : std::optional(FamilyFacts{1, true});
  });
  EXPECT_EQ(read.status().code(), Code::Incompatible);
  EXPECT_NE(read.status().message().find("reference/Clip"), std::string::npos);
  EXPECT_NE(read.status().message().find("compile the model again"), std::string::npos);
}

TEST(ProgramBytes, AnotherVersionOfAFamilyIsIncompatible) {
  Program program = sample_program();
  program.plan.steps[2].family_version = 7;
  const std::string bytes = program_to_bytes(program);
  EXPECT_NE(plan_key(program), plan_key(sample_program()));
  const auto clip_has_version = [](int version) {
    return [version](std::string_view family) {
      return std::optional(FamilyFacts{family == "reference/Clip" ? version : 1, true});
    };
  };
  const auto read = program_from_bytes(bytes, {}, clip_has_version(7));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ((*read)->plan.steps[2].family_version, 7);
  for (const int version : {1, 6, 8}) {
    const Status status = program_from_bytes(bytes, {}, clip_has_version(version)).status();
    EXPECT_EQ(status.code(), Code::Incompatible);
    EXPECT_NE(status.message().find("version 7 of the kernel family 'reference/Clip'"), std::string::npos)
        << status.to_string();
    EXPECT_NE(status.message().find("compile the model again"), std::string::npos);
  }
}

// x in blocks between two reorders.
Program blocked_program(ValueLayout layout, Shape shape = {kBatch, 40, 7, 5}) {
  Program program;
  program.plan.values = {arena_value("x", DType::Float32, shape), arena_value("", DType::Float32, shape),
                         arena_value("y", DType::Float32, shape)};
  program.plan.values[1].layout = std::move(layout);
  program.plan.inputs = {{0, -1}};
  program.plan.steps = {make_step(OpId::Reorder, {0}, {1}, ""), make_step(OpId::Reorder, {1}, {2}, "")};
  for (Step& step : program.plan.steps) step.family = "cpu/Reorder";
  program.plan.outputs = {2};
  program.plan.output_names = {"y"};
  return program;
}

TEST(ProgramBytes, LayoutsReadBack) {
  using Kind = ValueLayout::Kind;
  for (const ValueLayout& layout : {ValueLayout{}, ValueLayout{Kind::Blocked16}, ValueLayout{Kind::Blocked16, 3},
                                    ValueLayout{Kind::Blocked16, 1, {24, 16}}}) {
    const auto read = reread(blocked_program(layout));
    ASSERT_EQ(read->plan.values.size(), 3u);
    EXPECT_EQ(read->plan.values[1].layout, layout) << layout_text(layout);
  }
}

TEST(ProgramBytes, LayoutsThatCannotBeAreRefused) {
  using Kind = ValueLayout::Kind;
  EXPECT_EQ(refusal(blocked_program({Kind::Blocked16, 1, {24, 17}})).code(), Code::InvalidModel);
  EXPECT_EQ(refusal(blocked_program({Kind::Blocked16, 1, {40, 0}})).code(), Code::InvalidModel);
  EXPECT_EQ(refusal(blocked_program({Kind::Blocked16, 200})).code(), Code::InvalidModel);
  EXPECT_EQ(refusal(blocked_program({Kind::Blocked16}, {kBatch, 40})).code(), Code::InvalidModel);
  for (const size_t end : {0u, 2u}) {
    Program program = blocked_program({Kind::Blocked16});
    program.plan.values[end].layout.kind = Kind::Blocked16;
    const Status status = refusal(program);
    EXPECT_NE(status.message().find("must be plain"), std::string::npos) << status.to_string();
  }
}

TEST(ProgramBytes, LateDimsReadBackAndAreInTheKey) {
  Program program = sample_program();
  program.plan.late_dims[0].classes = LateDim::Classes::Doublings;
  EXPECT_NE(plan_key(program), plan_key(sample_program()));
  const auto read = reread(program);
  ASSERT_EQ(read->plan.late_dims.size(), 1u);
  EXPECT_EQ(read->plan.late_dims[0].symbol, "batch");
  EXPECT_EQ(read->plan.late_dims[0].classes, LateDim::Classes::Doublings);
}

TEST(ProgramBytes, AnotherVersionIsIncompatible) {
  for (const uint32_t version : {0u, 1u, kProgramVersion + 1}) {
    std::string bytes = program_to_bytes(sample_program());
    bytes[0] = static_cast<char>(version);
    const Status status = program_from_bytes(bytes).status();
    EXPECT_EQ(status.code(), Code::Incompatible);
    EXPECT_NE(status.message().find(std::to_string(version)), std::string::npos);
  }
}

TEST(ProgramBytes, NestingIsBounded) {
  // A value's type is the cheapest thing to nest: kind, flags, dtype per level.
  Program program = sample_program();
  for (int i = 0; i < 100; ++i) program.plan.values[2].type = Type::sequence(program.plan.values[2].type);
  EXPECT_EQ(refusal(program).code(), Code::ResourceLimit);

  program = sample_program();
  auto body = program.plan.steps[1].bodies[0];
  for (int i = 0; i < 600; ++i) {
    Plan outer;
    outer.values = {arena_value("", DType::Bool, {}), arena_value("", DType::Float32, {}), body->values[2]};
    outer.inputs = {{0, -1}};
    outer.steps = {make_step(OpId::If, {0}, {}, "")};
    outer.steps[0].bodies = {body, sample_body(OpId::Add, "")};
    outer.outputs = {};
    body = std::make_shared<const Plan>(std::move(outer));
  }
  program.plan.steps[1].bodies = {body, body};
  EXPECT_EQ(refusal(program).code(), Code::ResourceLimit);
}

struct Mistake {
  const char* name;
  void (*make)(Program&);
};

void change_body(Program& program, void (*change)(Plan&)) {
  Plan body = *program.plan.steps[1].bodies[0];
  change(body);
  program.plan.steps[1].bodies[0] = std::make_shared<const Plan>(std::move(body));
}

void change_expression(Program& program, void (*change)(Plan&)) {
  Plan expression = *program.weight_program[1].expression;
  change(expression);
  program.weight_program[1].expression = std::make_shared<const Plan>(std::move(expression));
}

TEST(ProgramBytes, ProgramsThatCannotRunAreRefused) {
  const Mistake mistakes[] = {
      {"step input out of range", [](Program& p) { p.plan.steps[0].inputs[0] = 7; }},
      {"step input negative", [](Program& p) { p.plan.steps[0].inputs[0] = -2; }},
      {"read before made", [](Program& p) { p.plan.steps[0].inputs[0] = 6; }},
      {"made twice", [](Program& p) { p.plan.steps[2].outputs[0] = 3; }},
      {"an input made by a step", [](Program& p) { p.plan.steps[2].outputs[0] = 1; }},
      {"a slot made by a step", [](Program& p) { p.plan.steps[2].outputs[0] = 4; }},
      {"slot out of range", [](Program& p) { p.plan.values[4].slot = 3; }},
      {"slot missing", [](Program& p) { p.plan.values[4].slot = -1; }},
      {"slot of an arena value", [](Program& p) { p.plan.values[3].slot = 0; }},
      {"input twice", [](Program& p) { p.plan.inputs[0].value = 1; }},
      {"default slot out of range", [](Program& p) { p.plan.inputs[1].default_slot = 3; }},
      {"output never made", [](Program& p) { p.plan.steps.pop_back(); }},
      {"output absent", [](Program& p) { p.plan.outputs[0] = kNoValue; }},
      {"capture outside a body", [](Program& p) { p.plan.captures = {{0, 0}}; }},
      {"too few bodies", [](Program& p) { p.plan.steps[1].bodies.pop_back(); }},
      {"body of a step without", [](Program& p) { p.plan.steps[0].bodies = p.plan.steps[1].bodies; }},
      {"no condition", [](Program& p) { p.plan.steps[1].inputs.clear(); }},
      {"absent condition", [](Program& p) { p.plan.steps[1].inputs[0] = kNoValue; }},
      {"a step without outputs", [](Program& p) { p.plan.steps[2].outputs.clear(); }},
      {"a step whose output is absent", [](Program& p) { p.plan.steps[0].outputs[0] = kNoValue; }},
      {"a step with too many outputs", [](Program& p) { p.plan.steps[0].outputs.push_back(kNoValue); }},
      {"a step with too few inputs", [](Program& p) { p.plan.steps[0].inputs.clear(); }},
      {"a step with too many inputs", [](Program& p) { p.plan.steps[0].inputs.push_back(1); }},
      {"the kernel of another op", [](Program& p) { p.plan.steps[0].family = "reference/LSTM"; }},
      {"a kernel family of nothing", [](Program& p) { p.plan.steps[0].family = "Relu"; }},
      {"a plain kernel with bodies", [](Program& p) { p.plan.steps[1].family = "reference/If"; }},
      {"a kernel for bodies without", [](Program& p) { p.plan.steps[0].family = "control/Relu"; }},
      {"the kernel of another op in a body",
       [](Program& p) { change_body(p, [](Plan& body) { body.steps[0].family = "reference/Conv"; }); }},
      {"the kernel of another op in an expression",
       [](Program& p) { change_expression(p, [](Plan& plan) { plan.steps[1].family = "reference/Add"; }); }},
      {"capture of nothing", [](Program& p) { change_body(p, [](Plan& body) { body.captures[0].outer = kNoValue; }); }},
      {"capture of a later value", [](Program& p) { change_body(p, [](Plan& body) { body.captures[0].outer = 6; }); }},
      {"capture into nothing", [](Program& p) { change_body(p, [](Plan& body) { body.captures[0].inner = 9; }); }},
      {"slot of a body out of range", [](Program& p) { change_body(p, [](Plan& body) { body.values[1].slot = 3; }); }},
      {"entries out of order", [](Program& p) { std::swap(p.weight_program[0], p.weight_program[2]); }},
      {"source of a slot out of range", [](Program& p) { p.weight_program[0].sources[0] = 3; }},
      {"slot without a source", [](Program& p) { p.weight_program[0].sources.clear(); }},
      {"expression with too many sources", [](Program& p) { p.weight_program[1].sources.push_back(0); }},
      {"expression without an output",
       [](Program& p) {
         change_expression(p, [](Plan& plan) {
           plan.outputs.clear();
           plan.output_names.clear();
         });
       }},
      {"expression that reads a slot",
       [](Program& p) {
         change_expression(p, [](Plan& plan) {
           plan.values[1].storage = Storage::Slot;
           plan.values[1].slot = 0;
         });
       }},
      {"negative dim of a source", [](Program& p) { p.sources[0].dims[0] = -2; }},
      {"source too large", [](Program& p) { p.sources[0].dims = {int64_t{1} << 40, int64_t{1} << 40}; }},
      {"guard of no source", [](Program& p) { p.guards[0].source = 3; }},
  };
  EXPECT_TRUE(refusal(sample_program()).ok());
  for (const Mistake& mistake : mistakes) {
    Program program = sample_program();
    mistake.make(program);
    EXPECT_EQ(refusal(program).code(), Code::InvalidModel) << mistake.name;
  }
}

TEST(PackedKey, DependsOnExpressionLayoutAndSources) {
  const Program program = sample_program();
  const std::vector<Hash128> contents = {hash_bytes("a"), hash_bytes("b"), hash_bytes("c")};
  const WeightEntry& entry = program.weight_program[1];
  const Hash128 key = packed_key(program, entry, contents);
  EXPECT_EQ(packed_key(sample_program(), entry, contents), key);
  EXPECT_NE(packed_key(program, program.weight_program[0], contents), key);

  WeightEntry changed = entry;
  changed.layout = "other";
  EXPECT_NE(packed_key(program, changed, contents), key);
  changed = entry;
  changed.expression = nullptr;
  EXPECT_NE(packed_key(program, changed, contents), key);

  Program renamed = program;
  renamed.sources[1].name = "another name";
  EXPECT_EQ(packed_key(renamed, entry, contents), key);
  renamed.sources[1].dims = {1, 2};
  EXPECT_NE(packed_key(renamed, entry, contents), key);
  EXPECT_NE(packed_key(program, entry, std::vector{contents[0], contents[0], contents[2]}), key);
  EXPECT_EQ(packed_key(program, entry, std::vector{contents[1], contents[1], contents[1]}), key);
}

}  // namespace
}  // namespace tenon

// Steps that another provider runs, from a blob among the weights.
#include "ops/external.h"
#include "plan/plan_bytes.h"
#include "tenon/tenon.h"
#include "unit/executor/run_program.h"

namespace tenon::test {
namespace {

// y = External(blob, x) with x [batch, 3].
Program program_for(const std::string& provider, const std::string& result = "[batch, 3]") {
  Program program;
  Plan& plan = program.plan;
  const Shape shape{Dim::symbol("batch"), Dim(3)};
  plan.values = {{"blob", Type::tensor(DType::UInt8, Shape{Dim::symbol("bytes")}), Storage::Slot, 0},
                 arena(shape, "x"),
                 arena(shape)};
  plan.inputs = {{1, -1}};
  plan.steps = {step(OpId::External, "external", {0, 1}, {2})};
  plan.steps[0].params =
      Params::of(ExternalParams{provider, {"[batch, 3]"}, {static_cast<int64_t>(DType::Float32)}, {result}});
  plan.outputs = {2};
  plan.output_names = {"y"};
  program.sources = {{"part.blob", DType::UInt8, {1}}};
  program.weight_program = {{0, {0}, nullptr, ""}};
  return program;
}

// Multiplies by the first byte of its blob.
struct Multiplier {
  int opened = 0, closed = 0;
  std::string failure;

  static tn_status* open(void* user, const void* blob, size_t bytes, void** opened) {
    auto& self = *static_cast<Multiplier*>(user);
    if (bytes != 1) return tn_status_create(TN_INVALID_MODEL, "a blob is one byte");
    ++self.opened;
    *opened = new int(*static_cast<const uint8_t*>(blob));
    return nullptr;
  }
  static tn_status* run(void* user, void* opened, const tn_value* const* inputs, size_t, tn_value** outputs, size_t) {
    auto& self = *static_cast<Multiplier*>(user);
    if (!self.failure.empty()) return tn_status_create(TN_IO, self.failure.c_str());
    const int64_t* dims = tn_tensor_dims(inputs[0]);
    if (tn_status* status = tn_tensor_allocate(TN_FLOAT32, dims, tn_tensor_rank(inputs[0]), outputs)) return status;
    const auto* x = static_cast<const float*>(tn_tensor_data(inputs[0]));
    auto* y = static_cast<float*>(tn_tensor_data(outputs[0]));
    for (int64_t i = 0; i < tn_tensor_count(inputs[0]); ++i)
      y[i] = x[i] * static_cast<float>(*static_cast<int*>(opened));
    return nullptr;
  }
  static void close(void* user, void* opened) {
    ++static_cast<Multiplier*>(user)->closed;
    delete static_cast<int*>(opened);
  }
  tn_provider table(const char* name) { return {sizeof(tn_provider), name, this, open, run, close}; }
};

Tensor blob(uint8_t byte) { return Tensor::of<uint8_t>({1}, std::vector<uint8_t>{byte}); }

TEST(External, RunsABlobAndOpensItOnce) {
  static Multiplier multiplier;
  const tn_provider table = multiplier.table("multiplier");
  ASSERT_EQ(tn_provider_register(&table), nullptr);
  const Program program = program_for("multiplier");
  const auto read = program_from_bytes(program_to_bytes(program), {}, family_facts);
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  HandMadeRun run((*read)->plan, {blob(3)});
  for (const int64_t batch : {2, 5, 2}) {
    const Tensor x = counted({batch, 3}), y = run.run({x})[0];
    ASSERT_EQ(y.dims(), x.dims());
    for (size_t i = 0; i < x.as<float>().size(); ++i) ASSERT_EQ(y.as<float>()[i], 3 * x.as<float>()[i]);
  }
  EXPECT_EQ(multiplier.opened, 1);
  // Other weights, another blob; what was made of the old one goes.
  run.set_slots({blob(4)});
  EXPECT_EQ(run.run({counted({1, 3})})[0].as<float>()[0], 2.0f);
  EXPECT_EQ(multiplier.opened, 2);
  EXPECT_EQ(multiplier.closed, 1);

  multiplier.failure = "the device is gone";
  const Status status = run.try_run({counted({1, 3})}).status();
  EXPECT_EQ(status.code(), Code::Io);
  EXPECT_NE(status.message().find("the device is gone"), std::string::npos);
}

TEST(External, ChecksWhatTheProviderMakes) {
  static Multiplier multiplier;
  const tn_provider table = multiplier.table("sloppy");
  ASSERT_EQ(tn_provider_register(&table), nullptr);
  HandMadeRun wrong(program_for("sloppy", "[batch, 4]").plan, {blob(3)});
  EXPECT_NE(wrong.try_run({counted({2, 3})}).status().message().find("another shape"), std::string::npos);
  // A shape that no input tells is the provider's to decide.
  HandMadeRun open(program_for("sloppy", "[found, 3]").plan, {blob(3)});
  EXPECT_EQ(open.run({counted({2, 3})})[0].dims(), (std::vector<int64_t>{2, 3}));
  EXPECT_NE(open.try_run({counted({2, 4})}).status().message().find("compiled for [batch, 3]"), std::string::npos);
}

TEST(External, AnUnknownProviderIsNamed) {
  HandMadeRun run(program_for("nobody").plan, {blob(3)});
  const Status status = run.try_run({counted({1, 3})}).status();
  EXPECT_NE(status.message().find("provider 'nobody'"), std::string::npos) << status.to_string();
}

TEST(External, ANameIsTakenOnce) {
  static Multiplier multiplier;
  const tn_provider table = multiplier.table("only one");
  ASSERT_EQ(tn_provider_register(&table), nullptr);
  tn_status* status = tn_provider_register(&table);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(tn_status_code(status), TN_INVALID_ARGUMENT);
  tn_status_release(status);
}

}  // namespace
}  // namespace tenon::test

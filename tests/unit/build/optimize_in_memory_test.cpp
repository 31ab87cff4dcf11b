#include "build/optimize_in_memory.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "api/onnx_text.h"
#include "build/cache/graph_bytes.h"
#include "build/json.h"
#include "wire/onnx_write.h"

namespace tenon::build {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

// y = gelu(x * w), with an Identity.
std::string gelu_of_product(float scale) {
  using onnx_text::weight;
  onnx_text::Model model;
  model.nodes = {
      {"Identity", {"x"}, {"same"}, "same", "", {}},        {"MatMul", {"same", "w"}, {"p"}, "multiply", "", {}},
      {"Div", {"p", "root"}, {"scaled"}, "divide", "", {}}, {"Erf", {"scaled"}, {"e"}, "erf", "", {}},
      {"Add", {"e", "one"}, {"gate"}, "shift", "", {}},     {"Mul", {"p", "gate"}, {"gated"}, "gate", "", {}},
      {"Mul", {"gated", "half"}, {"y"}, "halve", "", {}}};
  const std::string type = onnx_text::tensor_type(onnx_text::kFloat, {4, 64});
  model.inputs = {onnx_text::value("x", type)};
  model.outputs = {onnx_text::value("y", type)};
  model.weights = {weight("w", {64, 64}, std::vector<float>(64 * 64, scale)), weight("root", {}, {1.41421354F}),
                   weight("one", {}, {1}), weight("half", {}, {0.5F})};
  return model.to_bytes();
}

std::shared_ptr<ImportedModel> import_text(const std::string& text) {
  const auto bytes = std::make_shared<const std::string>(text);
  auto model = import_bytes(*bytes, bytes, "");
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return *model;
}

std::vector<std::string> ops_of(const wire::Model& model) {
  std::vector<std::string> ops;
  for (const wire::Node& node : model.graph.nodes) ops.emplace_back(node.op_type);
  return ops;
}

CapabilityChoice with_gelu() {
  const std::string name = "fuse-gelu";
  auto choice = choose_capabilities({&name, 1}, {});
  EXPECT_TRUE(choice.ok());
  return *choice;
}

class OptimizeInMemory : public testing::Test {
 protected:
  OptimizeInMemory() {
    CacheOptions options;
    options.folder = folder.string();
    auto opened = KeptGraphs::open(options);
    EXPECT_TRUE(opened.ok());
    kept = std::move(*opened);
  }
  ~OptimizeInMemory() override { fs::remove_all(folder); }

  OptimizedInMemory optimize(float scale, bool force = false) const {
    auto made = optimize_in_memory(import_text(gelu_of_product(scale)), with_gelu(), force, kept.get());
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *made;
  }
  static bool is_cached(const OptimizedInMemory& made) { return flag_in(Json::parse(made.report), "cached"); }

  const fs::path folder = fs::temp_directory_path() / ("tenon-kept-" + std::to_string(::getpid()));
  std::unique_ptr<KeptGraphs> kept;
};

// Under a sanitizer, what passes wrote anew must be there for as long as the model.
TEST_F(OptimizeInMemory, KeepsWhatItsNodesReferTo) {
  const OptimizedInMemory made = optimize(1);
  EXPECT_THAT(ops_of(made.model->wire), ElementsAre("MatMul", "Gelu"));
  EXPECT_TRUE(wire::write_model(made.model->wire).ok());
}

TEST_F(OptimizeInMemory, TakesWhatWasKeptForTheSameGraph) {
  const OptimizedInMemory first = optimize(1), second = optimize(2);
  EXPECT_FALSE(is_cached(first));
  EXPECT_TRUE(is_cached(second));
  EXPECT_EQ(first.derivation, second.derivation);
  EXPECT_EQ(ops_of(first.model->wire), ops_of(second.model->wire));
  const auto* const w = &second.model->wire.graph.initializers[0];
  EXPECT_EQ(w->name, "w");
  EXPECT_EQ(reinterpret_cast<const float*>(w->raw_data->data())[0], 2);
}

TEST_F(OptimizeInMemory, TakesNothingWhenItIsForced) {
  (void)optimize(1);
  EXPECT_FALSE(is_cached(optimize(1, true)));
}

TEST_F(OptimizeInMemory, KeepsNoWeights) {
  (void)optimize(1);
  uintmax_t bytes = 0;
  for (const auto& file : fs::directory_iterator(folder)) bytes += file.file_size();
  EXPECT_GT(bytes, 0U);
  EXPECT_LT(bytes, 64 * 64 * sizeof(float) / 2);
}

TEST(GraphBytes, AreRefusedByAModelWithoutTheirWeights) {
  const auto model = import_text(gelu_of_product(1));
  const auto bytes = graph_to_bytes(model->wire, model->wire);
  ASSERT_TRUE(bytes.has_value());
  ASSERT_TRUE(graph_from_bytes(*bytes, model->wire).has_value());
  wire::Model other = model->wire;
  other.graph.initializers.erase(other.graph.initializers.begin());
  EXPECT_FALSE(graph_from_bytes(*bytes, other).has_value());
  EXPECT_FALSE(graph_from_bytes("nonsense", model->wire).has_value());
}

}  // namespace
}  // namespace tenon::build

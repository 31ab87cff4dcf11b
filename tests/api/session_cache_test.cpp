// Sessions that take their compiled model from the cache.
#include <gmock/gmock.h>
#include <unistd.h>
#include <tenon/tenon.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class SessionCache : public testing::Test {
 protected:
  SessionCache() {
    fs::create_directories(folder);
    std::ofstream(in_folder("net.onnx"), std::ios::binary) << onnx_text::linear();
  }
  ~SessionCache() override { fs::remove_all(folder); }

  std::string in_folder(const std::string& name) const { return (folder / name).string(); }
  tenon::Options cached() const { return {{"cache", "1"}, {"cache_dir", in_folder("cache")}}; }
  tenon::Session session(const tenon::Options& options) const {
    return tenon::Session(tenon::Model::load(in_folder("net.onnx")), options);
  }
  tenon::Session session() const { return session(cached()); }
  static std::vector<float> result(const tenon::Session& session) {
    std::vector<float> x{1, 1};
    const auto outputs = session.run({tenon::Value::tensor<float>({1, 2}, x)});
    return {outputs[0].data<float>().begin(), outputs[0].data<float>().end()};
  }
  int models() const {
    int count = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(in_folder("cache"), ignored))
      count += entry.path().extension() == ".model";
    return count;
  }

  const fs::path folder = fs::temp_directory_path() / ("tenon-session-cache-" + std::to_string(::getpid()));
};

TEST_F(SessionCache, IsOffUnlessAskedFor) {
  EXPECT_THAT(result(session({{"cache_dir", in_folder("cache")}})), ElementsAre(0, 7));
  EXPECT_FALSE(fs::exists(in_folder("cache")));
}

TEST_F(SessionCache, KeepsTheCompiledModel) {
  EXPECT_THAT(result(session()), ElementsAre(0, 7));
  EXPECT_EQ(models(), 1);
  EXPECT_THAT(result(session()), ElementsAre(0, 7));
  EXPECT_EQ(models(), 1);
  EXPECT_THAT(result(session(cached().set("provider", "reference"))), ElementsAre(0, 7));
  EXPECT_EQ(models(), 2);
}

// What the cache says is what runs: a compiled model of other weights under the name of this one's.
TEST_F(SessionCache, TakesTheCompiledModelFromThere) {
  session();
  fs::path own;
  for (const auto& entry : fs::directory_iterator(in_folder("cache")))
    if (entry.path().extension() == ".model") own = entry.path();
  onnx_text::Model other;
  other.nodes = {{"Neg", {"x"}, {"y"}, "negate", "", {}}};
  other.inputs = {onnx_text::value("x", onnx_text::tensor_type(onnx_text::kFloat, {"n", 2}))};
  other.outputs = {onnx_text::value("y", onnx_text::tensor_type(onnx_text::kFloat, {"n", 2}))};
  const tenon::Options other_cache{{"cache", "1"}, {"cache_dir", in_folder("other")}};
  tenon::Session(tenon::Model::from_memory(other.to_bytes()), other_cache);
  for (const auto& entry : fs::directory_iterator(in_folder("other"))) {
    const std::string ending = entry.path().extension();
    const fs::path to = ending == ".model" || ending == ".json" ? fs::path(own).replace_extension(ending)
                                                                : own.parent_path() / entry.path().filename();
    fs::copy_file(entry.path(), to, fs::copy_options::overwrite_existing);
  }
  EXPECT_THAT(result(session()), ElementsAre(-1, -1));
}

TEST_F(SessionCache, DamageCostsTimeOnly) {
  for (const char* ending : {".model", ".bin", ".json"}) {
    session();
    for (const auto& entry : fs::directory_iterator(in_folder("cache")))
      if (entry.path().extension() == ending) {
        std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(fs::file_size(entry.path()) / 2));
        file << "DAMAGED!";
        file.close();
      }
    EXPECT_THAT(result(session()), ElementsAre(0, 7)) << ending;
    EXPECT_THAT(result(session()), ElementsAre(0, 7)) << ending;
  }
}

TEST_F(SessionCache, ServesManyAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_THAT(result(session()), ElementsAre(0, 7)); });
  threads.clear();
  EXPECT_EQ(models(), 1);
}

TEST_F(SessionCache, SessionsAreAsWithoutIt) {
  for (int hit = 0; hit < 2; ++hit) {
    tenon::Session made = session(cached().set("dim:n", "1"));
    std::vector<float> b{0, 0};
    tenon::Source source;
    source.add("b", tenon::Value::tensor<float>({2}, b));
    made.set_weights(source, {{"partial", "1"}});
    EXPECT_THAT(result(made), ElementsAre(4, 6));
    std::vector<float> x(4, 1);
    EXPECT_EQ(code_of([&] { made.run({tenon::Value::tensor<float>({2, 2}, x)}); }), TN_INVALID_ARGUMENT);
  }
  for (int hit = 0; hit < 2; ++hit) {
    std::vector<float> b{1, 1};
    tenon::Options options = cached();
    options.set_weight("b", tenon::Value::tensor<float>({2}, b));
    EXPECT_THAT(result(session(options)), ElementsAre(5, 7));
  }
  EXPECT_THAT(result(session()), ElementsAre(0, 7));
}

// Weights that the caller gave when the model was read are part of what is looked for.
TEST_F(SessionCache, GivenWeightsAreOtherModels) {
  session();
  std::vector<float> b{1, 1};
  tenon::Options load;
  load.set_weight("b", tenon::Value::tensor<float>({2}, b));
  for (int hit = 0; hit < 2; ++hit) {
    const tenon::Model model = tenon::Model::load(in_folder("net.onnx"), load);
    EXPECT_THAT(result(tenon::Session(model, cached())), ElementsAre(5, 7));
  }
  EXPECT_EQ(models(), 2);
}

TEST_F(SessionCache, AFolderThatIsNamedMustWork) {
  std::ofstream(in_folder("file")) << "no folder";
  const auto error = error_of([&] { session({{"cache", "1"}, {"cache_dir", in_folder("file/cache")}}); });
  EXPECT_NE(error.code(), TN_OK);
  EXPECT_THAT(error.what(), HasSubstr("file"));
  // The user's own cannot be there in tests.
  EXPECT_THAT(result(session({{"cache", "1"}})), ElementsAre(0, 7));
}

TEST_F(SessionCache, ModelsTooLargeForItAreCompiled) {
  EXPECT_THAT(result(session(cached().set("cache_bytes", "10"))), ElementsAre(0, 7));
  EXPECT_EQ(models(), 0);
}

}  // namespace

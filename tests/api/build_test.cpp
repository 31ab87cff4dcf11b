// Builds: models to files, with names, groups, validation in a process of its own and a report.
#include <gmock/gmock.h>
#include <unistd.h>
#include <tenon/tenon.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "api/error_of.h"
#include "api/onnx_text.h"

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Builds : public testing::Test {
 protected:
  Builds() {
    fs::create_directories(folder);
    for (const char* name : {"a.onnx", "b.onnx"}) std::ofstream(in_folder(name)) << onnx_text::linear();
    std::ofstream(in_folder("bad.onnx")) << "this is no model";
  }
  ~Builds() override { fs::remove_all(folder); }

  std::string in_folder(const std::string& name) const { return (folder / name).string(); }
  std::vector<std::string> written() const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(in_folder("out"), ignored))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  // Without the program that compares.
  tenon::Options untried() const { return {{"output_dir", in_folder("out")}, {"validate", "0"}}; }

  const fs::path folder = fs::temp_directory_path() / ("tenon-build-test-" + std::to_string(::getpid()));
};

TEST_F(Builds, OneGroupOfSeveralModels) {
  tenon::Build build(untried());
  build.add(in_folder("a.onnx")).add(in_folder("b.onnx"));
  const std::string report = build.run();
  EXPECT_EQ(build.size(), 2u);
  EXPECT_EQ(build.status(0), "compiled");
  EXPECT_EQ(build.output(1), in_folder("out") + "/b_ctx.onnx");
  EXPECT_THAT(report, HasSubstr("\"status\": \"compiled\""));
  ASSERT_EQ(written().size(), 3u) << "two context files and the weights they share";
  const std::vector<std::string> paths{build.output(0), build.output(1)};
  std::vector<float> x{1, 1};
  const auto outputs = tenon::Artifact::load(paths).session("b").run({tenon::Value::tensor<float>({1, 2}, x)});
  EXPECT_THAT(outputs[0].data<float>(), ElementsAre(0, 7));
}

TEST_F(Builds, WhatIsUpToDateStays) {
  tenon::Build(untried()).add(in_folder("a.onnx")).run();
  tenon::Build again(untried());
  EXPECT_THAT(again.add(in_folder("a.onnx")).run(), HasSubstr("\"status\": \"up to date\""));
  EXPECT_EQ(again.status(0), "up to date");
}

TEST_F(Builds, AModelThatFailsDoesNotStopTheOthers) {
  tenon::Build build(untried());
  build.add(in_folder("bad.onnx")).add(in_folder("a.onnx"));
  const std::string report = build.run();
  EXPECT_THAT(report, HasSubstr("\"status\": \"failed\""));
  EXPECT_EQ(build.status(0), "failed");
  EXPECT_THAT(build.error(0), HasSubstr(in_folder("bad.onnx")));
  EXPECT_EQ(build.status(1), "compiled");
  EXPECT_EQ(build.error(1), "");
  EXPECT_THAT(tenon::report_html(report), HasSubstr("<h1>Compile report: failed</h1>"));
}

TEST_F(Builds, LoadedModelsCanBeLookedAt) {
  tenon::Build build(untried());
  build.add(in_folder("bad.onnx")).add(in_folder("a.onnx"));
  EXPECT_FALSE(build.model(1).has_value());
  build.load();
  EXPECT_FALSE(build.model(0).has_value());
  ASSERT_TRUE(build.model(1).has_value());
  EXPECT_EQ(build.model(1)->input_name(0), "x");
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Builds, SameNamesGetNumbersAndAWarning) {
  fs::create_directories(in_folder("other"));
  std::ofstream(in_folder("other/a.onnx")) << onnx_text::linear();
  std::vector<std::string> warnings;
  tenon::Build build(untried());
  build.add(in_folder("a.onnx")).add(in_folder("other/a.onnx"));
  build.listen([&](tn_build_event event, size_t model, const std::string& text) {
    if (event == TN_BUILD_WARNING) warnings.push_back(std::to_string(model) + ": " + text);
  });
  build.prepare();
  EXPECT_THAT(warnings, ElementsAre("1: another model is named 'a'; this one becomes 'a_1'"));
  EXPECT_EQ(build.output(1), in_folder("out") + "/a_1_ctx.onnx");
}

TEST_F(Builds, WrongOptionsAreRefusedBeforeAnythingIsRead) {
  const auto code = [&](const tenon::Options& options, int models) {
    return code_of([&] {
      tenon::Build build(options);
      for (int i = 0; i < models; ++i) build.add(in_folder("missing.onnx"));
      build.prepare();
    });
  };
  EXPECT_EQ(code({}, 0), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code({{"outptu", "x"}}, 1), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code({{"output", in_folder("x.onnx")}}, 2), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code({{"embed", "1"}, {"output_dir", in_folder("out")}}, 2), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code({{"compiler", "gcc"}}, 1), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code({{"compiler", "qairt"}}, 1), TN_UNSUPPORTED);
  EXPECT_EQ(code({{"output", in_folder("missing.onnx")}}, 1), TN_INVALID_ARGUMENT) << "it would replace its input";
}

TEST_F(Builds, WeightsThatNoModelHasAreRefused) {
  tenon::Options options = untried();
  options.set("pin:nothing", "1");
  tenon::Build build(options);
  build.add(in_folder("a.onnx"));
  EXPECT_EQ(code_of([&] { build.run(); }), TN_INVALID_ARGUMENT);
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Builds, ABuildRunsOnce) {
  tenon::Build build(untried());
  build.add(in_folder("a.onnx")).run();
  EXPECT_EQ(code_of([&] { build.run(); }), TN_INVALID_ARGUMENT);
  EXPECT_EQ(code_of([&] { build.add(in_folder("b.onnx")); }), TN_INVALID_ARGUMENT);
}

TEST_F(Builds, CancellingPublishesNothing) {
  tenon::Build build(untried());
  build.add(in_folder("a.onnx")).listen([&](tn_build_event, size_t, const std::string& text) {
    if (text.starts_with("packing")) build.cancel();
  });
  EXPECT_EQ(code_of([&] { build.run(); }), TN_CANCELLED);
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Builds, AProgramThatDoesNotCompareFailsTheModel) {
  tenon::Build build({{"output_dir", in_folder("out")}, {"program", "/bin/false"}});
  build.add(in_folder("a.onnx")).run();
  EXPECT_THAT(build.error(0), HasSubstr("the process that validated the compiled model ended with exit code 1"));
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Builds, AProgramThatWritesSomethingElseFailsTheModel) {
  const std::string program = in_folder("list.sh");
  std::ofstream(program) << "#!/bin/sh\necho '[1]'\n";
  fs::permissions(program, fs::perms::owner_all);
  tenon::Build build({{"output_dir", in_folder("out")}, {"program", program}});
  build.add(in_folder("a.onnx")).run();
  EXPECT_THAT(build.error(0), HasSubstr("the process that validated the compiled model returned no result"));
}

TEST_F(Builds, ResultsAreTriedByTheProgramBesideTheLibrary) {
  tenon::Build build({{"output_dir", in_folder("out")}});
  const std::string report = build.add(in_folder("a.onnx")).run();
  EXPECT_EQ(build.error(0), "");
  EXPECT_THAT(report, HasSubstr("\"verdict\": \"same\""));
}

TEST_F(Builds, CompilersAreListedWithTheReasonWhyNot) {
  const std::string compilers = tenon::compilers_json();
  EXPECT_THAT(compilers, HasSubstr("\"name\": \"tenon\""));
  EXPECT_THAT(compilers, HasSubstr("\"alias\": \"ort_jit\""));
  EXPECT_THAT(compilers, Not(HasSubstr("\"reason\": \"\"")));
}

}  // namespace

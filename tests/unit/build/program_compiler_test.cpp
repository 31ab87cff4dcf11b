// Compilers that are programs of their own: whatever a stand-in does to itself is only a result of the build.
#include "build/program_compiler.h"

#include <gmock/gmock.h>

#include <thread>

#include "api/onnx_text.h"
#include "build/build.h"
#include "unit/base/temporary_folder.h"

namespace tenon::build {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// In its arguments, $1 is the request, $2 the folder, then come models and files in turn.
constexpr const char* kGood =
    "while [ $# -gt 3 ]; do cp \"$3\" \"$2/$4\"; a=$1 b=$2; shift 4; set -- \"$a\" \"$b\" \"$@\"; done";

class Programs : public testing::Test {
 protected:
  Programs() {
    folder.write("a.onnx", onnx_text::linear());
    folder.write("b.onnx", onnx_text::linear());
  }

  std::unique_ptr<Compiler> stand_in(const std::string& script, bool groups = true) {
    const std::string path = folder.write("stand_in.sh", script + "\n");
    const Abilities abilities{groups, true, false};
    return std::make_unique<ProgramCompiler>("stand-in", abilities, ProgramCompiler::Command{"/bin/sh", {path}});
  }
  BuildRequest request(const std::vector<std::string>& models) {
    BuildRequest result;
    for (const std::string& model : models) result.models.push_back({folder / model, ""});
    result.output_dir = out;
    return result;
  }
  // What is in the output folder, which a failed build leaves as it was: not there.
  std::vector<std::string> written() const {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(out, ignored))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  // Runs to its end; the report.
  static Json run(Build& build) {
    auto report = build.run();
    EXPECT_TRUE(report.ok()) << report.status().to_string();
    return report.ok() ? Json::parse(*report) : Json();
  }

  TemporaryFolder folder;
  const std::string out = folder / "out";
};

TEST_F(Programs, ACrashFailsTheModel) {
  Build build(request({"a.onnx"}), stand_in("kill -SEGV $$"));
  const Json report = run(build);
  EXPECT_EQ(text_in(report, "status"), "failed");
  EXPECT_STREQ(build.status(0), "failed");
  EXPECT_EQ(build.error(0), folder / "a.onnx" + ": the compiler 'stand-in' crashed (Segmentation fault)");
  EXPECT_THAT(written(), IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(out)) << "made on the way, and nothing is in it";
}

TEST_F(Programs, AHangEndsWithTheTimeLimit) {
  BuildRequest hasty = request({"a.onnx"});
  hasty.compile_limit = std::chrono::milliseconds(100);
  Build build(hasty, stand_in("exec sleep 1000000"));
  EXPECT_EQ(text_in(run(build), "status"), "failed");
  EXPECT_THAT(build.error(0), HasSubstr("the compiler 'stand-in' printed nothing for more than 0.1 s and was stopped"));
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Programs, WhoeverWritesNothingHasNotSucceeded) {
  Build build(request({"a.onnx"}), stand_in("exit 0"));
  EXPECT_EQ(text_in(run(build), "status"), "failed");
  EXPECT_THAT(build.error(0), HasSubstr("the compiler 'stand-in' reported no error but did not write 'a_ctx.onnx'"));
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Programs, AnEmptyFileIsNothing) {
  Build build(request({"a.onnx"}), stand_in(": > \"$2/$4\""));
  EXPECT_EQ(text_in(run(build), "status"), "failed");
  EXPECT_THAT(build.error(0), HasSubstr("did not write 'a_ctx.onnx'"));
}

TEST_F(Programs, ARefusalIsShownWithItsReason) {
  Build build(request({"a.onnx"}), stand_in("printf 'no device'; exit 3"));
  run(build);
  EXPECT_THAT(build.error(0), HasSubstr("the compiler 'stand-in' ended with exit code 3: no device"));
}

TEST_F(Programs, OthersGoOnWithoutTheModelThatCrashes) {
  const std::string bad = std::string("case \"$*\" in *a_ctx.onnx*) kill -ABRT $$;; esac; ") + kGood;
  Build build(request({"a.onnx", "b.onnx"}), stand_in(bad));
  const Json report = run(build);
  EXPECT_STREQ(build.status(0), "failed");
  EXPECT_THAT(build.error(0), HasSubstr("crashed (Aborted)"));
  EXPECT_STREQ(build.status(1), "compiled");
  EXPECT_THAT(written(), ElementsAre("b_ctx.onnx"));
  EXPECT_EQ(text_in(member(list_in(report, "models")[1], "validation"), "verdict"), "not tried");
}

TEST_F(Programs, FailingFastWritesNothing) {
  BuildRequest both = request({"a.onnx", "b.onnx"});
  both.keep_going = false;
  Build build(both, stand_in(std::string("case \"$*\" in *a_ctx.onnx*) exit 1;; esac; ") + kGood));
  run(build);
  EXPECT_STREQ(build.status(1), "skipped");
  EXPECT_THAT(written(), IsEmpty());
}

TEST_F(Programs, WeightsFilesArePublishedToo) {
  Build build(request({"a.onnx"}), stand_in(std::string("printf 12345 > \"$2/a.bin\"; ") + kGood));
  const Json report = run(build);
  EXPECT_EQ(text_in(report, "compiler"), "stand-in");
  EXPECT_EQ(text_in(report, "status"), "compiled");
  EXPECT_THAT(written(), ElementsAre("a.bin", "a_ctx.onnx"));
  EXPECT_EQ(text_in(member(report, "group"), "weights_file"), "a.bin");
  EXPECT_EQ(integer_in(member(report, "group"), "bytes"), 5);
}

TEST_F(Programs, WhatExistsStaysUnlessItMayBeReplaced) {
  Build(request({"a.onnx"}), stand_in(kGood)).run().ok();
  folder.write("out/a_ctx.onnx", "mine");
  Build again(request({"a.onnx"}), stand_in(kGood));
  run(again);
  EXPECT_THAT(again.error(0), HasSubstr("exists and is not up to date"));
  EXPECT_EQ(folder.read("out/a_ctx.onnx"), "mine");
}

TEST_F(Programs, GroupsNeedACompilerThatCanShare) {
  Build build(request({"a.onnx", "b.onnx"}), stand_in(kGood, false));
  EXPECT_EQ(build.prepare().message(), "the compiler 'stand-in' can compile only one model at a time");
}

TEST_F(Programs, CancellingEndsTheProgram) {
  Build build(request({"a.onnx"}), stand_in("exec sleep 1000000"));
  ASSERT_TRUE(build
                  .listen([&](Event, size_t, const std::string& text) {
                    if (text.starts_with("compiling")) build.cancel();
                  })
                  .ok());
  const auto report = build.run();
  EXPECT_EQ(report.status().code(), Code::Cancelled);
  EXPECT_EQ(report.status().message(), "the build was cancelled");
  EXPECT_THAT(written(), IsEmpty());
}

}  // namespace
}  // namespace tenon::build

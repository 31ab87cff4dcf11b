// The process that tries one staged result.
#include "cli/compile/check_staged.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>

#include "cli/compared_outputs.h"
#include "cli/failure.h"
#include "cli/inputs.h"
#include "cli/models.h"
#include "cli/trial_flags.h"
#include "cli/trial_inputs.h"

namespace cli {

namespace {

// What is written before the result itself: white space to a reader of JSON, and to whoever waits the news of who runs.
constexpr char kReferenceDone = '\n', kCompiledDone = '\t';

// Ends this process when the one that started it ends.
void end_with_parent(int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have ended before that.
  if (::getppid() != parent) ::_exit(1);
}

void check_version(const std::string& version) {
  if (version != tenon::version())
    throw Failure(
        kFailed, fmt::format("the library is Tenon {}, but the program that validates its results is Tenon {}", version,
                             tenon::version()));
}

// The compiled model, and the model itself by the reference interpreter, on the same inputs.
class Check {
 public:
  Check(const Json& request, const std::string& model, std::string context_path, const TrialFlags& flags)
      : request_(request), context_path_(std::move(context_path)), context_(context_options()),
        model_(tenon::Model::load(model, load_options())), compiled_(tenon::Model::load(context_path_)),
        given_(flags.inputs, ShapeFlags(flags.dims, flags.shapes)) {}

  Json run() {
    // That the result can be loaded is to be seen whatever the reference does.
    const tenon::Session compiled(context_, compiled_, session_options());
    given_.resolve_shapes(model_);
    TrialInputs inputs(model_, fill(), given_.read_given(model_), request_["samples"].integer(),
                       request_["seed"].integer());
    try {
      compare(compiled, inputs);
    } catch (const tenon::Error& error) {
      result_.set("verdict", "inconclusive");
      result_.set("message", std::string("the reference cannot run it: ") + error.what());
      result_.set("short_of_memory", error.code() == TN_RESOURCE_LIMIT);
    }
    return finish(inputs);
  }

 private:
  tenon::Options context_options() const {
    tenon::Options options{{"threads", request_["threads"].plain()}};
    if (!request_["cpu_isa"].text().empty()) options.set("cpu_isa", request_["cpu_isa"].text());
    return options;
  }
  tenon::Options session_options() const {
    tenon::Options options{{"seed", request_["seed"].plain()}};
    if (request_["memory"].integer() > 0) options.set("memory_limit", request_["memory"].plain());
    return options;
  }
  tenon::Options load_options() const {
    tenon::Options options;
    if (request_["freeze_all"].boolean()) options.set("freeze_inputs", "1");
    for (const Json& name : request_["frozen"].items()) options.set("freeze_input:" + name.text(), "1");
    return options;
  }
  TrialInputs::Fill fill() const {
    return [this](TrialInputs::Values& values, int64_t seed, int64_t sizes) {
      tenon::Options options{{"seed", std::to_string(seed)}, {"sizes", std::to_string(sizes)}};
      given_.shapes().add_dims(model_, options);
      given_.shapes().add_shapes(options);
      model_.fill_inputs(values, options);
    };
  }

  void compare(const tenon::Session& compiled, TrialInputs& inputs) {
    tenon::Options options = session_options();
    options.set("provider", "reference");
    const tenon::Session reference(context_, model_, options);
    const Judge judge(model_, context_, request_["rtol"].number(), request_["atol"].number());
    std::vector<ComparedOutput> outputs;
    for (size_t i = 0; i < model_.output_count(); ++i)
      outputs.push_back({model_.output_name(i), model_.output_type(i).text()});
    ComparedSets sets(outputs);
    inputs.for_each([&](const TrialInputs::Values& values) {
      const auto wanted = reference.run(values);
      std::cout << kReferenceDone << std::flush;
      const auto got = run_compiled(compiled, values);
      std::cout << kCompiledDone << std::flush;
      std::vector<tn_comparison> comparisons;
      for (size_t i = 0; i < wanted.size(); ++i)
        comparisons.push_back(judge.compare(outputs[i].name, got[i], wanted[i], values));
      return sets.add(comparisons);
    });
    outputs_ = sets.outputs();
  }
  // What only the compiled model refuses is its fault.
  static std::vector<tenon::Value> run_compiled(const tenon::Session& compiled, const TrialInputs::Values& values) {
    try {
      return compiled.run(values);
    } catch (const tenon::Error& error) {
      throw Failure(kFailed, error.what());
    }
  }

  Json finish(const TrialInputs& inputs) {
    if (result_["verdict"].is_null()) {
      result_.set("verdict", verdict_of(outputs_));
      result_.set("message", verdict_message(outputs_));
    }
    Json rows(Json::Array{});
    for (const ComparedOutput& output : outputs_) rows.push(output.json());
    result_.set("outputs", std::move(rows));
    result_.set("tried", inputs.tried());
    return std::move(result_);
  }

  const Json& request_;
  std::string context_path_;
  tenon::Context context_;
  tenon::Model model_, compiled_;
  InputFlags given_;
  std::vector<ComparedOutput> outputs_;
  Json result_;
};

}  // namespace

int check_staged(const std::string& text, const std::string& model, const std::string& context,
                 const std::vector<std::string>& flags) {
  Json result;
  try {
    const Json request = Json::parse(text);
    end_with_parent(static_cast<int>(request["parent"].integer()));
    check_version(request["version"].text());
    result = Check(request, model, context, TrialFlags::from_arguments(flags)).run();
  } catch (const std::exception& error) {
    result = Json::Object{{"verdict", "failed"}, {"message", error.what()}, {"outputs", Json::Array{}}};
  }
  std::cout << result.dump() << std::flush;
  return std::cout ? kDone : kFailed;
}

}  // namespace cli

// The side of validation that starts processes.
#include "build/validate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "build/child_process.h"
#include "tenon/tenon.h"

namespace tenon::build {

namespace {

// The first argument that makes the program check one staged result.
constexpr const char* kCheckStaged = "--check-staged";
// What it writes when the reference is done: white space to a reader of JSON.
constexpr char kReferenceDone = '\n';

Json request_for(const StagedCheck& check) {
  return Json::object({{"parent", static_cast<int64_t>(::getpid())},
                       {"version", tn_version()},
                       {"threads", check.threads},
                       {"samples", check.samples},
                       {"seed", check.seed},
                       {"memory", check.memory},
                       {"cpu_isa", check.cpu_isa},
                       {"freeze_all", check.freeze_all},
                       {"frozen", check.frozen},
                       {"rtol", check.rtol},
                       {"atol", check.atol}});
}

std::vector<std::string> arguments_for(const StagedCheck& check) {
  // Paths need not be UTF-8, which is all that JSON takes.
  std::vector<std::string> arguments = {kCheckStaged, dump(request_for(check)), check.model, check.context};
  const auto add = [&](const char* flag, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) arguments.insert(arguments.end(), {flag, text});
  };
  add("--dim", check.trial.dims);
  add("--shape", check.trial.shapes);
  add("--input", check.trial.inputs);
  return arguments;
}

Json verdict(const char* word, const std::string& message) {
  return Json::object({{"verdict", word}, {"message", message}, {"outputs", Json::array()}});
}

}  // namespace

Json validate_staged(const StagedCheck& check, const std::atomic<bool>* cancelled) {
  const auto start = std::chrono::steady_clock::now();
  const ChildResult child =
      run_child(check.program, arguments_for(check), std::chrono::seconds(check.seconds), cancelled);
  Json result;
  try {
    // What it wrote last says who was running.
    if (child.timed_out && !child.output.ends_with(kReferenceDone))
      result = verdict(
          "inconclusive",
          fmt::format("the reference needs more than {} s; raise the option 'validate_seconds'", check.seconds));
    else if (child.timed_out)
      result = verdict(
          "failed",
          fmt::format(
              "the compiled model needs more than {} s, but the reference did not; raise the option 'validate_seconds'",
              check.seconds));
    else
      result = child.problem.empty()
                   ? Json::parse(child.output)
                   : verdict("failed", "the process that validated the compiled model " + child.problem);
  } catch (const std::exception&) {
    result = verdict("failed", "the process that validated the compiled model returned no result");
  }
  // A program that is not ours may write any JSON.
  if (!result.is_object())
    result = verdict("failed", "the process that validated the compiled model returned no result");
  result["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace tenon::build

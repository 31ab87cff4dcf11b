// The side of validation that starts processes.
#include "cli/compile/validate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "cli/child_process.h"

namespace cli {

namespace {

Json request_for(const StagedCheck& check) {
  Json frozen(Json::Array{});
  for (const std::string& name : check.frozen) frozen.push(name);
  return Json::Object{{"parent", static_cast<int64_t>(::getpid())},
                      {"threads", check.threads},
                      {"samples", check.samples},
                      {"seed", check.seed},
                      {"memory", check.memory},
                      {"cpu_isa", check.cpu_isa},
                      {"freeze_all", check.freeze_all},
                      {"frozen", std::move(frozen)},
                      {"rtol", check.rtol},
                      {"atol", check.atol}};
}

Json verdict(const char* word, const std::string& message) {
  return Json::Object{{"verdict", word}, {"message", message}, {"outputs", Json::Array{}}};
}

}  // namespace

Json validate_staged(const StagedCheck& check) {
  const auto start = std::chrono::steady_clock::now();
  // Paths need not be UTF-8, which is all that JSON takes.
  std::vector<std::string> arguments = {std::string(kCheckStaged), request_for(check).dump(), check.model,
                                        check.context};
  for (const std::string& argument : check.flags.to_arguments()) arguments.push_back(argument);
  const ChildResult child = run_child(std::move(arguments), std::chrono::seconds(check.seconds));
  Json result;
  try {
    // What it wrote last says who was running.
    if (child.timed_out && !child.output.ends_with(kReferenceDone))
      result =
          verdict("inconclusive",
                  fmt::format("the reference needs more than {} s; --validate-timeout gives it more", check.seconds));
    else if (child.timed_out)
      result = verdict("failed", fmt::format("the compiled model needs more than {} s, which the reference did not; "
                                             "--validate-timeout gives it more",
                                             check.seconds));
    else
      result = child.problem.empty() ? Json::parse(child.output)
                                     : verdict("failed", "the process that tried the compiled model " + child.problem);
  } catch (const std::exception&) {
    result = verdict("failed", "the process that tried the compiled model gave no result");
  }
  result.set("seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return result;
}

}  // namespace cli

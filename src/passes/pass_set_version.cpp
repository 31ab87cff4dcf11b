#include "passes/pass_set_version.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "ir/infer_node.h"

namespace tenon {

namespace {

// What shapes a normal form and is no rule of the pipeline. Each version is raised like that of a rule.
constexpr std::pair<std::string_view, int> kOtherParts[] = {
    {"inline_functions", 2},
    {"remove_unused", 1},
    {"export", 3},
    {"fingerprint", 1},
};

}  // namespace

std::string pass_set_version(std::span<const Phase> phases, int inference) {
  std::string parts = fmt::format("inference {}\n", inference);
  for (const auto& [name, version] : kOtherParts) parts += fmt::format("{} {}\n", name, version);
  for (const Phase& phase : phases) {
    parts += fmt::format("phase {}\n", phase.name);
    for (const Pass& pass : phase.passes)
      parts += fmt::format("{} {} {}\n", capability_info(pass.capability).name, pass.rule.name, pass.rule.version);
  }
  return hash_bytes(parts).hex().substr(0, 12);
}

std::string pass_set_version() {
  static const std::string version = pass_set_version(pipeline(), kInferenceVersion);
  return version;
}

}  // namespace tenon

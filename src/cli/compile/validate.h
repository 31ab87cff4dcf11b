#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"
#include "cli/trial_flags.h"

namespace cli {

// The first argument that makes the program check one staged result; see check_staged.
inline constexpr std::string_view kCheckStaged = "--check-staged";

inline constexpr int64_t kValidateSeconds = 600;

struct StagedCheck {
  std::string model, context;  // their paths
  int64_t threads = 0, seed = 1;
  int64_t memory = 0;  // that runs may take; 0: the usual limit
  std::string cpu_isa;
  bool freeze_all = false;
  std::vector<std::string> frozen;
  double rtol = -1, atol = -1;         // negative: what rounding explains
  int64_t samples = 0;                 // sets of inputs; 0: one for each shape that is tried
  TrialFlags flags;                    // that concern the model
  int64_t seconds = kValidateSeconds;  // that the reference may take for a set, and then the compiled model
};

// What the process that tries a result writes before the result itself: white space to a reader of JSON.
inline constexpr char kReferenceDone = '\n', kCompiledDone = '\t';

// Compares a context file with the model it was made from, in a process of its own, so that a crash there is only a
// result. A reference that takes too long makes the verdict "inconclusive", a compiled model "failed". {verdict: "same"
// | "different" | "inconclusive" | "failed", message, outputs: [...], tried: [...] as TrialInputs has it, seconds};
// with short_of_memory when the verdict is inconclusive for that reason.
Json validate_staged(const StagedCheck& check);

// What that process does: reads the request, writes the result to standard output. The exit code of the program.
int check_staged(const std::string& request, const std::string& model, const std::string& context,
                 const std::vector<std::string>& flags);

}  // namespace cli

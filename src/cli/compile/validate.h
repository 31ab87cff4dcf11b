#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"

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
  int64_t seconds = kValidateSeconds;  // that the reference may take, and then the compiled model
};

// Compares a context file with the model it was made from, in a process of its own, so that a crash there is only a
// result. A reference that takes too long makes the verdict "inconclusive", a compiled model "failed". {verdict: "same"
// | "different" | "inconclusive" | "failed", message, outputs: [...], seconds}; with short_of_memory when the verdict
// is inconclusive for that reason.
Json validate_staged(const StagedCheck& check);

// What that process does: reads the request, writes the result to standard output. The exit code of the program.
int check_staged(const std::string& request, const std::string& model, const std::string& context);

}  // namespace cli

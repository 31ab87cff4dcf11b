#pragma once

#include <string>
#include <string_view>

#include "cli/compile/settings.h"

namespace cli {

// The first argument that makes the program check one staged result; see check_staged.
inline constexpr std::string_view kCheckStaged = "--check-staged";

// Compares a context file with the model it was made from, in a process of its own, so that a crash there is only a
// result. {verdict: "same" | "different" | "inconclusive" | "failed", message, outputs: [...], seconds}.
Json validate_staged(const CompileSettings& settings, const std::string& model, const std::string& context);

// What that process does: reads the request, writes the result to standard output. The exit code of the program.
int check_staged(const std::string& request);

}  // namespace cli

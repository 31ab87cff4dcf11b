#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/failure.h"
#include "cli/trial_flags.h"

namespace cli {

struct ArtifactCheck {
  std::string path;  // a context file or a folder
  std::vector<std::string> source_dirs;
  int64_t samples = 1, seed = 0;
  double rtol = -1, atol = -1;
  TrialFlags flags;
};

// Every byte of compiled models, and their numbers where the models they were made from are found.
Exit verify_artifacts(const ArtifactCheck& check, Console& console);

}  // namespace cli

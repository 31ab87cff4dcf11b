#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/compile/job.h"

namespace cli {

// Results of an earlier compile that are just what this one would make.
struct ExistingResults {
  std::string weights_file;              // "" when embedded
  Json described;                        // models and packed weights, the models in the order of the jobs
  std::vector<std::string> validations;  // the verdicts noted in the files, in the same order; "": never tried
};

// Looks at the context files of the jobs, which must be one group: made from the same models with the same options and
// names, and whole. None when anything is missing or different; `pins` are those of the group that is compiled.
std::optional<ExistingResults> find_existing(const std::vector<const ModelJob*>& jobs,
                                             const std::vector<std::string>& pins, const CompileSettings& settings,
                                             const OutputNames& names, const Console& console);

}  // namespace cli

#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "tenon/tenon.hpp"

namespace cli {

// --dim, --shape and --input as they were given: what comparisons with the reference use. The inputs of a model decide
// which of them concern it.
struct TrialFlags {
  std::vector<std::string> dims, shapes, inputs;

  void declare(Arguments& arguments);
  bool given() const { return !dims.empty() || !shapes.empty() || !inputs.empty(); }
  // Those that name something of this model.
  TrialFlags of(const tenon::Model& model) const;
  // As the library takes them, for builds and comparisons.
  void add_to(tenon::Options& options) const;
  // From the command line of a process that compares; see check_staged.
  static TrialFlags from_arguments(const std::vector<std::string>& arguments);
};

// Failure(kUsage) for what no model has a use for, or what does not fit one that has.
void check_trial_flags(const TrialFlags& flags, const std::vector<const tenon::Model*>& models);

}  // namespace cli

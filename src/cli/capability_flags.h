#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/config_problems.h"
#include "tenon/tenon.hpp"

namespace cli {

// --enable and --disable.
struct CapabilityFlags {
  std::vector<std::string> enable, disable;

  void declare(Arguments& arguments);
  // Adds capability:NAME=1|0. Failure(kUsage) for names that do not exist or do not go together.
  void add_to(tenon::Options& options) const;
  // The section of a configuration file: {enable, disable, keep_functions}.
  void read(const std::string& where, const Json& section, ConfigProblems& problems);
  // What these say beats what the others say.
  void override_with(const CapabilityFlags& others);
};

}  // namespace cli

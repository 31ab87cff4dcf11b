#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "tenon/tenon.hpp"

namespace cli {

// --enable and --disable.
struct CapabilityFlags {
  std::vector<std::string> enable, disable;

  void declare(Arguments& arguments);
  // Adds capability:NAME=1|0. Failure(kUsage) for names that do not exist or do not go together.
  void add_to(tenon::Options& options) const;
};

}  // namespace cli

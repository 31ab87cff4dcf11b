#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"

namespace cli {

// What `tenon weights` was told.
struct WeightFlags {
  std::string action, path;
  std::string from, output, output_dir;
  std::vector<std::string> only, source_dirs;
  bool strict = false, in_place = false, overwrite = false;
};

// Each in the file of its name.
Exit list_weights(const WeightFlags& flags, Console& console);
Exit set_weights(const WeightFlags& flags, Console& console);
Exit strip_weights(const WeightFlags& flags, Console& console);
Exit export_weights(const WeightFlags& flags, Console& console);

}  // namespace cli

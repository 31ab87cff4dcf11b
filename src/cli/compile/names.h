#pragma once

#include <string>
#include <vector>

#include "cli/compile/settings.h"

namespace cli {

// Where the results of a compile go.
struct OutputNames {
  std::string folder;              // of all of them; "" is the current one
  std::vector<std::string> names;  // of the models in the group, unique, in the order of the flags
  std::vector<std::string> files;  // their context files in the folder
  std::string weights_name;        // of the weights file, before the dash
  std::string path(const std::string& file) const { return folder.empty() ? file : folder + "/" + file; }
};

// "net" of "models/net.onnx".
std::string stem_of(const std::string& path);

// Failure(kUsage) when a result would replace an input.
OutputNames choose_names(const CompileSettings& settings, const Console& console);

}  // namespace cli

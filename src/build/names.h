#pragma once

#include <string>
#include <vector>

#include "build/request.h"

namespace tenon::build {

// Where the results of a build go.
struct OutputNames {
  std::string folder;              // of all of them; "" is the current one
  std::vector<std::string> names;  // of the models in the group, unique, in the order of the request
  std::vector<std::string> files;  // their context files in the folder
  std::string weights_name;        // of the weights file, before the dash
  std::string path(const std::string& file) const { return folder.empty() ? file : folder + "/" + file; }
};

// tenon::Error with TN_INVALID_ARGUMENT when a result would replace an input or a name is no text, with TN_IO when
// something is in the way.
OutputNames choose_names(const BuildRequest& request, const Listener& tell);

}  // namespace tenon::build

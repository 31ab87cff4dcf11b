#pragma once

#include <string>
#include <vector>

#include "cli/json.h"

namespace cli {

// Whether a file holds the model that a compiled one was made from; "" or why not. `model` is one of the models that
// tenon::Artifact::describe tells of.
std::string why_not_source(const Json& model, const std::string& path);

// The file that a compiled model was made from, by name and hash. "" and the reason when it is in none of the folders;
// `remedy` says what to do then.
std::string find_source(const Json& model, const std::vector<std::string>& folders, const std::string& remedy,
                        std::string& reason);

}  // namespace cli

#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/status.h"

namespace tenon {

// The weights files that one file of a folder names: none for what is no context file. Fails when the file may be one
// and cannot be read.
Result<std::set<std::string>> weights_named_by(const std::string& folder, const std::string& name);

// Those among `names` that hold what the weights file `weights` refers to. Fails when it is there and cannot be read.
Result<std::set<std::string>> files_referred_to(const std::string& folder, const std::string& weights,
                                                const std::vector<std::string>& names);

// Every weights file that the files of a folder need. Fails when one of them may need some and cannot be read.
Result<std::set<std::string>> needed_weights(const std::string& folder);

}  // namespace tenon

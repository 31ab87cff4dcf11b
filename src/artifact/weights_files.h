#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/confined_folders.h"
#include "plan/weights_file.h"

// Weights files in folders. Which one a file is, its header says; its name only says where to look first.
namespace tenon {

// The weights file with a content id in the first of `folders`, opened. What is something else is passed over, and so
// is a link that leaves the folders. NotFound with the reasons when there is none; `where` is for the message.
Result<std::shared_ptr<const WeightsFile>> find_weights_file(const ConfinedFolders& folders, const std::string& where,
                                                             const Hash128& id, const WeightsFileOptions& options);

// The content ids of those among these files of a folder that are weights files, by name.
std::map<std::string, Hash128> weights_file_ids(const std::string& folder, const std::vector<std::string>& names);

}  // namespace tenon

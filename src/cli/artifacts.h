#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "tenon/tenon.hpp"

namespace cli {

// Context files that share one weights file.
struct ArtifactGroup {
  std::string folder;              // "" is the current one
  std::vector<std::string> paths;  // sorted
  std::string weights_file;        // "" when embedded
  std::string content_id;
  std::string problem;  // why the one file cannot be read
  bool embedded() const { return weights_file.empty(); }
  // Of the weights file, before the dash; of the context file when they are embedded.
  std::string weights_name() const;
};

bool is_folder(const std::string& path);

// The folders as an option of the library. Failure(kUsage) for one that is not there.
void add_source_dirs(const std::vector<std::string>& folders, tenon::Options& options);

// The group that one context file is alone. Failure(kCannotLoad) when it is something else.
ArtifactGroup group_of_file(const std::string& path);
// Every group in a folder; files that are no context files of Tenon are left out.
std::vector<ArtifactGroup> groups_in_folder(const std::string& folder);
// Both: Failure(kCannotLoad) when there is nothing.
std::vector<ArtifactGroup> find_groups(const std::string& path);

// The files that a group was read from and may be read from again: its own, and those its weights came from, where
// they are found beside it or in `source_dirs`.
std::vector<std::string> files_of(const ArtifactGroup& group, const tenon::Artifact& artifact,
                                  const std::vector<std::string>& source_dirs);

// Failure(kCannotLoad) with the reason.
tenon::Artifact open_group(const ArtifactGroup& group, const tenon::Options& options = {});

}  // namespace cli

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/status.h"

// What interrupted publications leave in folders, and what of it may go.
namespace tenon {

// New files are made in a folder of this name inside the one they belong to. It holds a file of this name and content,
// which marks the folder as one that may be emptied, and which its maker has locked.
inline constexpr std::string_view kStagingPrefix = ".tenon-staging-";
inline constexpr std::string_view kLockName = ".tenon-lock";
inline constexpr std::string_view kMark = "Tenon keeps files in this folder until they are published.\n";
// In it, names of weights files, one per line, that may go when nobody needs them: new ones and replaced ones.
inline constexpr std::string_view kNoteName = "publishing";

// What context files among these files of a folder name, and the files that these weights refer to. A context file
// that cannot be read counts for nothing.
std::vector<std::string> weights_used_by(const std::string& folder, const std::vector<std::string>& contexts);

// Whether a whole weights file with this content id is in a folder.
bool has_weights_file(const std::string& folder, const Hash128& id);

// The following change a folder that the caller has the lock on. Nothing is removed through a link. Where a file of the
// folder cannot be read, so that nobody knows which weights it needs, no weights file is removed, and people are told.

// Gives the rest of a group its names where a publication was stopped between its first context file and its last.
Status complete_publications(const std::string& folder);

// Staging folders whose maker is gone, and the weights files they note. One stays while it tells of a group that was
// replaced in part.
void remove_stale_staging(const std::string& folder);

// Weights files that no context file in the folder needs any more: those of `candidates`, and those called
// "<stem>-<8 digits>.bin" unless the stem is empty.
void remove_unnamed_weights(const std::string& folder, const std::string& stem,
                            const std::vector<std::string>& candidates);

}  // namespace tenon

#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "plan/artifact_read.h"

// What interrupted publications leave in folders, and who may go.
namespace tenon {

// New files are made in a folder of this name inside the one they belong to; who made it holds a lock on a file in it.
inline constexpr std::string_view kStagingPrefix = ".tenon-staging-";
inline constexpr std::string_view kLockName = "lock";
// In it, names of weights files, one per line, that may go when nobody needs them: new ones and replaced ones.
inline constexpr std::string_view kNoteName = "publishing";

// The weights file that a context file of Tenon names; "" when it names none or is something else.
std::string weights_named_by(const std::string& context_path);

// The files among `names` that hold what a weights file refers to.
std::set<std::string> files_referred_to(const Artifact& weights, const std::vector<std::string>& names);

// Whether a whole weights file with this content id is in a folder.
bool has_weights_file(const std::string& folder, const Hash128& id);

// Staging folders whose maker is gone, and the weights files they note. One stays while it tells of a group that was
// replaced in part.
void remove_stale_staging(const std::string& folder);

// Weights files that no context file in the folder needs any more: those of `candidates`, and those called
// "<stem>-<8 digits>.bin" unless the stem is empty. The caller has the lock on the folder.
void remove_unnamed_weights(const std::string& folder, const std::string& stem,
                            const std::vector<std::string>& candidates);

}  // namespace tenon

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

// What interrupted publications leave in folders, and who may go.
namespace tenon {

// New files are made in a folder of this name inside the one they belong to; who made it holds a lock on a file in it.
inline constexpr std::string_view kStagingPrefix = ".tenon-staging-";
inline constexpr std::string_view kLockName = "lock";

// The weights file that a context file of Tenon names; "" when it names none or is something else.
std::string weights_named_by(const std::string& context_path);

// Whether a whole weights file with this content id is in a folder.
bool has_weights_file(const std::string& folder, const Hash128& id);

// Staging folders whose maker is gone.
void remove_stale_staging(const std::string& folder);

// Weights files that no context file in the folder needs any more: those of `candidates`, and those called
// "<stem>-<8 digits>.bin". The caller has the lock on the folder.
void remove_unnamed_weights(const std::string& folder, const std::string& stem,
                            const std::vector<std::string>& candidates);

}  // namespace tenon

#pragma once

#include "build/staged/known_files.h"
#include "build/staged/stage.h"

namespace tenon::build {

// Finds the files of a model and their hashes, and the fingerprint of its graph. `last`: what the last manifest says of
// the model. What is read is known to a compile of the same process. `jobs`: how many parts are read at a time.
void read_files(StagedModel& model, const KnownFiles& known, const Json& last, int64_t jobs);

}  // namespace tenon::build

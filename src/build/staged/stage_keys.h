#pragma once

#include "build/request.h"
#include "build/staged/stage.h"

namespace tenon::build {

// Finds the files of a model and their hashes, and the fingerprint of its graph.
void read_files(StagedModel& model, KnownFiles& known, const Json& last);

// What decides about the stages of a model.
void set_keys(StagedModel& model, const ModelRequest& own, const BuildRequest& request, const std::string& file);

}  // namespace tenon::build

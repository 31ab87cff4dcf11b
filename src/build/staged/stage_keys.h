#pragma once

#include "build/request.h"
#include "build/staged/stage.h"

namespace tenon::build {

// What decides about the stages of a model.
void set_keys(StagedModel& model, const ModelRequest& own, const BuildRequest& request, const std::string& file);

}  // namespace tenon::build

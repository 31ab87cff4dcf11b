#pragma once

#include <vector>

#include "build/request.h"
#include "tenon/tenon.hpp"

namespace tenon::build {

// What of a request names something of this model.
TrialRequest trial_of(const Model& model, const TrialRequest& request);

// tenon::Error with TN_INVALID_ARGUMENT for what no model has a use for.
void check_trial(const TrialRequest& request, const std::vector<const Model*>& models);

}  // namespace tenon::build

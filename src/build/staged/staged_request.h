#pragma once

#include <string>

#include "build/request.h"
#include "passes/capability.h"

namespace tenon::build {

// What happens to a model: its own switches over those of all.
CapabilitySwitches switches_of(const ModelRequest& model, const BuildRequest& request);
// Throws tenon::Error.
CapabilityChoice choice_of(const CapabilitySwitches& switches);
// "X_opt.onnx".
std::string optimized_file(const std::string& name);
bool wants_optimized_files(const BuildRequest& request);
// Throws tenon::Error with what does not fit together.
void check_staged_request(const BuildRequest& request);

// Throws a tenon::Error unless it is ok.
void throw_unless_ok(const Status& status);

}  // namespace tenon::build

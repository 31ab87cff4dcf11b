#pragma once

#include "build/json.h"
#include "passes/capability.h"

namespace tenon::build {

// Every capability: a JSON list of {name, group, default, exact, result, description, needs, excludes, produces,
// rules}.
std::string capabilities_json();

// What a choice of capabilities comes to: {on: [name], added: [{name, needed_by}]}.
Json choice_json(const CapabilityChoice& choice);

}  // namespace tenon::build

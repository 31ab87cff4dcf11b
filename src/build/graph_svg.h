#pragma once

#include <string>

#include "build/json.h"

namespace tenon::build {

// A drawing of nodes {name, op, provider, inputs, outputs}, in an order in which each comes after those it reads: a box
// for each, with its provider as class, and lines along the values.
std::string graph_svg(const Json& nodes);

}  // namespace tenon::build

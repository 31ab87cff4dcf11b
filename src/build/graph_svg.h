#pragma once

#include <string>

#include "build/json.h"

namespace tenon::build {

// A drawing of nodes {name, op, kind, title, id, link, inputs, outputs}, in an order in which each comes after those it
// reads: a box for each, with its kind as class, its title where a pointer rests on it, its id, and a link to another
// part of the page ("": none); and lines along the values.
std::string graph_svg(const Json& nodes);
// The same as a part of a page that scrolls, or for a large graph a sentence instead.
std::string graph_html(const Json& nodes);

}  // namespace tenon::build

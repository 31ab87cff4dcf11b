#pragma once

#include <string>

#include "build/json.h"

namespace tenon::build {

// The graph of a model, as the sections summary and graph of tn_model_describe have it, as one page that needs nothing
// else: a drawing, and a table of all nodes.
std::string model_html(const std::string& title, const Json& described);

}  // namespace tenon::build

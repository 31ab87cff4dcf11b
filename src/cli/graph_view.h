#pragma once

#include <string>

#include "cli/json.h"

// Ways to show the "graph" section of tn_model_describe.
namespace cli {

// One line per node, bodies indented below.
std::string graph_as_text(const Json& graph);
// For Graphviz; weights are left out, bodies are boxes.
std::string graph_as_dot(const std::string& title, const Json& graph);

// The inputs and outputs of a described model, those with a default marked.
std::string inputs_and_outputs_text(const Json& described);

}  // namespace cli

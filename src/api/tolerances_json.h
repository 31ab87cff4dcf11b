#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ir/graph.h"

namespace tenon::api {

// The section "tolerances" of tn_model_describe: one entry per output.
nlohmann::json describe_tolerances(const Graph& graph);

}  // namespace tenon::api

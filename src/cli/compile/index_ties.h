#pragma once

#include <string>
#include <vector>

#include "cli/json.h"
#include "tenon/tenon.hpp"

namespace cli {

// How many elements of an integer output differ from the reference for another reason than that the largest (or
// smallest) elements it chose between are equal within `tolerance` of the largest of them. `graph` as
// tn_model_describe gives it. Everything that differs, when the output is not the choice of an ArgMax, ArgMin or TopK.
int64_t unexplained_indices(const tenon::Model& model, const Json& graph, const tenon::Context& context,
                            const std::string& output, const std::vector<tenon::Value>& inputs, const tenon::Value& got,
                            const tenon::Value& wanted, double tolerance);

}  // namespace cli

#pragma once

#include <string_view>
#include <vector>

#include "wire/onnx_model.h"

namespace tenon {

// The names of the values that a node reads, also those that its bodies take from outside.
std::vector<std::string_view> references_of(const wire::Node& node);

}  // namespace tenon

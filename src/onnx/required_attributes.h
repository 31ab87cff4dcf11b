#pragma once

#include "onnx/import_node.h"

namespace tenon {

// An error when the node lacks an attribute that its version of the op cannot do without.
Status check_required_attributes(const ImportNode& node, std::string_view domain);

}  // namespace tenon

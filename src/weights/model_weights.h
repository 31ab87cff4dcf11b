#pragma once

#include "weights/weight_source.h"
#include "wire/onnx_model.h"

namespace tenon {

// "scope/name", or the name alone at the top of a model.
std::string source_name(const std::string& scope, std::string_view name);
// What messages and scopes call a node: its name, or one made from its op and output.
std::string readable_name(const wire::Node& node);
// The scope of a body or function.
std::string body_scope(const std::string& scope, const wire::Node& node, std::string_view attribute);
std::string function_scope(const wire::Function& function);

// The weights of an ONNX model under the names that a compile of it gives them. Reads structure only.
Result<std::unique_ptr<WeightSource>> open_model_weights(const std::string& path);

}  // namespace tenon

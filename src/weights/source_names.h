#pragma once

#include <string>

#include "wire/onnx_model.h"

// What the weights of a model are called: `scope/name`, the same for a compile of it and for a source of new weights.
namespace tenon {

// "scope/name", or the name alone at the top of a model.
std::string source_name(const std::string& scope, std::string_view name);
// What messages and scopes call a node: its name, or one made from its op and its first output.
std::string readable_name(const wire::Node& node);
// What belongs to an attribute of a node: a weight in it, or the scope of a body.
std::string attribute_name(const std::string& scope, std::string_view node_name, std::string_view attribute);
// The scope of a function's body, one for all calls.
std::string function_scope(const wire::Function& function);

}  // namespace tenon

#include "weights/source_names.h"

#include <fmt/format.h>

namespace tenon {

std::string source_name(const std::string& scope, std::string_view name) {
  return scope.empty() ? std::string(name) : fmt::format("{}/{}", scope, name);
}

std::string readable_name(const wire::Node& node) {
  if (!node.name.empty()) return std::string(node.name);
  for (wire::Bytes output : node.outputs)
    if (!output.empty()) return fmt::format("{}->{}", node.op_type, output);
  return std::string(node.op_type);
}

std::string attribute_name(const std::string& scope, std::string_view node_name, std::string_view attribute) {
  return source_name(scope, fmt::format("{}.{}", node_name, attribute));
}

std::string function_scope(const wire::Function& function) {
  return fmt::format("{}.{}", function.domain, function.name);
}

}  // namespace tenon

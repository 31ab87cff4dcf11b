#include "passes/normalize/whole_node.h"

#include <algorithm>

#include "onnx/onnx_map.h"

namespace tenon {

bool moves_whole(const Graph& graph, GroupId id) {
  // The nodes of bodies that are not in the file are written one by one.
  if (id == kNone || !graph.wire) return false;
  const Group& group = graph.group(id);
  return !group.touched && group.wire && group.wire->domain == kMicrosoftDomain &&
         std::ranges::all_of(group.wire->attributes,
                             [](const wire::Attribute& a) { return a.ref_attr_name.empty() && a.graphs.empty(); });
}

}  // namespace tenon

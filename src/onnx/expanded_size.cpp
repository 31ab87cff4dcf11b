#include "onnx/expanded_size.h"

#include <algorithm>
#include <unordered_map>

#include "onnx/onnx_map.h"
#include "weights/source_names.h"

namespace tenon {

namespace {

class Counter {
 public:
  Counter(const ModelImport& model, int64_t limit) : model_(model), limit_(limit) {}

  int64_t count(const std::vector<wire::Node>& nodes) {
    int64_t sum = 0;
    for (const wire::Node& node : nodes) {
      sum += count(node);
      if (sum >= limit_) return limit_;
    }
    return sum;
  }

  int64_t count(const wire::Node& node) {
    const auto key = function_key(node.domain, node.op_type, node.overload);
    if (const auto it = model_.functions.find(key); it != model_.functions.end()) return count(*it->second);
    int64_t sum = 1;
    for (const wire::Attribute& attribute : node.attributes)
      for (const auto& graph : attribute.graphs)
        if (graph) sum = std::min(limit_, sum + count(graph->nodes));
    return sum;
  }

 private:
  int64_t count(const wire::Function& function) {
    const auto [it, is_new] = sizes_.try_emplace(&function, 1);
    if (!is_new) return it->second;
    // A call costs time even where it leaves no node behind.
    const int64_t size = std::max<int64_t>(1, count(function.nodes));
    return sizes_[&function] = size;
  }

  const ModelImport& model_;
  int64_t limit_;
  std::unordered_map<const wire::Function*, int64_t> sizes_;
};

int64_t count_written(const std::vector<wire::Node>& nodes) {
  int64_t sum = static_cast<int64_t>(nodes.size());
  for (const wire::Node& node : nodes)
    for (const wire::Attribute& attribute : node.attributes)
      for (const auto& graph : attribute.graphs)
        if (graph) sum += count_written(graph->nodes);
  return sum;
}

int64_t limit_of(const wire::Model& model) {
  constexpr int64_t kAlwaysFine = 100'000, kMostTimes = 100;
  int64_t written = count_written(model.graph.nodes);
  for (const wire::Function& function : model.functions) written += count_written(function.nodes);
  return std::clamp(kMostTimes * written, kAlwaysFine, kMostNodes);
}

}  // namespace

Status check_expanded_size(const wire::Graph& graph, const ModelImport& model) {
  const int64_t limit = model.options.max_nodes ? *model.options.max_nodes : limit_of(model.model.wire);
  Counter counter(model, limit + 1);
  int64_t sum = 0;
  for (const wire::Node& node : graph.nodes) {
    sum += counter.count(node);
    if (sum <= limit) continue;
    return error(Code::ResourceLimit,
                 "with its functions expanded, the graph has more than {} nodes (option 'max_nodes')", limit)
        .in(fmt::format("node '{}' ({})", readable_name(node), node.op_type));
  }
  return {};
}

}  // namespace tenon

#include "passes/optimize/axes.h"

#include <algorithm>

#include "ops/reduction.h"
#include "passes/optimize/constants.h"

namespace tenon {

std::optional<int64_t> rank_of(const Graph& graph, ValueId v) {
  const auto& shape = graph.value(v).type.shape;
  return shape ? std::optional(static_cast<int64_t>(shape->size())) : std::nullopt;
}

bool has_shape(const Graph& graph, ValueId v, const Shape& shape) {
  const auto& own = graph.value(v).type.shape;
  return own && *own == shape;
}

std::optional<int64_t> tail_of_mean(Graph& graph, const GraphNode& mean, ValueId x, std::string_view asker) {
  const auto rank = rank_of(graph, x);
  if (!rank || mean.inputs.size() != 2 || !mean.params.get<ReductionParams>().keepdims) return std::nullopt;
  const auto given = known_integers(graph, mean.inputs[1], asker);
  if (!given || given->empty()) return std::nullopt;
  std::vector<int64_t> axes;
  for (int64_t axis : *given) axes.push_back(axis < 0 ? axis : axis - *rank);
  std::ranges::sort(axes);
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<int64_t>(i) - static_cast<int64_t>(axes.size())) return std::nullopt;
  return axes.front();
}

bool is_tail_of(const Graph& graph, ValueId v, ValueId x, int64_t axis) {
  const auto &tail = graph.value(v).type.shape, &shape = graph.value(x).type.shape;
  if (!tail || !shape || static_cast<int64_t>(tail->size()) != -axis || tail->size() > shape->size()) return false;
  return std::ranges::equal(*tail, std::span(*shape).last(tail->size()));
}

bool is_float32(const Graph& graph, ValueId v) { return graph.value(v).type.dtype == DType::Float32; }

}  // namespace tenon

#pragma once

#include <numeric>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "ops/transpose.h"

// The orders of axes that Transpose nodes make.
namespace tenon {

using Permutation = std::vector<int64_t>;

inline std::optional<Permutation> permutation_of(const Graph& graph, const GraphNode& transpose) {
  if (const auto& perm = transpose.params.get<TransposeParams>().perm) return *perm;
  const auto& shape = graph.value(transpose.inputs[0]).type.shape;
  if (!shape) return std::nullopt;
  Permutation reversed(shape->size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return reversed;
}

// What two of them come to.
inline Permutation one_after_another(const Permutation& first, const Permutation& second) {
  Permutation both;
  for (int64_t axis : second) both.push_back(first[static_cast<size_t>(axis)]);
  return both;
}

}  // namespace tenon

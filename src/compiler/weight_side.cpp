#include "compiler/weight_side.h"

#include <algorithm>
#include <limits>

namespace tenon {

namespace {

// Packing is what a kernel asked for, however large the result is.
bool is_packing(OpId op) { return op == OpId::PackPanels; }

// What computing a slot may take on the way there: loading weights must not need much more time and memory than they
// do, whatever a few numbers can be blown up to.
int64_t most_on_the_way(int64_t available) {
  constexpr int64_t kAlways = int64_t{1} << 20, kTimes = 64;
  return std::max(kAlways, available > std::numeric_limits<int64_t>::max() / kTimes ? available : kTimes * available);
}

}  // namespace

WeightSide::WeightSide(const Graph& graph, bool move_nodes)
    : graph_(graph), slot_(graph.value_count(), false), too_large_(graph.value_count(), false),
      constants_(graph.value_count()) {
  for (size_t i = 0; i < graph.value_count(); ++i) {
    const ValueId v(i);
    if (graph.value(v).constant == kNone) continue;
    slot_[v] = true;
    constants_[v] = {v};
  }
  if (!move_nodes) return;
  for (const GraphNode& node : graph.nodes()) hold_results(node);
}

void WeightSide::hold_results(const GraphNode& node) {
  const auto folds = [&](ValueId v) { return v != kNone && graph_.value(v).folds; };
  if (!std::ranges::any_of(node.outputs, folds)) return;
  std::vector<ValueId> from;
  for (ValueId v : node.inputs) {
    if (v == kNone) continue;
    const auto& more = constants_[v];
    from.insert(from.end(), more.begin(), more.end());
  }
  std::ranges::sort(from);
  from.erase(std::unique(from.begin(), from.end()), from.end());
  int64_t available = 0;
  for (ValueId v : from) available += bytes(v);
  const bool from_too_large = std::ranges::any_of(node.inputs, [&](ValueId v) { return v != kNone && too_large_[v]; });
  for (ValueId v : node.outputs) {
    if (!folds(v)) continue;
    too_large_[v] = from_too_large || (!is_packing(node.op) && bytes(v) > most_on_the_way(available));
    slot_[v] = !too_large_[v] && (is_packing(node.op) || bytes(v) <= available);
    constants_[v] = from;
  }
}

// -1 when it is not a matter of bytes.
int64_t WeightSide::bytes(ValueId v) const {
  const Type& type = graph_.value(v).type;
  if (type.dtype == DType::String) return -1;
  return storage_bytes(type.dtype, element_count(*type.shape).value()).value_or(-1);
}

}  // namespace tenon

#include <algorithm>
#include <map>

#include "compiler/targets/cpu/claim.h"
#include "ops/concat.h"
#include "ops/packed.h"
#include "ops/split.h"

namespace tenon {

namespace {

// Products side by side are one product with the weights side by side, if nothing sets them apart but their columns.
struct Alike {
  ValueId x;
  std::string source;
  int64_t depth;
  bool has_bias;
  friend auto operator<=>(const Alike&, const Alike&) = default;
};

bool can_merge(const Claim& claim) {
  return claim.kind == Claim::Kind::Product && claim.scale == kNone && claim.rank &&
         claim.activation.activation == ActivationParams().activation;
}

ValueId concat(GraphEdit& edit, std::vector<ValueId> parts, int64_t axis) {
  return edit.emit(OpId::Concat, Params::of(ConcatParams{axis}), std::move(parts));
}

// One claim for several; its result is cut into theirs.
Claim merged(GraphEdit& edit, const std::vector<const Claim*>& parts) {
  Claim all = *parts[0];
  edit.go_to(all.nodes[0]);
  std::vector<ValueId> weights, biases, results;
  std::vector<int64_t> widths;
  for (const Claim* part : parts) {
    weights.push_back(part->weight);
    if (part->bias != kNone) biases.push_back(part->bias);
    results.push_back(part->result);
    widths.push_back(part->outputs);
  }
  all.nodes.clear();
  for (const Claim* part : parts) all.nodes.insert(all.nodes.end(), part->nodes.begin(), part->nodes.end());
  // Whole panels go side by side as they are.
  const bool whole = std::all_of(widths.begin(), widths.end() - 1, [](int64_t n) { return n % kPanelWidth == 0; });
  if (whole)
    all.neighbours.assign(weights.begin() + 1, weights.end());
  else
    all.weight = concat(edit, std::move(weights), all.source == "nk" ? 0 : 1);
  if (!biases.empty()) all.bias = concat(edit, std::move(biases), 0);
  all.outputs = 0;
  for (const int64_t width : widths) all.outputs += width;
  Type type = edit.type(all.result);
  type.shape->back() = Dim(all.outputs);
  all.result = edit.add_value(std::move(type));
  all.split = Claim::Split{std::move(results), std::move(widths)};
  return all;
}

}  // namespace

void merge_products(GraphEdit& edit, std::vector<Claim>& claims) {
  std::map<Alike, std::vector<size_t>> groups;
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claim& c = claims[i];
    const auto& shape = edit.type(c.result).shape;
    if (can_merge(c) && shape && !shape->empty()) groups[{c.x, c.source, c.depth, c.bias != kNone}].push_back(i);
  }
  std::vector<bool> gone(claims.size(), false);
  for (const auto& [key, members] : groups) {
    if (members.size() < 2) continue;
    std::vector<const Claim*> parts;
    for (const size_t i : members) parts.push_back(&claims[i]);
    Claim all = merged(edit, parts);
    for (const size_t i : members) gone[i] = true;
    claims[members[0]] = std::move(all);
    gone[members[0]] = false;
  }
  size_t kept = 0;
  for (size_t i = 0; i < claims.size(); ++i)
    if (!gone[i]) {
      if (kept != i) claims[kept] = std::move(claims[i]);
      ++kept;
    }
  claims.resize(kept);
}

}  // namespace tenon

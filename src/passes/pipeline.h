#pragma once

#include <string_view>
#include <vector>

#include "ir/rewrite.h"
#include "onnx/node_maker.h"
#include "passes/capability.h"

namespace tenon {

// A rule and the capability that switches it.
struct Pass {
  Capability capability;
  Rule rule;
  std::string_view reason;  // why it stands where it stands
};

// Passes that run together until none of them finds anything. A later phase runs together with all before it.
struct Phase {
  std::string_view name;
  std::vector<Pass> passes;
};
// onnx: makes the ONNX nodes of rules that write several nodes as one; null: these rules never fire.
std::vector<Phase> pipeline(NodeMaker* onnx = nullptr);

// What switches a rule on, also one that is no rule of a phase.
std::optional<Capability> capability_of_rule(std::string_view rule);

// Takes a graph through the pipeline, with the passes that are switched on.
Status run_passes(Graph& graph, const CapabilitySet& capabilities, ChangeLog& log, const RewriteOptions& options = {},
                  NodeMaker* onnx = nullptr);

}  // namespace tenon

#pragma once

#include <memory>
#include <string>

#include "build/cache/kept_graphs.h"
#include "build/json.h"
#include "onnx/import.h"
#include "passes/capability.h"

namespace tenon::build {

struct AnalyzeRequest {
  std::string target = "cpu";
  CapabilityChoice capabilities = {};
  bool optimize = true;  // false: the model as it is
  // Who will run the model: "tenon", or "onnxruntime", for which every fusion that it has kernels for helps.
  std::string consumer = "tenon";
};

// What will run each node of a model:
//   target, consumer, capabilities (as choice_json has them), error (why it cannot be compiled; "" when it can)
//   nodes       [{name, op, depth, inputs, outputs, provider, kernel, variant, with, reasons}]; provider: "cpu",
//               "reference", "control", "view" (only the shape changes, nothing is computed), "weights" (computed when
//               weights are loaded) or "none"; with: the nodes that run in the same step; reasons: why nothing faster
//               does
//   summary     {nodes, steps, providers: {name: nodes}, kernels: [{kernel, variant, nodes}], fallbacks}
//   suggestions [{capability, result, description, fires, nodes}]: capabilities that are off and would help; nodes:
//               those that the reference would no longer run; fires: how often its rules apply
// `kept`: where results of earlier calls are, and this one goes; may be null. A result from there has cached: true.
Result<Json> analyze(const std::shared_ptr<ImportedModel>& model, const AnalyzeRequest& request,
                     const KeptGraphs* kept = nullptr);

// The analyses of some models, [{model, analysis}], as one page that needs nothing else.
std::string analysis_html(const Json& analyses);

}  // namespace tenon::build

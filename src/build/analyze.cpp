#include "build/analyze.h"

#include <algorithm>
#include <map>
#include <set>

#include "build/capability_report.h"
#include "build/node_placement.h"
#include "build/optimize_in_memory.h"
#include "passes/import_rewritten.h"
#include "passes/optimize_model.h"
#include "providers/provider.h"

namespace tenon::build {

namespace {

constexpr std::string_view kReference = "reference";

Json summary_of(const Json& nodes, size_t steps) {
  std::map<std::string, int64_t> providers;
  std::map<std::pair<std::string, std::string>, int64_t> kernels;
  for (const Json& node : nodes) {
    ++providers[text_in(node, "provider")];
    if (!text_in(node, "kernel").empty()) ++kernels[{text_in(node, "kernel"), text_in(node, "variant")}];
  }
  Json by_kernel = Json::array();
  for (const auto& [kernel, count] : kernels)
    by_kernel.push_back({{"kernel", kernel.first}, {"variant", kernel.second}, {"nodes", count}});
  return {{"nodes", nodes.size()},
          {"steps", steps},
          {"providers", Json(providers)},
          {"kernels", std::move(by_kernel)},
          {"fallbacks", providers[std::string(kReference)] + providers["none"]}};
}

std::set<std::string> fallbacks_in(const Json& nodes) {
  std::set<std::string> names;
  for (const Json& node : nodes)
    if (const std::string provider = text_in(node, "provider"); provider == kReference || provider == "none")
      names.insert(text_in(node, "name"));
  return names;
}

std::set<std::string_view> rules_of(Capability capability) {
  std::set<std::string_view> rules;
  for (const Phase& phase : pipeline())
    for (const Pass& pass : phase.passes)
      if (pass.capability == capability) rules.insert(pass.rule.name);
  return rules;
}

// The choice with one more capability and what it needs; nothing where that excludes another one.
std::optional<CapabilitySet> with(const CapabilitySet& set, Capability more) {
  CapabilitySet result = set;
  const CapabilitySet added = alone(more);
  for (const CapabilityInfo& info : all_capabilities()) {
    if (!added.has(info.id)) continue;
    result.set(info.id, true);
    if (std::ranges::any_of(info.excludes, [&](Capability other) { return result.has(other); })) return std::nullopt;
  }
  return result;
}

// Whether the consumer has kernels for everything that a capability may write.
bool is_known_to_onnxruntime(const CapabilityInfo& info) {
  return std::ranges::all_of(info.produces, [](const ProducedOp& op) {
    return op.domain.empty() || op.domain == "ai.onnx" || op.domain == "com.microsoft";
  });
}

class Analysis {
 public:
  Analysis(const std::shared_ptr<ImportedModel>& model, const AnalyzeRequest& request)
      : model_(model), request_(request) {}

  Result<Json> run() {
    auto analyzed = model_;
    if (request_.optimize) {
      TN_ASSIGN_OR_RETURN(OptimizedInMemory made, optimize_in_memory(model_, request_.capabilities, false));
      analyzed = std::move(made.model);
    }
    TN_ASSIGN_OR_RETURN(const NodePlacement placement, place_nodes(analyzed->graph, request_.target));
    fallbacks_ = fallbacks_in(placement.nodes);
    Json result = {{"target", request_.target},
                   {"consumer", request_.consumer},
                   {"capabilities", choice_json(request_.capabilities)},
                   {"error", placement.error}};
    result["summary"] = summary_of(placement.nodes, placement.steps);
    TN_ASSIGN_OR_RETURN(result["suggestions"], suggestions());
    result["nodes"] = placement.nodes;
    return result;
  }

 private:
  bool is_of_interest(const CapabilityInfo& info) const {
    if (request_.capabilities.set.has(info.id)) return false;
    return request_.consumer == "tenon" ? !fallbacks_.empty() : is_known_to_onnxruntime(info);
  }

  Result<Json> suggestions() const {
    Json list = Json::array();
    for (const CapabilityInfo& info : all_capabilities()) {
      const auto set = with(request_.optimize ? request_.capabilities.set : CapabilitySet(), info.id);
      if (!set || !is_of_interest(info)) continue;
      TN_ASSIGN_OR_RETURN(Json suggestion, try_out(info, *set));
      if (!suggestion.is_null()) list.push_back(std::move(suggestion));
    }
    return list;
  }

  // What a capability would do; null when that is of no use.
  Result<Json> try_out(const CapabilityInfo& info, const CapabilitySet& set) const {
    TN_ASSIGN_OR_RETURN(RewrittenModel rewritten, optimize_model(*model_, set));
    const auto rules = rules_of(info.id);
    const auto fires = std::ranges::count_if(rewritten.log.changes,
                                             [&](const Patch::Change& change) { return rules.contains(change.label); });
    if (fires == 0) return Json();
    TN_ASSIGN_OR_RETURN(const auto again, import_rewritten(model_, std::move(rewritten)));
    TN_ASSIGN_OR_RETURN(const NodePlacement placement, place_nodes(again->graph, request_.target));
    const std::set<std::string> left = fallbacks_in(placement.nodes);
    Json nodes = Json::array();
    for (const std::string& name : fallbacks_)
      if (!left.contains(name)) nodes.push_back(name);
    if (request_.consumer == "tenon" && left.size() >= fallbacks_.size()) return Json();
    return Json{{"capability", info.name},
                {"result", exactness_name(info.exactness)},
                {"description", info.description},
                {"fires", fires},
                {"nodes", std::move(nodes)}};
  }

  const std::shared_ptr<ImportedModel>& model_;
  const AnalyzeRequest& request_;
  std::set<std::string> fallbacks_;
};

}  // namespace

Result<Json> analyze(const std::shared_ptr<ImportedModel>& model, const AnalyzeRequest& request,
                     const KeptGraphs* kept) {
  if (request.consumer != "tenon" && request.consumer != "onnxruntime")
    return invalid_argument("option 'consumer' must be tenon or onnxruntime, but it is '{}'", request.consumer);
  // New weights are computed from all values, which no key of a graph covers.
  const bool can_be_kept = kept && !request.capabilities.set.has(Capability::FoldWeights);
  Hash128 key;
  if (can_be_kept) {
    // Which variants run depends on the machine.
    TN_ASSIGN_OR_RETURN(key, graph_key(*model, fmt::format("analysis {} {} {} {} {}", request.target, request.consumer,
                                                           request.optimize, isa_name(usable_isas().front()),
                                                           passes_key(request.capabilities.set))));
    if (const auto found = kept->find(key)) {
      Json result = Json::parse(found->report);
      result["capabilities"] = choice_json(request.capabilities);
      result["cached"] = true;
      return result;
    }
  }
  TN_ASSIGN_OR_RETURN(Json result, Analysis(model, request).run());
  // The result is there, whether it can be kept or not.
  if (can_be_kept) (void)kept->keep(key, dump(result), "").ok();
  return result;
}

}  // namespace tenon::build

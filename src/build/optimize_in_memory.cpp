#include "build/optimize_in_memory.h"

#include <chrono>

#include "build/cache/compile_cache.h"
#include "build/cache/graph_bytes.h"
#include "build/capability_report.h"
#include "build/optimize_file.h"
#include "passes/fingerprint.h"
#include "passes/import_rewritten.h"
#include "passes/optimize_model.h"
#include "passes/pass_set_version.h"
#include "passes/stamp.h"

namespace tenon::build {

namespace {

using Clock = std::chrono::steady_clock;

Json unchanged_report(const ImportedModel& model, const CapabilityChoice& capabilities, const char* evidence) {
  const size_t nodes = model.wire.graph.nodes.size();
  return {{"capabilities", choice_json(capabilities)},
          {"status", "already normalized"},
          {"evidence", evidence},
          {"nodes", {{"before", nodes}, {"after", nodes}}},
          {"changes", Json::array()}};
}

std::string finished(Json report, Clock::time_point start) {
  report["seconds"] = std::chrono::duration<double>(Clock::now() - start).count();
  return dump(report);
}

// What was kept for the model in `result`. False when there is nothing.
Result<bool> take_kept(const KeptGraphs& kept, const Hash128& key, OptimizedInMemory& result) {
  const auto found = kept.find(key);
  if (!found) return false;
  if (!found->graph.empty()) {
    auto graph = graph_from_bytes(found->graph, result.model->wire);
    if (!graph) return false;
    TN_ASSIGN_OR_RETURN(result.model, import_rewritten(result.model, std::move(*graph), found->owner));
  }
  result.report = found->report;
  return true;
}

// The result is there, whether it can be kept or not.
void keep(const KeptGraphs& kept, const Hash128& key, const Json& report, const RewrittenModel& rewritten,
          const ImportedModel& model) {
  std::string graph;
  if (rewritten.changed) {
    auto bytes = graph_to_bytes(rewritten.exported.model, model.wire);
    if (!bytes) return;
    graph = std::move(*bytes);
  }
  (void)kept.keep(key, dump(report), graph).ok();
}

}  // namespace

std::string passes_key(const CapabilitySet& capabilities) {
  std::string text = "passes " + pass_set_version();
  for (const CapabilityInfo& info : all_capabilities())
    if (capabilities.has(info.id)) text += fmt::format(" {}", info.name);
  return text;
}

Result<Hash128> graph_key(const ImportedModel& model, const std::string& derivation) {
  TN_ASSIGN_OR_RETURN(const Hash128 content, fingerprint(model.wire, model.bytes, model.external.get()));
  StreamingHash hash;
  // And what the fingerprint leaves out although it is written.
  const auto add = [&](std::string_view text) { hash.add(hash_bytes(text).hex()); };
  for (const std::string& text : {compile_version(), derivation, content.hex()}) add(text);
  for (const wire::Function& function : model.wire.functions) {
    add(function.doc);
    for (const wire::Bytes piece : function.other) add(piece);
  }
  for (const std::string& name : model.frozen_inputs) add(name);
  return hash.value();
}

Result<OptimizedInMemory> optimize_in_memory(const std::shared_ptr<ImportedModel>& model,
                                             const CapabilityChoice& capabilities, bool force, const KeptGraphs* kept) {
  const auto start = Clock::now();
  OptimizedInMemory result{model, passes_key(capabilities.set), ""};
  if (!force) {
    TN_ASSIGN_OR_RETURN(const bool is_done,
                        is_stamped_as_done(model->wire, model->bytes, model->external.get(), capabilities.set));
    if (is_done) {
      result.report = finished(unchanged_report(*model, capabilities, "stamp"), start);
      return result;
    }
  }
  // New weights are computed from all values, which no key of a graph covers.
  const bool can_be_kept = kept && !force && !capabilities.set.has(Capability::FoldWeights);
  Hash128 key;
  if (can_be_kept) {
    TN_ASSIGN_OR_RETURN(key, graph_key(*model, result.derivation));
    TN_ASSIGN_OR_RETURN(const bool is_found, take_kept(*kept, key, result));
    if (is_found) {
      Json report = Json::parse(result.report);
      report["cached"] = true;
      result.report = finished(std::move(report), start);
      return result;
    }
  }
  TN_ASSIGN_OR_RETURN(RewrittenModel rewritten, optimize_model(*model, capabilities.set));
  const Json report = rewritten.changed ? Json::parse(report_of(rewritten, capabilities))
                                        : unchanged_report(*model, capabilities, "no pass changes it");
  if (can_be_kept) keep(*kept, key, report, rewritten, *model);
  if (rewritten.changed) {
    TN_ASSIGN_OR_RETURN(result.model, import_rewritten(model, std::move(rewritten)));
  }
  result.report = finished(report, start);
  return result;
}

}  // namespace tenon::build

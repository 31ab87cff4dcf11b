#include "build/optimize_in_memory.h"

#include <chrono>

#include "build/capability_report.h"
#include "build/optimize_file.h"
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

}  // namespace

std::string passes_key(const CapabilitySet& capabilities) {
  std::string text = "passes " + pass_set_version();
  for (const CapabilityInfo& info : all_capabilities())
    if (capabilities.has(info.id)) text += fmt::format(" {}", info.name);
  return text;
}

Result<OptimizedInMemory> optimize_in_memory(const std::shared_ptr<ImportedModel>& model,
                                             const CapabilityChoice& capabilities, bool force) {
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
  TN_ASSIGN_OR_RETURN(RewrittenModel rewritten, optimize_model(*model, capabilities.set));
  if (!rewritten.changed) {
    result.report = finished(unchanged_report(*model, capabilities, "no pass changes it"), start);
    return result;
  }
  Json report = Json::parse(report_of(rewritten, capabilities));
  TN_ASSIGN_OR_RETURN(result.model, import_rewritten(model, std::move(rewritten.exported)));
  result.report = finished(std::move(report), start);
  return result;
}

}  // namespace tenon::build

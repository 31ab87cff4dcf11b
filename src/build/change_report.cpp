#include "build/change_report.h"

#include <algorithm>

namespace tenon::build {

namespace {

std::string_view pass_of(std::string_view rule) {
  const auto capability = capability_of_rule(rule);
  return capability ? capability_info(*capability).name : "";
}

}  // namespace

Json misses_json(const ChangeLog& log) {
  Json misses = Json::array();
  for (const Miss& miss : log.misses)
    misses.push_back({{"pass", pass_of(miss.rule)}, {"rule", miss.rule}, {"node", miss.root}, {"reason", miss.reason}});
  return misses;
}

Json changes_json(const ChangeLog& log, const DriftMeter* drift) {
  Json changes = Json::array();
  for (size_t i = 0; i < log.changes.size(); ++i) {
    const Patch::Change& change = log.changes[i];
    Json record = {{"pass", pass_of(change.label)}, {"rule", change.label},      {"node", change.root},
                   {"reason", change.reason},       {"removed", change.removed}, {"added", change.added},
                   {"bytes", change.bytes}};
    if (Json measured = drift ? drift->of_change(i) : Json(); !measured.is_null())
      record["drift"] = std::move(measured);
    changes.push_back(std::move(record));
  }
  return changes;
}

Result<Json> effects_json(const ImportedModel& model, const CapabilitySet& capabilities) {
  Json effects = Json::array();
  for (const CapabilityInfo& info : all_capabilities()) {
    if (!capabilities.has(info.id)) continue;
    TN_ASSIGN_OR_RETURN(const RewrittenModel result, optimize_model(model, alone(info.id)));
    size_t changes = 0;
    int64_t bytes = 0;
    for (const Patch::Change& change : result.log.changes) {
      changes += capability_of_rule(change.label) == info.id;
      bytes += change.bytes;
    }
    effects.push_back({{"capability", info.name},
                       {"changes", changes},
                       {"nodes", {{"before", result.nodes_before}, {"after", result.nodes_after}}},
                       {"bytes", bytes}});
  }
  return effects;
}

}  // namespace tenon::build

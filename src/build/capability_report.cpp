#include "build/capability_report.h"

#include "passes/pipeline.h"

namespace tenon::build {

namespace {

Json names_json(const std::vector<Capability>& capabilities) {
  Json names = Json::array();
  for (Capability c : capabilities) names.push_back(capability_info(c).name);
  return names;
}

Json produced_json(const std::vector<ProducedOp>& ops) {
  Json list = Json::array();
  for (const ProducedOp& op : ops)
    list.push_back({{"domain", op.domain}, {"op", op.op_type}, {"since", op.least_version}});
  return list;
}

Json rules_json(Capability capability) {
  Json rules = Json::array();
  for (const Phase& phase : pipeline())
    for (const Pass& pass : phase.passes)
      if (pass.capability == capability) rules.push_back(pass.rule.name);
  return rules;
}

}  // namespace

std::string capabilities_json() {
  Json list = Json::array();
  for (const CapabilityInfo& info : all_capabilities())
    list.push_back({{"name", info.name},
                    {"group", info.group},
                    {"default", info.default_state == CapabilityInfo::Default::On},
                    {"exact", info.exactness == Exactness::Exact},
                    {"result", exactness_name(info.exactness)},
                    {"description", info.description},
                    {"needs", names_json(info.needs)},
                    {"excludes", names_json(info.excludes)},
                    {"produces", produced_json(info.produces)},
                    {"rules", rules_json(info.id)}});
  return dump(list);
}

Json choice_json(const CapabilityChoice& choice) {
  Json on = Json::array(), added = Json::array();
  for (const CapabilityInfo& info : all_capabilities())
    if (choice.set.has(info.id)) on.push_back(info.name);
  for (const CapabilityChoice::Added& a : choice.added)
    added.push_back({{"name", capability_info(a.capability).name}, {"needed_by", capability_info(a.needed_by).name}});
  return {{"on", std::move(on)}, {"added", std::move(added)}};
}

}  // namespace tenon::build

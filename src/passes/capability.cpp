#include "passes/capability.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tenon {

namespace {

using Default = CapabilityInfo::Default;

constexpr CapabilityInfo kCapabilities[] = {
#define CAPABILITY(id, name, group, default_state, exactness, description) \
  {Capability::id, name, group, Default::default_state, Exactness::exactness, description},
#include "passes/capabilities.def"
#undef CAPABILITY
};

Status switch_by_name(CapabilitySet& set, const std::string& name, bool on) {
  const auto capability = capability_from_name(name);
  if (!capability) {
    std::vector<std::string_view> names;
    for (const CapabilityInfo& info : kCapabilities) names.push_back(info.name);
    return invalid_argument("unknown capability '{}'; the capabilities are {}", name, fmt::join(names, ", "));
  }
  set.set(*capability, on);
  return {};
}

}  // namespace

std::span<const CapabilityInfo> all_capabilities() { return kCapabilities; }

const CapabilityInfo& capability_info(Capability capability) { return kCapabilities[static_cast<size_t>(capability)]; }

std::optional<Capability> capability_from_name(std::string_view name) {
  const auto it = std::ranges::find(kCapabilities, name, &CapabilityInfo::name);
  return it == std::end(kCapabilities) ? std::nullopt : std::optional(it->id);
}

CapabilitySet CapabilitySet::defaults() {
  CapabilitySet set;
  for (const CapabilityInfo& info : kCapabilities) set.set(info.id, info.default_state == Default::On);
  return set;
}

Result<CapabilitySet> chosen_capabilities(std::span<const std::string> enable, std::span<const std::string> disable) {
  CapabilitySet set = CapabilitySet::defaults();
  for (const std::string& name : enable) {
    if (std::ranges::find(disable, name) != disable.end())
      return invalid_argument("capability '{}' is both enabled and disabled", name);
    TN_RETURN_IF_ERROR(switch_by_name(set, name, true));
  }
  for (const std::string& name : disable) TN_RETURN_IF_ERROR(switch_by_name(set, name, false));
  return set;
}

}  // namespace tenon

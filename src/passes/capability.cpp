#include "passes/capability.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

using Default = CapabilityInfo::Default;

std::vector<CapabilityInfo> make_capabilities() {
  std::vector<CapabilityInfo> all = {
#define CAPABILITY(id, name, group, default_state, exactness, description) \
  {Capability::id, name, group, Default::default_state, Exactness::exactness, description, {}, {}, {}},
#include "passes/capabilities.def"
  };
  [[maybe_unused]] const auto of = [&](Capability c) -> CapabilityInfo& { return all[static_cast<size_t>(c)]; };
#define NEEDS(id, other) of(Capability::id).needs.push_back(Capability::other);
#define EXCLUDES(id, other)                                 \
  of(Capability::id).excludes.push_back(Capability::other); \
  of(Capability::other).excludes.push_back(Capability::id);
#define PRODUCES(id, domain, op_type, version) of(Capability::id).produces.push_back({domain, op_type, version});
#include "passes/capabilities.def"
  return all;
}

std::string unknown_capability(const std::string& name) {
  std::vector<std::string_view> names;
  for (const CapabilityInfo& info : all_capabilities()) names.push_back(info.name);
  return fmt::format("unknown capability '{}'; the capabilities are {}", name, fmt::join(names, ", "));
}

Result<std::vector<Capability>> read_names(std::span<const std::string> names) {
  std::vector<Capability> found;
  for (const std::string& name : names) {
    const auto capability = capability_from_name(name);
    if (!capability) return invalid_argument("{}", unknown_capability(name));
    found.push_back(*capability);
  }
  return found;
}

// Switches on what the enabled ones need, and what these need.
Status add_needs(CapabilityChoice& choice, std::vector<Capability> open, std::span<const Capability> disabled) {
  while (!open.empty()) {
    const CapabilityInfo& info = capability_info(open.back());
    open.pop_back();
    for (Capability needed : info.needs) {
      if (std::ranges::find(disabled, needed) != disabled.end())
        return invalid_argument("capability '{}' needs '{}', which is disabled; enable that too, or leave both out",
                                info.name, capability_info(needed).name);
      if (choice.set.has(needed)) continue;
      choice.set.set(needed, true);
      choice.added.push_back({needed, info.id});
      open.push_back(needed);
    }
  }
  return {};
}

Status check_excluded(const CapabilitySet& set) {
  for (const CapabilityInfo& info : all_capabilities())
    for (Capability other : info.excludes)
      if (set.has(info.id) && set.has(other))
        return invalid_argument("capabilities '{}' and '{}' cannot be on together; disable one of them", info.name,
                                capability_info(other).name);
  return {};
}

}  // namespace

std::string_view exactness_name(Exactness exactness) {
  constexpr std::string_view names[] = {"exact", "rounding", "approximate"};
  return names[static_cast<size_t>(exactness)];
}

std::span<const CapabilityInfo> all_capabilities() {
  static const std::vector<CapabilityInfo> all = make_capabilities();
  return all;
}

const CapabilityInfo& capability_info(Capability capability) {
  return all_capabilities()[static_cast<size_t>(capability)];
}

std::optional<Capability> capability_from_name(std::string_view name) {
  const auto it = std::ranges::find(all_capabilities(), name, &CapabilityInfo::name);
  return it == all_capabilities().end() ? std::nullopt : std::optional(it->id);
}

CapabilitySet CapabilitySet::defaults() {
  CapabilitySet set;
  for (const CapabilityInfo& info : all_capabilities()) set.set(info.id, info.default_state == Default::On);
  return set;
}

Result<CapabilityChoice> choose_capabilities(std::span<const std::string> enable,
                                             std::span<const std::string> disable) {
  CapabilityChoice choice;
  TN_ASSIGN_OR_RETURN(const auto enabled, read_names(enable));
  TN_ASSIGN_OR_RETURN(const auto disabled, read_names(disable));
  for (Capability c : enabled) {
    if (std::ranges::find(disabled, c) != disabled.end())
      return invalid_argument("capability '{}' is both enabled and disabled", capability_info(c).name);
    choice.set.set(c, true);
  }
  for (Capability c : disabled) choice.set.set(c, false);
  TN_RETURN_IF_ERROR(add_needs(choice, enabled, disabled));
  TN_RETURN_IF_ERROR(check_excluded(choice.set));
  return choice;
}

CapabilitySet alone(Capability capability) {
  CapabilitySet set;
  std::vector<Capability> open{capability};
  while (!open.empty()) {
    const Capability c = open.back();
    open.pop_back();
    if (set.has(c)) continue;
    set.set(c, true);
    open.insert(open.end(), capability_info(c).needs.begin(), capability_info(c).needs.end());
  }
  return set;
}

}  // namespace tenon

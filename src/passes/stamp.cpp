#include "passes/stamp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon {

namespace {

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string stamp_text(const Stamp& stamp) {
  std::vector<std::string_view> names;
  for (const CapabilityInfo& info : all_capabilities())
    if (stamp.capabilities.has(info.id)) names.push_back(info.name);
  return fmt::format("{};{};{}", stamp.passes, stamp.content.hex(), fmt::join(names, ","));
}

std::optional<Stamp> read_stamp(const wire::Model& model) {
  const auto entry = std::ranges::find(model.metadata, kStampKey, &wire::StringEntry::key);
  if (entry == model.metadata.end()) return std::nullopt;
  const auto parts = parts_of(entry->value, ';');
  if (parts.size() != 3) return std::nullopt;
  Stamp stamp;
  stamp.passes = std::string(parts[0]);
  const auto content = Hash128::from_hex(parts[1]);
  if (!content) return std::nullopt;
  stamp.content = *content;
  for (std::string_view name : parts_of(parts[2], ',')) {
    if (name.empty()) continue;
    const auto capability = capability_from_name(name);
    if (!capability) return std::nullopt;
    stamp.capabilities.set(*capability, true);
  }
  return stamp;
}

}  // namespace tenon

#include "cli/packed_entries.h"

#include <map>

#include "cli/json.h"

namespace cli {

std::vector<PackedSlot> packed_slots(const tenon::Artifact& artifact) {
  const Json described = Json::parse(artifact.describe("packed,weight_program"));
  std::map<std::string, int64_t> bytes;
  for (const Json& packed : described["packed"].items()) bytes[packed["key"].text()] = packed["bytes"].integer();
  std::vector<PackedSlot> slots;
  for (const Json& program : described["weight_program"].items())
    for (const Json& entry : program["slots"].items()) {
      PackedSlot slot;
      slot.model = program["model"].text();
      slot.open = entry["packed"].is_null();
      // What is open is shared with nobody.
      slot.entry = slot.open ? slot.model + "\n" + entry["slot"].plain() : entry["packed"].text();
      slot.bytes = slot.open ? 0 : bytes.at(slot.entry);
      for (const Json& source : entry["sources"].items()) slot.sources.push_back(source.text());
      slots.push_back(std::move(slot));
    }
  return slots;
}

}  // namespace cli

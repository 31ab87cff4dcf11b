#include "cli/packed_entries.h"

#include <fmt/format.h>

#include <map>

#include "cli/json.h"

namespace cli {

namespace {

using ModelAndText = std::pair<std::string, std::string>;

// What is in the file, by model and recipe.
std::map<ModelAndText, int64_t> bytes_by_recipe(const Json& packed) {
  std::map<ModelAndText, int64_t> bytes;
  for (const Json& entry : packed.items())
    for (const Json& model : entry["models"].items())
      bytes[{model.text(), entry["expression"].text() + "\n" + entry["layout"].text()}] = entry["bytes"].integer();
  return bytes;
}

std::map<ModelAndText, std::string> hashes_by_name(const Json& sources) {
  std::map<ModelAndText, std::string> hashes;
  for (const Json& source : sources.items())
    for (const Json& model : source["models"].items())
      hashes[{model.text(), source["name"].text()}] = source["hash"].text();
  return hashes;
}

std::set<std::string> models_with_open_slots(const Json& models) {
  std::set<std::string> names;
  for (const Json& model : models.items())
    if (model["open_slots"].integer() > 0) names.insert(model["name"].text());
  return names;
}

}  // namespace

std::vector<PackedSlot> packed_slots(const tenon::Artifact& artifact) {
  const Json described = Json::parse(artifact.describe("models,packed,sources,weight_program"));
  const auto bytes = bytes_by_recipe(described["packed"]);
  const auto hashes = hashes_by_name(described["sources"]);
  const std::set<std::string> open = models_with_open_slots(described["models"]);
  std::vector<PackedSlot> slots;
  for (const Json& program : described["weight_program"].items())
    for (const Json& entry : program["slots"].items()) {
      PackedSlot slot;
      slot.model = program["model"].text();
      const std::string recipe = entry["expression"].text() + "\n" + entry["layout"].text();
      // The same recipe of other weights is another entry.
      slot.entry = recipe;
      for (const Json& source : entry["sources"].items()) {
        slot.sources.push_back(source.text());
        const auto hash = hashes.find({slot.model, source.text()});
        slot.entry += "\n" + (hash == hashes.end() ? "" : hash->second);
      }
      const auto found = bytes.find({slot.model, recipe});
      slot.bytes = found == bytes.end() ? 0 : found->second;
      slot.open = found == bytes.end() && open.contains(slot.model);
      slots.push_back(std::move(slot));
    }
  return slots;
}

}  // namespace cli

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/artifacts.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/models.h"
#include "cli/packed_entries.h"
#include "cli/text.h"
#include "cli/weights/action.h"

namespace cli {

namespace fs = std::filesystem;

namespace {

std::string swap_text(const Json& weight) {
  if (weight["swappable"].boolean()) return "yes";
  std::string reasons;
  for (const Json& guard : weight["guards"].items())
    reasons += fmt::format("{}{} by {}", reasons.empty() ? "" : ", ", guard["property"].text(), guard["asker"].text());
  return "no: " + (reasons.empty() ? "a literal of the model" : reasons);
}

std::string place_text(const Json& weight) {
  const std::string place = weight["place"].plain();
  return weight["found"].boolean() || place == "absent"
             ? place
             : fmt::format("{}, not found: {}", place, weight["file"].text());
}

Json list_model(const std::string& path, const WeightFlags& flags, Console& console) {
  if (!flags.source_dirs.empty()) throw Failure(kUsage, "--source-dir applies only to compiled models");
  const tenon::Model model = load_model(path, {}, console);
  const Json described = Json::parse(refusing(kCannotLoad, path, [&] { return model.describe("hashed_weights"); }));
  if (!console.is_json()) {
    Table table({"weight", "type", "shape", ">size", "hash"});
    for (const Json& w : described["weights"].items())
      table.add({w["name"].text(), w["dtype"].text(), w["shape"].plain(), human_bytes(w["bytes"].integer()),
                 w["hash"].text().substr(0, 8)});
    console.print(printable(path) + "\n" + table.text());
  }
  return Json::Object{{"paths", Json::Array{path}}, {"weights", described["weights"]}};
}

// One weight of several models, which may have it from different files.
struct Listed {
  Json weight;
  std::vector<std::string> models, places;
  int64_t packed = 0;  // entries, shared ones once
  bool found = true;   // the file that holds its bytes

  void add(const Json& other) {
    const auto add_to = [](std::vector<std::string>& list, const std::string& text) {
      if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
    };
    for (const Json& model : other["models"].items()) add_to(models, model.text());
    add_to(places, other["place"].text());
  }
  Json json() const {
    Json result;
    const auto list = [](const std::vector<std::string>& texts) {
      return Json(Json::Array(texts.begin(), texts.end()));
    };
    for (const auto& [key, value] : weight.entries()) {
      if (key == "models")
        result.set(key, list(models));
      else if (key == "packed")
        result.set(key, packed);
      else if (key == "place")
        result.set(key, places.size() == 1 ? Json(places[0]) : list(places));
      else
        result.set(key, value);
    }
    result.set("found", found);
    return result;
  }
};

bool uses(const PackedSlot& slot, const Listed& one) {
  const auto contains = [](const std::vector<std::string>& list, const std::string& text) {
    return std::find(list.begin(), list.end(), text) != list.end();
  };
  return contains(one.models, slot.model) && contains(slot.sources, one.weight["name"].text());
}

// Whether the bytes of a weight can be read again, as far as names tell.
bool is_found(const Json& weight, const std::vector<std::string>& folders) {
  if (weight["place"].text() != "file") return weight["place"].text() != "absent";
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    std::error_code ignored;
    return fs::is_regular_file(fs::path(folder) / weight["file"].text(), ignored);
  });
}

Json merged_weights(const Json& sources, const std::vector<PackedSlot>& slots,
                    const std::vector<std::string>& folders) {
  std::vector<Listed> all;
  std::map<std::string, size_t> known;
  for (const Json& w : sources.items()) {
    if (w["name"].text().empty()) continue;
    const std::string key = w["hash"].text() + w["dtype"].text() + w["shape"].plain() + w["name"].text();
    const auto [it, is_new] = known.emplace(key, all.size());
    if (is_new) all.push_back({w, {}, {}});
    all[it->second].add(w);
    all[it->second].found = all[it->second].found && is_found(w, folders);
  }
  for (Listed& one : all)
    one.packed = count_entries(slots, [&](const PackedSlot& slot) { return uses(slot, one); }).entries;
  Json weights(Json::Array{});
  for (const Listed& one : all) weights.push(one.json());
  return weights;
}

Json list_group(const ArtifactGroup& group, const WeightFlags& flags, Console& console) {
  tenon::Options options;
  add_source_dirs(flags.source_dirs, options);
  const tenon::Artifact artifact = open_group(group, options);
  std::vector<std::string> folders = {group.folder};
  folders.insert(folders.end(), flags.source_dirs.begin(), flags.source_dirs.end());
  Json weights = merged_weights(Json::parse(artifact.describe("sources"))["sources"], packed_slots(artifact), folders);
  Json paths(Json::Array{});
  for (const std::string& path : group.paths) paths.push(path);
  Table table({"weight", "type", "shape", ">size", "hash", "bytes", "models", ">packed", "can be set"});
  for (const Json& w : weights.items())
    table.add({w["name"].text(), w["dtype"].text(), w["shape"].plain(), human_bytes(w["bytes"].integer()),
               w["hash"].text().substr(0, 8), place_text(w), w["models"].plain(), w["packed"].plain(), swap_text(w)});
  if (!console.is_json()) {
    for (const std::string& path : group.paths) console.print(printable(path) + "\n");
    console.print(table.text());
  }
  return Json::Object{{"paths", std::move(paths)}, {"weights", std::move(weights)}};
}

}  // namespace

Exit list_weights(const WeightFlags& flags, Console& console) {
  Json groups(Json::Array{});
  console.progress("reading the weights of " + flags.path);
  const bool compiled =
      is_folder(flags.path) || refusing(kCannotLoad, flags.path, [&] { return tenon::is_context_file(flags.path); });
  if (!compiled)
    groups.push(list_model(flags.path, flags, console));
  else
    for (const ArtifactGroup& group : find_groups(flags.path)) groups.push(list_group(group, flags, console));
  console.end_progress();
  if (console.is_json()) console.print_document(Json::Object{{"groups", std::move(groups)}});
  return kDone;
}

}  // namespace cli

#include "cli/verify_artifacts.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/artifacts.h"
#include "cli/compile/validate.h"
#include "cli/models.h"
#include "cli/text.h"

namespace cli {

namespace {

std::string in_folder(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// The file that a model was made from, by name and hash; "" and the reason when it is not found.
std::string find_source(const Json& model, const std::vector<std::string>& folders, std::string& reason) {
  const std::string& name = model["source_file"].text();
  reason = fmt::format("'{}' was not found", name);
  if (name.empty()) reason = "the model came from memory";
  for (const std::string& folder : folders) {
    const std::string path = in_folder(folder, name);
    std::error_code ignored;
    if (name.empty() || !std::filesystem::is_regular_file(path, ignored)) continue;
    try {
      const Json described = Json::parse(tenon::Model::load(path).describe("content"));
      if (described["content"].text() == model["source_content"].text()) return path;
      reason = fmt::format("'{}' has changed since", path);
    } catch (const tenon::Error& error) {
      reason = error.what();
    }
  }
  return "";
}

// Inputs of the source model that the compiled one does not have, because they became weights.
std::vector<std::string> frozen_inputs(const std::string& source, const std::string& context) {
  const tenon::Model from = tenon::Model::load(source), made = tenon::Model::load(context);
  std::set<std::string> taken;
  for (size_t i = 0; i < made.input_count(); ++i) taken.insert(made.input_name(i));
  std::vector<std::string> frozen;
  for (size_t i = 0; i < from.input_count(); ++i)
    if (!taken.contains(from.input_name(i))) frozen.push_back(from.input_name(i));
  return frozen;
}

class GroupCheck {
 public:
  GroupCheck(const ArtifactGroup& group, const ArtifactCheck& check, const Console& console)
      : group_(group), check_(check), threads_(make_context(console).threads()) {
    folders_ = {group.folder};
    folders_.insert(folders_.end(), check.source_dirs.begin(), check.source_dirs.end());
  }

  Json run() {
    Json paths(Json::Array{});
    for (const std::string& path : group_.paths) paths.push(path);
    Json result;
    result.set("paths", std::move(paths));
    result.set("weights_file", group_.weights_file);
    tenon::Options options;
    for (const std::string& folder : check_.source_dirs) options.set("source_dir:" + folder, "1");
    const tenon::Artifact artifact = open_group(group_, options);
    try {
      result.set("checked", Json::parse(artifact.verify()));
    } catch (const tenon::Error& error) {
      result.set("good", false);
      result.set("error", error.what());
      return result;
    }
    bool good = true;
    Json numbers(Json::Array{});
    const Json described = Json::parse(artifact.describe());
    for (size_t i = 0; i < group_.paths.size(); ++i) {
      numbers.push(compare(described["models"].items()[i], group_.paths[i]));
      const std::string& verdict = numbers.items().back()["verdict"].text();
      good = good && verdict != "different" && verdict != "failed";
    }
    result.set("good", good);
    result.set("numbers", std::move(numbers));
    return result;
  }

 private:
  Json compare(const Json& model, const std::string& path) const {
    const auto not_compared = [&](const std::string& reason) {
      return Json(Json::Object{{"model", model["name"]}, {"verdict", "not compared"}, {"message", reason}});
    };
    if (model["open_slots"].integer() > 0) return not_compared("it has no weights yet");
    if (model["made_from"].text().find_first_not_of('0') == std::string::npos)
      return not_compared("it has other weights than the model it was made from");
    std::string reason;
    const std::string source = find_source(model, folders_, reason);
    if (source.empty()) return not_compared(reason);
    StagedCheck check{source, path};
    check.threads = threads_;
    check.frozen = frozen_inputs(source, path);
    check.rtol = check_.rtol;
    check.atol = check_.atol;
    Json result;
    for (int64_t sample = 0; sample < check_.samples; ++sample) {
      check.seed = check_.seed + sample;
      result = validate_staged(check);
      if (result["verdict"].text() != "same") break;
    }
    Json entry = Json::Object{{"model", model["name"]}, {"source", source}};
    for (const auto& [key, value] : result.entries()) entry.set(key, value);
    return entry;
  }

  const ArtifactGroup& group_;
  const ArtifactCheck& check_;
  std::vector<std::string> folders_;
  int64_t threads_;
};

void print_group(const Json& result, Console& console) {
  const bool good = result["good"].boolean();
  std::string names;
  for (const Json& path : result["paths"].items()) names += (names.empty() ? "" : ", ") + path.text();
  console.print(fmt::format("{}: {}\n", good ? console.paint(Color::Green, "good") : console.paint(Color::Red, "bad"),
                            printable(names)));
  if (!result["error"].is_null()) console.print("  " + printable(result["error"].text()) + "\n");
  const Json& checked = result["checked"];
  if (!checked.is_null())
    console.print(fmt::format("  every byte checked; {} of {} packed weights made again from their sources; {} hold\n",
                              checked["recomputed"].plain(), checked["packed"].plain(),
                              counted(checked["guards"].integer(), "guard")));
  for (const Json& number : result["numbers"].items()) {
    double worst = 0;
    for (const Json& output : number["outputs"].items()) worst = std::max(worst, output["max_abs"].number());
    const std::string& message = number["message"].text();
    console.print(fmt::format("  {}: {}{}\n", printable(number["model"].text()), number["verdict"].text(),
                              !message.empty() ? " (" + printable(message) + ")"
                                               : fmt::format(" against the reference, max abs {:.3g}", worst)));
  }
}

}  // namespace

Exit verify_artifacts(const ArtifactCheck& check, Console& console) {
  const bool many = is_folder(check.path);
  bool good = true;
  Json results(Json::Array{});
  for (const ArtifactGroup& group : find_groups(check.path)) {
    console.progress("checking " + group.paths[0]);
    Json result;
    try {
      result = GroupCheck(group, check, console).run();
    } catch (const Failure& failure) {
      // In a folder this is a group left half-replaced: its weights are gone or are others.
      if (!many) throw;
      Json paths(Json::Array{});
      for (const std::string& path : group.paths) paths.push(path);
      result = Json::Object{{"paths", std::move(paths)},
                            {"weights_file", group.weights_file},
                            {"good", false},
                            {"error", std::string(failure.what()) + "; compile or set the weights again"}};
    }
    good = good && result["good"].boolean();
    if (!console.is_json()) print_group(result, console);
    results.push(std::move(result));
  }
  console.end_progress();
  if (console.is_json()) console.print_document(Json::Object{{"good", good}, {"groups", std::move(results)}});
  return good ? kDone : kFailed;
}

}  // namespace cli

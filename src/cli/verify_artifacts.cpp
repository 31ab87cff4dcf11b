#include "cli/verify_artifacts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/artifacts.h"
#include "cli/compared_outputs.h"
#include "cli/compile/settings.h"
#include "cli/compile/words.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/interrupted.h"
#include "cli/models.h"
#include "cli/source_model.h"
#include "cli/text.h"
#include "cli/trial_inputs.h"

namespace cli {

namespace {

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
      : group_(group), check_(check), console_(console), threads_(make_context(console).threads()) {
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
    add_source_dirs(check_.source_dirs, options);
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
    if (model["open_slots"].integer() > 0) {
      Json open = not_compared("some of its weights are not set");
      open.set("open_slots", model["open_slots"]);
      return open;
    }
    if (model["made_from"].text().find_first_not_of('0') == std::string::npos)
      return not_compared("its weights were set after it was compiled, so there is no model to compare it with");
    std::string reason;
    const std::string source = find_source(model, folders_, "name its folder with --source-dir", reason);
    if (source.empty()) return not_compared(reason);
    console_.progress(fmt::format("comparing {} with {}", path, source));
    Json entry = Json::Object{{"model", model["name"]}, {"source", source}};
    const Json compared = Json::parse(tenon::validate(source, path, options_for(source, path)));
    for (const auto& [key, value] : compared.entries())
      entry.set(key, key == "message" ? Json(in_words_of_flags(value.text())) : value);
    return entry;
  }

  tenon::Options options_for(const std::string& source, const std::string& path) const {
    tenon::Options options{{"program", "/proc/self/exe"},         {"threads", std::to_string(threads_)},
                           {"seed", std::to_string(check_.seed)}, {"samples", std::to_string(check_.samples)},
                           {"rtol", fmt::to_string(check_.rtol)}, {"atol", fmt::to_string(check_.atol)}};
    for (const std::string& name : frozen_inputs(source, path)) options.set("freeze_input:" + name, "1");
    check_.flags.of(tenon::Model::load(path)).add_to(options);
    return options;
  }

  const ArtifactGroup& group_;
  const ArtifactCheck& check_;
  const Console& console_;
  std::vector<std::string> folders_;
  int64_t threads_;
};

void print_numbers(const Json& number, Console& console) {
  const std::string& message = number["message"].text();
  console.print(fmt::format("  {}: {}{}\n", printable(number["model"].text()), number["verdict"].text(),
                            message.empty() ? " against the reference" : " (" + printable(message) + ")"));
  if (number["outputs"].items().empty()) return;
  Table table({"output", ">max abs", ">max rel", ">cosine", "result"});
  for (const Json& output : number["outputs"].items())
    table.add({output["name"].text(), fmt::format("{:.3g}", output["max_abs"].number()),
               fmt::format("{:.3g}", output["max_rel"].number()), fmt::format("{:.6g}", output["cosine"].number()),
               output_result(output)});
  console.print(table.text());
  if (const std::string shapes = tried_text(number["tried"]); !shapes.empty())
    console.print("  tested with " + shapes + "\n");
}

std::string guards_text(int64_t guards) {
  if (guards == 0) return "no guards to check";
  return guards == 1 ? "1 guard holds" : fmt::format("{} guards hold", guards);
}

void print_group(const Json& result, Console& console) {
  const bool good = result["good"].boolean();
  std::string names;
  for (const Json& path : result["paths"].items()) names += (names.empty() ? "" : ", ") + path.text();
  console.print(fmt::format("{}: {}\n", good ? console.paint(Color::Green, "good") : console.paint(Color::Red, "bad"),
                            printable(names)));
  if (!result["error"].is_null()) console.print("  " + printable(result["error"].text()) + "\n");
  const Json& checked = result["checked"];
  if (!checked.is_null())
    console.print(fmt::format("  every byte checked; {} of {} packed weights recomputed from their sources; {}\n",
                              checked["recomputed"].plain(), checked["packed"].plain(),
                              guards_text(checked["guards"].integer())));
  for (const Json& number : result["numbers"].items()) print_numbers(number, console);
}

// Why the group is one of two halves; "" when it is not.
std::string half_replaced(const ArtifactGroup& group, const std::vector<InterruptedGroup>& interrupted) {
  for (const InterruptedGroup& one : interrupted) {
    if (one.weights_file != group.weights_file || one.content_id != group.content_id) continue;
    return fmt::format(
        "only a part of this group was replaced: a command was interrupted before it could replace {}; run the command "
        "again",
        one.missing_text());
  }
  return "";
}

// A model without weights is whole and yet of no use, which must not be overlooked.
void warn_of_open_weights(const Json& result, const Console& console) {
  for (const Json& number : result["numbers"].items())
    if (const int64_t open = number["open_slots"].integer(); open > 0)
      console.warning(fmt::format("{}: {} not set; the model cannot run until 'tenon weights set' sets them",
                                  number["model"].text(),
                                  open == 1 ? "1 packed weight is" : fmt::format("{} packed weights are", open)));
}

// Failure(kUsage) for flags that no model of these groups has a use for.
void check_flags(const TrialFlags& flags, const std::vector<ArtifactGroup>& groups) {
  if (!flags.given()) return;
  std::vector<tenon::Model> models;
  for (const ArtifactGroup& group : groups)
    for (const std::string& path : group.paths)
      if (group.problem.empty())
        models.push_back(refusing(kCannotLoad, path, [&] { return tenon::Model::load(path); }));
  std::vector<const tenon::Model*> pointers;
  for (const tenon::Model& model : models) pointers.push_back(&model);
  check_trial_flags(flags, pointers);
}

Json bad_group(const ArtifactGroup& group, const std::string& error) {
  Json paths(Json::Array{});
  for (const std::string& path : group.paths) paths.push(path);
  return Json::Object{
      {"paths", std::move(paths)}, {"weights_file", group.weights_file}, {"good", false}, {"error", error}};
}

}  // namespace

Exit verify_artifacts(const ArtifactCheck& check, Console& console) {
  const bool many = is_folder(check.path);
  tenon::Options usable;
  add_source_dirs(check.source_dirs, usable);
  bool good = true;
  Json results(Json::Array{});
  const std::vector<InterruptedGroup> interrupted =
      many ? interrupted_groups(check.path) : std::vector<InterruptedGroup>();
  const std::vector<ArtifactGroup> groups = find_groups(check.path);
  check_flags(check.flags, groups);
  for (const ArtifactGroup& group : groups) {
    console.progress("checking every byte of " + group.paths[0]);
    Json result;
    try {
      result = GroupCheck(group, check, console).run();
    } catch (const Failure& failure) {
      // In a folder one bad group does not hide the others.
      if (!many) throw;
      result = bad_group(group, std::string(failure.what()) + "; compile the models again, or set their weights again");
    }
    if (const std::string problem = half_replaced(group, interrupted); !problem.empty()) {
      result = bad_group(group, problem);
    }
    good = good && result["good"].boolean();
    warn_of_open_weights(result, console);
    if (!console.is_json()) print_group(result, console);
    results.push(std::move(result));
  }
  console.end_progress();
  if (console.is_json()) console.print_document(Json::Object{{"good", good}, {"groups", std::move(results)}});
  return good ? kDone : kFailed;
}

}  // namespace cli

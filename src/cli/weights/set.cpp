#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/artifacts.h"
#include "cli/models.h"
#include "cli/text.h"
#include "cli/weights/action.h"

namespace cli {

namespace fs = std::filesystem;

namespace {

// Where the new context files of a group go.
struct Target {
  std::string folder;
  std::vector<std::string> names;
  std::string weights_name;
  bool only_changes = false;
};

void check_target_flags(const WeightFlags& flags) {
  const int given = !flags.output.empty() + !flags.output_dir.empty() + flags.in_place;
  if (given != 1)
    throw Failure(kUsage, fmt::format("'weights set' needs {} of --output, --output-dir and --in-place",
                                      given == 0 ? "one" : "only one"));
  if (flags.in_place && flags.overwrite)
    throw Failure(kUsage, "--in-place replaces files anyway; leave out --overwrite");
  if (!flags.output.empty() && is_folder(flags.path))
    throw Failure(kUsage, "--output names one file, a folder may hold several compiled models; use --output-dir");
}

bool same_folder(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return fs::equivalent(a.empty() ? "." : a, b.empty() ? "." : b, ignored);
}

Target target_of(const ArtifactGroup& group, const WeightFlags& flags) {
  Target target;
  for (const std::string& path : group.paths) target.names.push_back(fs::path(path).filename().string());
  target.weights_name = group.weights_name();
  if (!flags.output.empty()) {
    const fs::path output(flags.output);
    target.folder = output.parent_path().string();
    target.names = {output.filename().string()};
    target.weights_name = output.stem().string();
    if (!target.folder.empty() && !is_folder(target.folder))
      throw Failure(kFailed, fmt::format("{}: there is no folder '{}'", flags.output, target.folder));
    std::error_code ignored;
    if (fs::equivalent(flags.output, group.paths[0], ignored))
      throw Failure(kUsage, fmt::format("'{}' is the model itself; use --in-place", flags.output));
  } else {
    target.folder = flags.in_place ? group.folder : flags.output_dir;
    if (!flags.in_place && same_folder(target.folder, group.folder))
      throw Failure(kUsage, fmt::format("--output-dir: '{}' is where the models are; use --in-place", target.folder));
  }
  // Elsewhere the file that holds the rest would be missing.
  target.only_changes = !group.embedded() && same_folder(target.folder, group.folder);
  return target;
}

// One group with its new weights, not yet written.
struct NewGroup {
  const ArtifactGroup* group;
  Target target;
  tenon::Artifact artifact;
  Json report;  // one for all its models
};

// Names of all models together; a weight that one model replaces is not kept.
Json merge_reports(const Json& reports) {
  std::set<std::string> replaced, kept, ignored, not_finite;
  int64_t slots = 0, redone = 0, bytes = 0;
  double seconds = 0;
  const auto add = [](const Json& names, std::set<std::string>& to) {
    for (const Json& name : names.items()) to.insert(name.text());
  };
  for (const Json& report : reports.items()) {
    add(report["replaced"], replaced);
    add(report["kept"], kept);
    add(report["ignored"], ignored);
    add(report["not_finite"], not_finite);
    slots += report["slots"].integer();
    redone += report["slots_redone"].integer();
    bytes += report["bytes_redone"].integer();
    seconds += report["seconds"].number();
  }
  for (const std::string& name : replaced) kept.erase(name);
  const auto list = [](const std::set<std::string>& names) {
    Json result(Json::Array{});
    for (const std::string& name : names) result.push(name);
    return result;
  };
  return Json::Object{{"replaced", list(replaced)},     {"kept", list(kept)}, {"ignored", list(ignored)},
                      {"not_finite", list(not_finite)}, {"slots", slots},     {"slots_redone", redone},
                      {"bytes_redone", bytes},          {"seconds", seconds}};
}

NewGroup bake(const ArtifactGroup& group, const tenon::Source& source, const WeightFlags& flags) {
  Target target = target_of(group, flags);
  tenon::Options open, options{{"partial", "1"}, {"strict", flags.strict ? "1" : "0"}};
  for (const std::string& folder : flags.source_dirs) open.set("source_dir:" + folder, "1");
  for (const std::string& name : flags.only) options.set("only:" + name, "1");
  const tenon::Artifact old = open_group(group, open);
  std::string report;
  tenon::Artifact baked = old.bake(source, options, &report);
  return {&group, std::move(target), std::move(baked), merge_reports(Json::parse(report))};
}

void check_taken(const std::vector<NewGroup>& made, const WeightFlags& flags) {
  if (flags.in_place || flags.overwrite) return;
  std::string taken;
  for (const NewGroup& one : made)
    for (const std::string& name : one.target.names) {
      const std::string path = one.target.folder.empty() ? name : one.target.folder + "/" + name;
      std::error_code ignored;
      if (fs::exists(fs::symlink_status(path, ignored)))
        taken += fmt::format("{}'{}'", taken.empty() ? "" : ", ", path);
    }
  if (!taken.empty()) throw Failure(kFailed, taken + " exists already; add --overwrite to replace it");
}

Json write(NewGroup& made, bool overwrite) {
  const Target& target = made.target;
  tenon::Options options{{"overwrite", overwrite ? "1" : "0"}, {"weights_name", target.weights_name}};
  options.set("embed", made.group->embedded() ? "1" : "0");
  options.set("only_changes", target.only_changes ? "1" : "0");
  // Models of a loaded group are in the order of their paths, and so are the names.
  tenon::Publication staged = made.artifact.stage(target.folder, target.names, options);
  Json outputs(Json::Array{});
  for (const std::string& name : target.names) outputs.push(target.folder.empty() ? name : target.folder + "/" + name);
  Json result;
  result.set("outputs", std::move(outputs));
  result.set("weights_file", staged.weights_name());
  result.set("bytes", staged.weights_bytes());
  for (const auto& [key, value] : made.report.entries()) result.set(key, value);
  staged.publish();
  return result;
}

void print_group(const Json& result, const WeightFlags& flags, Console& console) {
  const auto count = [&](const char* key) { return static_cast<int64_t>(result[key].items().size()); };
  const auto names = [&](const char* key, const char* what) {
    constexpr size_t kShown = 8;
    const auto& items = result[key].items();
    std::string text;
    for (size_t i = 0; i < std::min(items.size(), kShown); ++i) text += (i ? ", " : "") + items[i].text();
    if (items.size() > kShown) text += fmt::format(" and {} more", items.size() - kShown);
    if (!items.empty()) console.print(fmt::format("  {}: {}\n", what, printable(text)));
  };
  for (const Json& output : result["outputs"].items()) console.print(printable(output.text()) + "\n");
  console.print(fmt::format("  {} replaced, {} kept, {} ignored; {} of {} packed weights made again, {}\n",
                            count("replaced"), count("kept"), count("ignored"), result["slots_redone"].plain(),
                            result["slots"].plain(), human_bytes(result["bytes_redone"].integer())));
  names("kept", "kept");
  names("ignored", "ignored");
  if (count("not_finite") > 0) {
    std::string text;
    for (const Json& name : result["not_finite"].items()) text += (text.empty() ? "'" : ", '") + name.text() + "'";
    console.warning(fmt::format("{}: not every number is finite in {}", flags.from, text));
  }
  if (!result["weights_file"].text().empty())
    console.print(
        fmt::format("  weights: {}, {}\n", result["weights_file"].text(), human_bytes(result["bytes"].integer())));
}

}  // namespace

Exit set_weights(const WeightFlags& flags, Console& console) {
  check_target_flags(flags);
  const std::vector<ArtifactGroup> groups = find_groups(flags.path);
  const tenon::Source source = refusing(kFailed, flags.from, [&] { return tenon::Source::open(flags.from); });
  // Every refusal comes before the first file.
  std::vector<NewGroup> made;
  std::string problems;
  for (const ArtifactGroup& group : groups) {
    console.progress("packing " + group.paths[0]);
    try {
      made.push_back(bake(group, source, flags));
    } catch (const tenon::Error& error) {
      problems += (problems.empty() ? "" : "\n") + in_file(group.paths[0], error.what());
    }
  }
  console.end_progress();
  if (!problems.empty()) throw Failure(kFailed, problems);
  check_taken(made, flags);
  Json results(Json::Array{});
  for (NewGroup& one : made) {
    const Json result =
        refusing(kFailed, one.group->paths[0], [&] { return write(one, flags.overwrite || flags.in_place); });
    if (!console.is_json()) print_group(result, flags, console);
    results.push(result);
  }
  if (console.is_json()) console.print_document(Json::Object{{"from", flags.from}, {"groups", std::move(results)}});
  return kDone;
}

}  // namespace cli

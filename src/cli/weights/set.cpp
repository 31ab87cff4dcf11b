#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "cli/artifacts.h"
#include "cli/console.h"
#include "cli/failure.h"
#include "cli/input_files.h"
#include "cli/models.h"
#include "cli/packed_entries.h"
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
    throw Failure(kUsage, "--in-place always replaces the files; leave out --overwrite");
  if (!flags.output.empty() && is_folder(flags.path))
    throw Failure(kUsage,
                  "--output names one file, but a folder may contain several compiled models; use --output-dir");
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
    if (const std::string problem = folder_problem(target.folder); !problem.empty())
      throw Failure(kFailed, fmt::format("{}: {}", flags.output, problem));
    if (same_file(flags.output, group.paths[0]))
      throw Failure(kUsage, fmt::format("'{}' is the model itself; use --in-place", flags.output));
  } else {
    target.folder = flags.in_place ? group.folder : flags.output_dir;
    if (!flags.in_place && same_folder(target.folder, group.folder))
      throw Failure(kUsage, fmt::format("--output-dir: '{}' is the folder of the models themselves; use --in-place",
                                        target.folder));
  }
  // Elsewhere the file that holds the rest would be missing.
  target.only_changes = !group.embedded() && same_folder(target.folder, group.folder);
  return target;
}

// A group as it is, and what its models call their weights.
struct OldGroup {
  const ArtifactGroup* group;
  Target target;
  tenon::Artifact artifact;
  std::set<std::string> weights;
};

// One group with its new weights, not yet written.
struct NewGroup {
  const OldGroup* old;
  tenon::Artifact artifact;
  Json report;  // one for all its models
};

std::string path_in(const Target& target, const std::string& name) {
  return target.folder.empty() ? name : target.folder + "/" + name;
}

OldGroup open_old(const ArtifactGroup& group, const WeightFlags& flags) {
  Target target = target_of(group, flags);
  tenon::Options options;
  add_source_dirs(flags.source_dirs, options);
  OldGroup old{&group, std::move(target), open_group(group, options), {}};
  const Json described = Json::parse(old.artifact.describe("sources"));
  for (const Json& source : described["sources"].items()) old.weights.insert(source["name"].text());
  return old;
}

// What is replaced in place is meant to be; everything else that is read stays.
void check_inputs_stay(const OldGroup& old, const WeightFlags& flags) {
  if (flags.in_place) return;
  std::vector<std::string> folders = flags.source_dirs;
  if (is_folder(flags.from)) folders.push_back(flags.from);
  std::vector<std::string> inputs = files_of(*old.group, old.artifact, folders);
  inputs.push_back(flags.from);
  for (const std::string& name : old.target.names) check_replaceable(path_in(old.target, name), inputs);
}

Json list_of(const std::set<std::string>& names) {
  Json result(Json::Array{});
  for (const std::string& name : names) result.push(name);
  return result;
}

// Names of all models together; a weight that one model replaces is not kept, and one that has no value yet neither.
Json merge_reports(const Json& reports, const tenon::Artifact& baked, const std::set<std::string>& weights_of_all) {
  std::set<std::string> replaced, kept, ignored, not_finite, warnings, open;
  double seconds = 0;
  const auto add = [](const Json& names, std::set<std::string>& to) {
    for (const Json& name : names.items()) to.insert(name.text());
  };
  for (const Json& report : reports.items()) {
    add(report["replaced"], replaced);
    add(report["kept"], kept);
    add(report["ignored"], ignored);
    add(report["not_finite"], not_finite);
    add(report["warnings"], warnings);
    seconds += report["seconds"].number();
  }
  const std::vector<PackedSlot> slots = packed_slots(baked);
  for (const PackedSlot& slot : slots)
    if (slot.open) open.insert(slot.sources.begin(), slot.sources.end());
  open.erase("");
  for (const std::string& name : replaced) {
    kept.erase(name);
    open.erase(name);
  }
  for (const std::string& name : open) kept.erase(name);
  // What another group of the folder takes is not ignored, unless --only leaves it out.
  std::erase_if(ignored,
                [&](const std::string& name) { return weights_of_all.contains(name) && !kept.contains(name); });
  const EntryCount all = count_entries(slots, [](const PackedSlot&) { return true; });
  const EntryCount redone = count_entries(slots, [&](const PackedSlot& slot) {
    return std::any_of(slot.sources.begin(), slot.sources.end(), [&](const auto& s) { return replaced.contains(s); });
  });
  return Json::Object{{"replaced", list_of(replaced)},
                      {"kept", list_of(kept)},
                      {"still_open", list_of(open)},
                      {"ignored", list_of(ignored)},
                      {"not_finite", list_of(not_finite)},
                      {"warnings", list_of(warnings)},
                      {"slots", all.entries},
                      {"slots_redone", redone.entries},
                      {"bytes_redone", redone.bytes},
                      {"seconds", seconds}};
}

// New weights for every group of a folder: what is extra or missing is judged by all of them together.
class GroupBaker {
 public:
  GroupBaker(const std::vector<OldGroup>& groups, const WeightFlags& flags) : groups_(groups), flags_(flags) {
    for (const OldGroup& old : groups) known_.insert(old.weights.begin(), old.weights.end());
  }

  // Failure(kFailed) with everything that does not fit.
  std::vector<NewGroup> bake(const tenon::Source& source, Console& console) {
    std::vector<NewGroup> made;
    for (const std::string& name : flags_.only)
      if (!known_.contains(name)) add_problem(fmt::format("--only: no model has a weight named '{}'", name));
    for (const OldGroup& old : groups_) {
      console.progress("packing " + old.group->paths[0]);
      try {
        if (auto one = bake_one(old, source)) made.push_back(std::move(*one));
      } catch (const tenon::Error& error) {
        add_problem(in_file(old.group->paths[0], error.what()));
      }
    }
    console.end_progress();
    if (flags_.strict && groups_.size() > 1) check_extra(made);
    check_replaces(made, source);
    if (!problems_.empty()) throw Failure(kFailed, problems_);
    return made;
  }

 private:
  void add_problem(const std::string& problem) { problems_ += (problems_.empty() ? "" : "\n") + problem; }

  // None: nothing of it changes, and it stays where it is.
  std::optional<NewGroup> bake_one(const OldGroup& old, const tenon::Source& source) const {
    const bool judges_alone = groups_.size() == 1;
    tenon::Options options{{"partial", "1"}, {"strict", flags_.strict && judges_alone ? "1" : "0"}};
    bool takes_some = flags_.only.empty();
    for (const std::string& name : flags_.only)
      if (old.weights.contains(name)) {
        options.set("only:" + name, "1");
        takes_some = true;
      }
    if (!takes_some && flags_.in_place) return std::nullopt;
    const tenon::Source nothing;
    std::string report;
    tenon::Artifact baked = old.artifact.bake(takes_some ? source : nothing, options, &report);
    Json merged = merge_reports(Json::parse(report), baked, judges_alone ? std::set<std::string>() : known_);
    return NewGroup{&old, std::move(baked), std::move(merged)};
  }

  // Nobody asks for new weights to get the old ones: what was given is named wrong, or is for another model.
  void check_replaces(const std::vector<NewGroup>& made, const tenon::Source& source) {
    if (!problems_.empty() || std::any_of(made.begin(), made.end(),
                                          [](const NewGroup& one) { return !one.report["replaced"].items().empty(); }))
      return;
    constexpr size_t kShown = 5;
    const std::vector<std::string> given = source.names(), known(known_.begin(), known_.end());
    std::string names;
    for (size_t i = 0; i < std::min(given.size(), kShown); ++i)
      names += fmt::format("\n  '{}'{}", given[i], suggestion(given[i], known));
    if (given.size() > kShown) names += fmt::format("\n  and {} more", given.size() - kShown);
    add_problem(fmt::format("{}: no weight of these models is replaced; 'tenon weights list' shows their weights{}{}",
                            flags_.from, names.empty() ? "" : ". The source contains:", names));
  }

  void check_extra(const std::vector<NewGroup>& made) {
    std::set<std::string> extra;
    for (const NewGroup& one : made)
      for (const Json& name : one.report["ignored"].items())
        if (!known_.contains(name.text())) extra.insert(name.text());
    for (const std::string& name : extra) add_problem(fmt::format("{}: extra: '{}'", flags_.from, name));
  }

  const std::vector<OldGroup>& groups_;
  const WeightFlags& flags_;
  std::set<std::string> known_;
  std::string problems_;
};

void check_taken(const std::vector<NewGroup>& made, const WeightFlags& flags) {
  for (const NewGroup& one : made)
    for (const std::string& name : one.old->target.names) tenon::check_replaceable(path_in(one.old->target, name));
  if (flags.in_place || flags.overwrite) return;
  std::vector<std::string> taken;
  for (const NewGroup& one : made)
    for (const std::string& name : one.old->target.names) {
      std::error_code ignored;
      const std::string path = path_in(one.old->target, name);
      if (fs::exists(fs::symlink_status(path, ignored))) taken.push_back("'" + path + "'");
    }
  if (!taken.empty())
    throw Failure(kFailed, fmt::format("{} already {}; add --overwrite to replace {}", fmt::join(taken, ", "),
                                       taken.size() == 1 ? "exists" : "exist", taken.size() == 1 ? "it" : "them"));
}

bool is_compiled(const std::string& path) {
  try {
    return !is_folder(path) && tenon::is_context_file(path);
  } catch (const tenon::Error&) {
    return false;  // it is no ONNX file; the other formats are tried next
  }
}

tenon::Source open_source(const std::string& path) {
  if (is_compiled(path))
    throw Failure(
        kFailed,
        path +
            ": this model is compiled; name the model it was made from, or a file written by 'tenon weights export'");
  return refusing(kFailed, path, [&] { return tenon::Source::open(path); });
}

Json write(NewGroup& made, bool overwrite) {
  const Target& target = made.old->target;
  tenon::Options options{{"overwrite", overwrite ? "1" : "0"}, {"weights_name", target.weights_name}};
  options.set("embed", made.old->group->embedded() ? "1" : "0");
  options.set("only_changes", target.only_changes ? "1" : "0");
  // Models of a loaded group are in the order of their paths, and so are the names.
  tenon::Publication staged = made.artifact.stage(target.folder, target.names, options);
  Json outputs(Json::Array{});
  for (const std::string& name : target.names) outputs.push(path_in(target, name));
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
  console.print(fmt::format("  {} replaced, {} kept, {} ignored; {} of {} packed weights recomputed, {}\n",
                            count("replaced"), count("kept"), count("ignored"), result["slots_redone"].plain(),
                            result["slots"].plain(), human_bytes(result["bytes_redone"].integer())));
  names("kept", "kept");
  names("still_open", "not set");
  names("ignored", "ignored");
  if (count("not_finite") > 0) {
    std::string text;
    for (const Json& name : result["not_finite"].items()) text += (text.empty() ? "'" : ", '") + name.text() + "'";
    console.warning(fmt::format("{}: some numbers are not finite in {}", flags.from, text));
  }
  for (const Json& warning : result["warnings"].items()) console.warning(warning.text());
  if (!result["weights_file"].text().empty())
    console.print(fmt::format("  weights: {}, {}\n", printable(result["weights_file"].text()),
                              human_bytes(result["bytes"].integer())));
}

void warn_of_weights_still_open(const Json& result, const Console& console) {
  const size_t open = result["still_open"].items().size();
  if (open > 0)
    console.warning(fmt::format("{}: {} not set; the model cannot run until 'tenon weights set' sets them",
                                result["outputs"].items()[0].text(),
                                open == 1 ? "1 weight is" : fmt::format("{} weights are", open)));
}

}  // namespace

Exit set_weights(const WeightFlags& flags, Console& console) {
  check_target_flags(flags);
  console.progress("reading " + flags.from);
  const tenon::Source source = open_source(flags.from);
  // What a stopped command left half-replaced would otherwise count as two groups.
  if (flags.in_place && is_folder(flags.path))
    refusing(kFailed, flags.path, [&] { tenon::complete_folder(flags.path); });
  const std::vector<ArtifactGroup> groups = find_groups(flags.path);
  // Every refusal comes before the first file.
  std::vector<OldGroup> old;
  for (const ArtifactGroup& group : groups) old.push_back(open_old(group, flags));
  for (const OldGroup& one : old) check_inputs_stay(one, flags);
  std::vector<NewGroup> made = GroupBaker(old, flags).bake(source, console);
  check_taken(made, flags);
  Json results(Json::Array{});
  for (NewGroup& one : made) {
    console.progress("writing " + path_in(one.old->target, one.old->target.names[0]));
    const Json result =
        refusing(kFailed, one.old->group->paths[0], [&] { return write(one, flags.overwrite || flags.in_place); });
    warn_of_weights_still_open(result, console);
    if (!console.is_json()) print_group(result, flags, console);
    results.push(result);
  }
  console.end_progress();
  if (console.is_json()) console.print_document(Json::Object{{"from", flags.from}, {"groups", std::move(results)}});
  return kDone;
}

}  // namespace cli

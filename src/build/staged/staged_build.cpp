#include "build/staged/staged_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "base/cpu.h"
#include "base/folder.h"
#include "build/build.h"
#include "build/capability_report.h"
#include "build/group.h"
#include "build/input_files.h"
#include "build/staged/read_files.h"
#include "build/staged/stage_keys.h"
#include "build/staged/staged_request.h"

namespace tenon::build {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void refuse_build(const std::string& message) { throw Error(TN_INVALID_ARGUMENT, message); }

bool is_good(const std::string& status) { return status == "ran" || status == "skipped" || status == "off"; }

}  // namespace

StagedBuild::StagedBuild(const BuildRequest& request, const Listener& tell, const std::atomic<bool>& cancelled)
    : request_(request), tell_(tell), cancelled_(cancelled) {}
StagedBuild::~StagedBuild() = default;

void StagedBuild::check_cancelled() const {
  if (cancelled_) throw Cancelled{};
}

void StagedBuild::cancel() {
  const std::lock_guard lock(mutex_);
  if (build_) build_->cancel();
}

void StagedBuild::check_inputs_stay() const {
  std::vector<std::string> inputs, files = {kManifestFile, kAnalysisFile, kEffectiveFile};
  for (const ModelRequest& model : request_.models) inputs.push_back(model.path);
  if (wants_optimized_files(request_))
    for (const std::string& name : names_.names) files.push_back(optimized_file(name));
  for (const std::string& file : files)
    if (const std::string input = replaced_input(path(file), inputs); !input.empty())
      refuse_build(
          fmt::format("'{}' would be overwritten by the result '{}'; choose another output", input, path(file)));
}

// Those whose names are known before there is anything in them.
std::vector<std::string> StagedBuild::planned_files() const {
  std::vector<std::string> files = {kManifestFile, kAnalysisFile};
  if (request_.staged.auto_enable) files.emplace_back(kEffectiveFile);
  if (request_.staged.compile) files.insert(files.end(), names_.files.begin(), names_.files.end());
  if (wants_optimized_files(request_))
    for (const std::string& name : names_.names) files.push_back(optimized_file(name));
  return files;
}

// What somebody else made stays.
void StagedBuild::check_outputs_are_own() const {
  for (const std::string& file : planned_files())
    if (exists(path(file)) && !is_own_output(last_.content, file) && !request_.overwrite)
      refuse_build(
          fmt::format("'{}' already exists and no build into this folder made it; move it, choose another folder, or "
                      "set the option 'overwrite' to replace it",
                      path(file)));
}

void StagedBuild::prepare() {
  check_staged_request(request_);
  // The build inside says what there is to say of names.
  names_ = choose_names(request_, [](Event, size_t, const std::string&) {});
  check_inputs_stay();
  last_ = read_manifest(names_.folder);
  check_outputs_are_own();
  request_.overwrite = true;
  if (request_.staged.rebuild) request_.cache.finds = false;
  for (size_t i = 0; i < request_.models.size(); ++i) {
    StagedModel model;
    model.path = request_.models[i].path;
    model.name = names_.names[i];
    models_.push_back(std::move(model));
  }
}

std::vector<std::string> StagedBuild::outputs() const {
  std::vector<std::string> files;
  for (size_t i = 0; i < names_.files.size(); ++i)
    files.push_back(path(request_.staged.compile ? names_.files[i] : optimized_file(names_.names[i])));
  return files;
}

void StagedBuild::read_inputs() {
  const KnownFiles known(last_.content, last_.modified_ns, request_.staged.rehash);
  const int64_t jobs = request_.threads > 0 ? request_.threads : std::max<int64_t>(1, std::llround(cpu_info().quota));
  for (size_t i = 0; i < models_.size(); ++i) {
    check_cancelled();
    StagedModel& model = models_[i];
    const auto start = Clock::now();
    tell_(Event::Progress, i, "reading " + model.path);
    read_files(model, known, model_in(last_.content, model.path), jobs);
    set_keys(model, request_.models[i], request_, names_.files[i]);
    Stage& stage = model.at(StageName::Import);
    stage.bytes_read = model.bytes_read();
    stage.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const bool is_known = model.are_files_known();
    stage.status = is_known ? "skipped" : "ran";
    stage.why = is_known ? "its files are certainly the same" : "its files were hashed";
    model.capabilities = choice_json(choice_of(switches_of(request_.models[i], request_)));
  }
}

bool StagedBuild::is_compile_intact() const {
  if (!request_.staged.compile) return true;
  const std::string weights = text_in(member(last_.content, "group"), "weights_file");
  return std::ranges::all_of(names_.files,
                             [&](const std::string& f) { return is_intact(last_.content, names_.folder, f); }) &&
         (weights.empty() || is_intact(last_.content, names_.folder, weights));
}

void StagedBuild::decide(StagedModel& model, const Json& last) {
  const bool rebuild = request_.staged.rebuild;
  const auto set = [&](StageName name, bool is_on, bool is_there, const char* missing) {
    Stage& stage = model.at(name);
    if (!is_on) {
      stage = {"off", "it is switched off", "", 0, 0, 0};
    } else if (rebuild) {
      stage.why = "rebuild";
    } else if (last.is_null()) {
      stage.why = "this folder has no result of it";
    } else if (!was_done(last, name, stage.key)) {
      stage.why = "what it depends on has changed";
    } else if (!is_there) {
      stage.why = missing;
    } else {
      stage.status = "skipped";
      stage.why = "nothing it depends on has changed";
    }
  };
  const std::string file = optimized_file(model.name);
  const bool has_file = !wants_optimized_files(request_) || is_intact(last_.content, names_.folder, file);
  set(StageName::Optimize, request_.optimize.is_on, has_file, "its result is missing or was changed");
  set(StageName::Analyze, true, is_intact(last_.content, names_.folder, kAnalysisFile),
      "analysis.json is missing or was changed");
  set(StageName::Compile, request_.staged.compile, is_compile_intact(), "its result is missing or was changed");
}

void StagedBuild::decide() {
  for (StagedModel& model : models_) decide(model, model_in(last_.content, model.path));
  // A group is published as a whole.
  const size_t count = list_in(last_.content, "models").size();
  const bool is_group_done = is_done(StageName::Compile) && count == models_.size();
  for (StagedModel& model : models_) {
    Stage& compile = model.at(StageName::Compile);
    if (compile.status == "skipped" && is_group_done)
      model.output = text_in(model_in(last_.content, model.path), "output");
    if (compile.status == "skipped" && !is_group_done)
      compile = {"", "another model of the group has changed", compile.key, 0, 0, 0};
    Stage& optimize = model.at(StageName::Optimize);
    const bool is_needed = compile.status.empty() || model.at(StageName::Analyze).status.empty();
    // What is compiled is what the analysis suggests.
    if (is_needed && request_.staged.auto_enable) model.at(StageName::Analyze).status.clear();
    if (optimize.status == "skipped" && is_needed && !wants_optimized_files(request_))
      optimize = {"", "a later stage needs its result", optimize.key, 0, 0, 0};
    if (is_needed || optimize.status.empty()) continue;
    const Json& last = model_in(last_.content, model.path);
    model.capabilities = member(last, "capabilities");
    model.rounds = list_in(last, "rounds");
  }
}

bool StagedBuild::is_done(StageName name) const {
  return std::ranges::all_of(models_, [&](const StagedModel& m) { return !m.at(name).status.empty(); });
}

std::string StagedBuild::run() {
  const auto start = Clock::now();
  read_inputs();
  decide();
  for (const std::string& file : outputs_of(last_.content)) outputs_.push_back(file);
  weights_file_ = text_in(member(last_.content, "group"), "weights_file");
  if (request_.staged.dry_run) {
    for (StagedModel& model : models_)
      for (Stage& stage : model.stages)
        if (stage.status.empty()) stage.status = "would run";
    seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
    Json result = manifest();
    result["status"] = "dry run";
    return dump(result);
  }
  const bool has_work = !is_done(StageName::Optimize) || !is_done(StageName::Analyze) || !is_done(StageName::Compile);
  if (has_work) run_stages();
  seconds_ = std::chrono::duration<double>(Clock::now() - start).count();
  Json result = manifest();
  const bool is_known = std::ranges::all_of(models_, &StagedModel::are_files_known);
  if (is_folder(names_.folder) && (has_work || !is_known)) write_text(kManifestFile, result);
  result["report"] = report_;
  return dump(result);
}

void StagedBuild::write_text(const std::string& file, const Json& value) {
  const std::string text = dump(value) + "\n";
  const std::string_view pieces[] = {text};
  throw_unless_ok(write_file_atomically(path(file), pieces));
  outputs_.push_back(file);
}

std::string StagedBuild::status() const {
  bool ran = false;
  for (const StagedModel& model : models_) {
    if (!model.error.empty()) return "failed";
    for (const Stage& stage : model.stages) {
      if (!is_good(stage.status) && !stage.status.empty()) return "failed";
      ran = ran || (stage.status == "ran" && &stage != model.stages.data());
    }
  }
  return ran ? "built" : "up to date";
}

Json StagedBuild::manifest() const {
  Json models = Json::array();
  int64_t read = 0, written = 0;
  for (const StagedModel& model : models_) {
    models.push_back(model_json(model));
    for (const Stage& stage : model.stages) {
      read += stage.bytes_read;
      written += stage.bytes_written;
    }
  }
  std::set<std::string> files;
  for (const std::string& file : outputs_)
    if (exists(path(file))) files.insert(file);
  Json outputs = outputs_json(names_.folder, {files.begin(), files.end()});
  // It cannot know its own.
  if (!files.contains(kManifestFile)) outputs.push_back({{"file", kManifestFile}, {"identity", nullptr}});
  return {{"format", 1},
          {"made_by", std::string("tenon ") + tn_version()},
          {"status", status()},
          {"folder", names_.folder},
          {"seconds", seconds_},
          {"bytes_read", read},
          {"bytes_written", written},
          {"models", std::move(models)},
          {"group", {{"weights_file", weights_file_}}},
          {"outputs", std::move(outputs)}};
}

}  // namespace tenon::build

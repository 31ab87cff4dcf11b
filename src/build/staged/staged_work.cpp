// The stages of a staged build that run.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <ranges>
#include <set>

#include "base/folder.h"
#include "base/write_count.h"
#include "build/build.h"
#include "build/group.h"
#include "build/input_files.h"
#include "build/staged/staged_build.h"
#include "build/staged/staged_request.h"
#include "build/staged/write_optimized.h"
#include "build/text.h"
#include "compiler/model_content.h"

namespace tenon::build {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int64_t bytes_of(const std::string& path) { return integer_in(identity_of_file(path), "bytes"); }

const char* evidence_text(const std::string& evidence) {
  return evidence == "stamp" ? "the model is in normal form, as its stamp says"
                             : "the model is in normal form: no pass changes it";
}

}  // namespace

void StagedBuild::run_stages() {
  const bool compiles = !is_done(StageName::Compile),
             writes = wants_optimized_files(request_) && !is_done(StageName::Optimize);
  bool is_final = false;
  for (int64_t round = 0; !is_final; ++round) {
    load();
    analyze_all();
    is_final = !request_.staged.auto_enable || round >= request_.staged.most_rounds || !enable_suggested();
  }
  if (!request_.staged.fail_on_reference || !has_fallbacks()) {
    if (compiles || writes) publish(compiles, writes);
    if (is_folder(names_.folder)) finish();
  }
  for (StagedModel& model : models_)
    for (Stage& stage : model.stages)
      // Without a key, so that it runs next time.
      if (stage.status.empty()) stage = {"skipped", "an earlier stage failed", "", 0, 0, 0};
}

void StagedBuild::publish(bool compiles, bool writes) {
  try {
    announce();
    if (compiles) compile();
    if (writes) write_optimized();
  } catch (...) {
    withdraw();
    throw;
  }
  withdraw();
}

// Lists new results before they are there, so that the next build knows them as its own if this one is killed.
void StagedBuild::announce() {
  Json content = last_.content;
  if (content.is_null()) content = {{"format", 1}, {"models", Json::array()}, {"outputs", Json::array()}};
  bool is_new = false;
  for (const std::string& file : planned_files()) {
    if (is_own_output(content, file)) continue;
    content["outputs"].push_back({{"file", file}, {"identity", nullptr}});
    is_new = true;
  }
  if (!is_new) return;
  content["status"] = "unfinished";
  // The time of the manifest, which says how old files were when they were hashed, is another one now.
  for (Json& model : content["models"]) model.erase("files");
  throw_unless_ok(make_folders(names_.folder, made_folders_));
  write_text(kManifestFile, content);
}

// A folder that was made for results goes where there are none.
void StagedBuild::withdraw() const {
  if (made_folders_.empty()) return;
  if (const auto files = list_folder(names_.folder); files.ok()) {
    if (!files->empty() && *files != std::vector<std::string>{kManifestFile}) return;
    (void)remove_file(path(kManifestFile)).ok();
  }
  std::error_code ignored;
  for (const std::string& folder : std::views::reverse(made_folders_)) fs::remove(folder, ignored);
}

void StagedBuild::finish() {
  write_analysis();
  if (request_.staged.auto_enable) write_effective();
  remove_own_leftovers();
}

bool StagedBuild::has_fallbacks() {
  bool found = false;
  for (StagedModel& model : models_) {
    const int64_t fallbacks = integer_in(member(model.analysis, "summary"), "fallbacks");
    if (fallbacks == 0 || !model.error.empty()) continue;
    model.error = in_file(
        model.path, fmt::format("{} of its nodes fall back to the reference, which 'fail_on' forbids", fallbacks));
    model.at(StageName::Analyze).status = "failed";
    found = true;
  }
  return found;
}

void StagedBuild::load() {
  BuildRequest inner = request_;
  inner.staged.is_on = false;
  auto build = std::make_shared<Build>(std::move(inner));
  throw_unless_ok(build->listen(tell_));
  {
    const std::lock_guard lock(mutex_);
    build_ = build;
  }
  check_cancelled();
  const uint64_t before = written_bytes();
  throw_unless_ok(build_->load());
  // What the cache keeps.
  models_[0].at(StageName::Optimize).bytes_written += static_cast<int64_t>(written_bytes() - before);
  for (size_t i = 0; i < models_.size(); ++i) {
    const Json optimized = build_->optimize_report(i);
    Stage& stage = models_[i].at(StageName::Optimize);
    models_[i].error = build_->error(i);
    if (!models_[i].error.empty()) {
      Stage& import = models_[i].at(StageName::Import);
      import.status = "failed";
      import.why = "the model cannot be used";
      continue;
    }
    if (optimized.is_null()) continue;
    const std::string evidence = text_in(optimized, "evidence");
    stage.seconds += number_in(optimized, "seconds");
    if (stage.status == "skipped") continue;
    const bool is_cached = flag_in(optimized, "cached");
    stage.status = evidence.empty() && !is_cached ? "ran" : "skipped";
    if (!evidence.empty()) stage.why = evidence_text(evidence);
    if (is_cached) stage.why = "the cache has its result";
    models_[i].capabilities = member(optimized, "capabilities");
  }
}

void StagedBuild::analyze_all() {
  const Json earlier = read_json_file(path(kAnalysisFile));
  for (size_t i = 0; i < models_.size(); ++i) {
    StagedModel& model = models_[i];
    if (!build_->model(i)) continue;
    if (model.at(StageName::Analyze).status == "skipped") {
      model.analysis = member(model_in(earlier, model.path), "analysis");
      if (!model.analysis.is_null()) continue;
    }
    check_cancelled();
    tell_(Event::Progress, i, "analyzing " + model.path);
    analyze_one(i);
  }
}

void StagedBuild::analyze_one(size_t i) {
  const auto start = Clock::now();
  const ModelRequest& own = request_.models[i];
  Options options{{"optimize", "0"},
                  {"provider", own.provider.empty() ? request_.provider : own.provider},
                  {"consumer", request_.staged.compile ? "tenon" : "onnxruntime"}};
  for (const auto& [name, on] : switches_of(own, request_)) options.set("capability:" + name, on ? "1" : "0");
  add_cache(request_.cache, options);
  const uint64_t before = written_bytes();
  char* text = nullptr;
  detail::check(tn_model_analyze(build_->model(i), options.get(), &text));
  Json& analysis = models_[i].analysis;
  analysis = Json::parse(detail::take_text(text));
  Stage& stage = models_[i].at(StageName::Analyze);
  const bool is_cached = analysis.erase("cached") > 0;
  stage.status = is_cached ? "skipped" : "ran";
  if (is_cached) stage.why = "the cache has its result";
  stage.seconds += seconds_since(start);
  stage.bytes_written += static_cast<int64_t>(written_bytes() - before);
}

// False when nothing is suggested that is not on already.
bool StagedBuild::enable_suggested() {
  bool is_new = false;
  for (size_t i = 0; i < models_.size(); ++i) {
    Json names = Json::array();
    for (const Json& suggestion : list_in(models_[i].analysis, "suggestions")) {
      const std::string name = text_in(suggestion, "capability");
      CapabilitySwitches switches = switches_of(request_.models[i], request_);
      // What the user has switched off stays off.
      if (!switches.emplace(name, 1).second) continue;
      request_.models[i].capabilities[name] = 1;
      names.push_back(name);
    }
    if (names.empty()) continue;
    is_new = true;
    models_[i].rounds.push_back({{"enabled", std::move(names)}});
  }
  return is_new;
}

void StagedBuild::write_optimized() {
  std::vector<std::string> made;
  throw_unless_ok(make_folders(names_.folder, made));
  for (size_t i = 0; i < models_.size(); ++i) {
    StagedModel& model = models_[i];
    Stage& stage = model.at(StageName::Optimize);
    const std::string file = optimized_file(model.name);
    if (!model.error.empty()) continue;
    if (!request_.staged.rebuild && is_intact(last_.content, names_.folder, file) &&
        was_done(model_in(last_.content, model.path), StageName::Optimize, stage.key))
      continue;
    check_cancelled();
    const uint64_t before = written_bytes();
    const auto written = build::write_optimized(
        model.path, path(file), choice_of(switches_of(request_.models[i], request_)), request_.optimize.force);
    if (!written.ok()) {
      model.error = in_file(model.path, written.status().to_string());
      stage.status = "failed";
      continue;
    }
    const Json& report = *written;
    outputs_.push_back(file);
    stage.bytes_written += static_cast<int64_t>(written_bytes() - before);
    for (const Json& data : list_in(report, "data_files"))
      if (text_in(data, "written") != "nothing") outputs_.push_back(text_in(data, "name"));
    if (!request_.staged.compile) model.output = path(file);
  }
}

void StagedBuild::compile() {
  check_cancelled();
  const uint64_t read = ModelContent::bytes_read(), written = written_bytes();
  const auto report = build_->run();
  if (!report.ok()) throw_unless_ok(report.status());
  report_ = Json::parse(*report);
  note_compiled(report_);
  // Of a group, the first model has what is common to all.
  Stage& first = models_[0].at(StageName::Compile);
  first.bytes_read = static_cast<int64_t>(ModelContent::bytes_read() - read);
  first.bytes_written = static_cast<int64_t>(written_bytes() - written);
  for (size_t i = 1; i < models_.size(); ++i) first.bytes_written -= models_[i].at(StageName::Compile).bytes_written;
}

void StagedBuild::note_compiled(const Json& report) {
  const Json& entries = list_in(report, "models");
  weights_file_ = text_in(member(report, "group"), "weights_file");
  if (!weights_file_.empty()) outputs_.push_back(weights_file_);
  for (size_t i = 0; i < models_.size(); ++i) {
    StagedModel& model = models_[i];
    Stage& stage = model.at(StageName::Compile);
    const std::string status = text_in(entries[i], "status");
    stage.seconds = number_in(entries[i], "seconds");
    if (!build_->error(i).empty()) {
      // One that could not be loaded has failed before.
      if (model.error.empty()) stage.status = "failed";
      model.error = build_->error(i);
      continue;
    }
    model.output = build_->output(i);
    outputs_.push_back(names_.files[i]);
    const bool is_written = status == "compiled", is_cached = flag_in(entries[i], "cached");
    stage.status = is_written && !is_cached ? "ran" : "skipped";
    if (is_cached) stage.why = "the cache has its result";
    if (status == "up to date") stage.why = "its result is up to date";
    if (is_written) stage.bytes_written = bytes_of(model.output);
  }
}

void StagedBuild::write_analysis() {
  Json list = Json::array();
  for (StagedModel& model : models_) {
    list.push_back({{"model", model.path}, {"analysis", model.analysis}});
  }
  const uint64_t before = written_bytes();
  write_text(kAnalysisFile, {{"models", std::move(list)}});
  models_[0].at(StageName::Analyze).bytes_written += static_cast<int64_t>(written_bytes() - before);
}

// What the build came to, as a configuration that needs no suggestions.
void StagedBuild::write_effective() {
  Json models = Json::array();
  for (size_t i = 0; i < models_.size(); ++i) {
    Json enable = Json::array(), disable = Json::array();
    for (const auto& [name, on] : switches_of(request_.models[i], request_)) (on ? enable : disable).push_back(name);
    std::error_code problem;
    const fs::path relative = fs::proximate(models_[i].path, names_.folder, problem);
    models.push_back({{"path", problem ? models_[i].path : relative.string()},
                      {"name", models_[i].name},
                      {"optimize", {{"enable", std::move(enable)}, {"disable", std::move(disable)}}}});
    if (const std::string& own = request_.models[i].provider; !own.empty())
      models.back()["compile"] = {{"provider_options", {{"provider", own}}}};
  }
  write_text(
      kEffectiveFile,
      {{"models", std::move(models)},
       {"analyze", {{"auto", false}, {"fail_on", request_.staged.fail_on_reference ? Json("reference") : Json()}}},
       {"compile",
        {{"sources", request_.sources},
         {"embed", request_.embed},
         {"provider_options", {{"provider", request_.provider}}}}}});
}

// Of the last build, what this one did not make again. What somebody has written to since is not its own any more.
void StagedBuild::remove_own_leftovers() const {
  if (!request_.staged.rebuild) return;
  std::vector<std::string> inputs;
  for (const ModelRequest& model : request_.models) inputs.push_back(model.path);
  std::set<std::string> kept = {kManifestFile, kAnalysisFile, weights_file_};
  for (size_t i = 0; i < models_.size(); ++i) {
    if (request_.staged.compile) kept.insert(names_.files[i]);
    if (!wants_optimized_files(request_)) continue;
    kept.insert(optimized_file(models_[i].name));
    for (const FileRecord& file : models_[i].files) kept.insert(file_name_of(file.path));
  }
  if (request_.staged.auto_enable) kept.insert(kEffectiveFile);
  for (const std::string& file : outputs_of(last_.content))
    if (!kept.contains(file) && is_intact(last_.content, names_.folder, file) &&
        replaced_input(path(file), inputs).empty())
      throw_unless_ok(remove_file(path(file)));
}

}  // namespace tenon::build

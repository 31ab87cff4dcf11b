#include "cli/compile/group.h"

#include <algorithm>
#include <filesystem>

#include "cli/compile/validate.h"
#include "cli/models.h"
#include "cli/option_flags.h"
#include "cli/text.h"

namespace cli {

namespace fs = std::filesystem;

namespace {

// The jobs in the order of the artifact's models.
std::vector<ModelJob*> in_order_of(const tenon::Artifact& artifact, const std::vector<ModelJob*>& group) {
  std::vector<ModelJob*> order;
  for (const std::string& name : artifact.models())
    order.push_back(*std::find_if(group.begin(), group.end(), [&](const ModelJob* job) { return job->name == name; }));
  return order;
}

bool has_failed(const std::vector<ModelJob*>& group) {
  return std::any_of(group.begin(), group.end(), [](const ModelJob* j) { return j->state == ModelJob::State::Failed; });
}

// What is wrong, with the numbers of each output that differs.
std::string validation_problem(const Json& validation) {
  std::string message = validation["message"].text();
  for (const Json& output : validation["outputs"].items())
    if (output["mismatches"].integer() > 0)
      message += fmt::format("\n  '{}': {} of {} differ, max abs {:.3g} (allowed {:.3g}), max rel {:.3g}",
                             output["name"].text(), output["mismatches"].plain(), output["elements"].plain(),
                             output["max_abs"].number(), output["allowed_abs"].number(), output["max_rel"].number());
  return message;
}

// What is known of a result that was there already.
Json earlier_validation(const std::string& verdict) {
  if (verdict.empty()) return Json::Object{{"verdict", "never validated"}, {"message", "add --validate to try it now"}};
  return Json::Object{{"verdict", verdict}, {"message", "when it was compiled"}, {"earlier", true}};
}

// So that a later compile that finds the files up to date can say it.
void note_verdicts(const std::vector<std::string>& paths, const std::vector<ModelJob*>& order) {
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i]->alive()) tenon::note_validation(paths[i], order[i]->validation["verdict"].text());
}

int64_t size_of(const std::string& path) {
  std::error_code problem;
  const auto bytes = fs::file_size(path, problem);
  return problem ? 0 : static_cast<int64_t>(bytes);
}

}  // namespace

tenon::Options GroupCompiler::context_options(const CompileSettings& settings) {
  tenon::Options options{{"threads", std::to_string(settings.threads)}};
  if (!settings.isa().empty()) options.set("cpu_isa", settings.isa());
  return options;
}

std::vector<ModelJob*> GroupCompiler::alive() {
  std::vector<ModelJob*> group;
  for (ModelJob& job : jobs_)
    if (job.alive()) group.push_back(&job);
  return group;
}

bool GroupCompiler::any_failed() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const ModelJob& j) { return j.state == ModelJob::State::Failed; });
}

void GroupCompiler::skip_rest() {
  for (ModelJob& job : jobs_)
    if (job.alive()) job.state = ModelJob::State::Skipped;
}

void GroupCompiler::run() {
  for (;;) {
    if (any_failed() && !settings_.keep_going) return skip_rest();
    std::vector<ModelJob*> group = alive();
    if (group.empty() || is_up_to_date(group)) return;
    const auto artifact = compile(group);
    if (!artifact) continue;
    // What completes a group replaces its own files, whatever the flags say.
    bool completes = false;
    if (!check_free(group, completes)) return skip_rest();
    if (publish(*artifact, group, settings_.overwrite || completes)) return;
  }
}

bool GroupCompiler::is_up_to_date(std::vector<ModelJob*>& group) {
  const std::vector<const ModelJob*> jobs(group.begin(), group.end());
  const auto existing = find_existing(jobs, pins_of(group, settings_), settings_, names_, console_);
  if (existing) take(*existing, group);
  return existing.has_value();
}

void GroupCompiler::take(const ExistingResults& existing, std::vector<ModelJob*>& group) {
  std::vector<std::string> paths;
  for (const ModelJob* job : group) paths.push_back(names_.path(job->file));
  describe_sharing(existing.described, group, group_);
  group_.weights_file = existing.weights_file;
  group_.weights_bytes = size_of(settings_.embed ? paths[0] : names_.path(existing.weights_file));
  for (size_t i = 0; i < group.size(); ++i) group[i]->validation = earlier_validation(existing.validations[i]);
  // Whoever asks for it wants it, though it may have been done when this was compiled.
  if (settings_.validate_again && validate(paths, group)) {
    try {
      note_verdicts(paths, group);
    } catch (const tenon::Error& error) {
      // The result is as good without a note.
      console_.detail(error.what());
    }
  }
  for (size_t i = 0; i < group.size(); ++i) {
    if (group[i]->alive()) group[i]->state = ModelJob::State::UpToDate;
    group[i]->context_bytes = size_of(paths[i]);
  }
  tidy();
}

void GroupCompiler::tidy() const {
  try {
    // No name of weights: what interrupted publications brought is known without it, and others may be somebody's.
    tenon::tidy_folder(names_.folder.empty() ? "." : names_.folder, "");
  } catch (const tenon::Error& error) {
    // What stays is found again next time.
    console_.detail(error.what());
  }
}

bool GroupCompiler::check_free(const std::vector<ModelJob*>& group, bool& completes) {
  const std::vector<std::string> pins = pins_of(group, settings_);
  bool is_free = true;
  for (ModelJob* job : group) {
    const std::string path = names_.path(job->file);
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (!fs::exists(status)) continue;
    if (!fs::is_regular_file(status)) {
      try {
        tenon::check_replaceable(path);
      } catch (const tenon::Error& error) {
        job->fail(error.what());
      }
    } else if (settings_.overwrite || find_existing({job}, pins, settings_, names_, console_)) {
      completes = true;
      continue;
    } else {
      job->fail(fmt::format("'{}' exists already and is not up to date; add --overwrite to replace it", path));
    }
    is_free = false;
  }
  if (!is_free) tidy();
  return is_free;
}

tenon::Options GroupCompiler::compile_options(const std::vector<ModelJob*>& group) const {
  tenon::Options options{{"sources", settings_.sources}, {"jobs", std::to_string(settings_.jobs)}};
  options.set("defer_weights", settings_.defer ? "1" : "0");
  for (const ModelJob* job : group) options.set("provider:" + job->name, settings_.provider(stem_of(job->path)));
  for (const std::string& name : pins_of(group, settings_)) options.set("pin:" + name, "1");
  return options;
}

tenon::Artifact GroupCompiler::compile_some(const std::vector<ModelJob*>& some) {
  std::vector<std::pair<std::string, const tenon::Model*>> models;
  for (const ModelJob* job : some) models.emplace_back(job->name, &*job->model);
  return tenon::Artifact::compile(models, compile_options(some), &context_);
}

std::optional<tenon::Artifact> GroupCompiler::compile(const std::vector<ModelJob*>& group) {
  console_.progress(group.size() == 1 ? "compiling " + group[0]->path
                                      : fmt::format("compiling {} models, {} first", group.size(), group[0]->path));
  try {
    return compile_some(group);
  } catch (const tenon::Error& error) {
    if (group.size() > 1) fail_bad_ones(group);
    if (!has_failed(group))
      for (ModelJob* job : group) job->fail(in_file(job->path, error.what()));
  }
  return std::nullopt;
}

// Which ones it was, each with its own reason.
void GroupCompiler::fail_bad_ones(const std::vector<ModelJob*>& group) {
  for (ModelJob* job : group) {
    try {
      compile_some({job});
    } catch (const tenon::Error& error) {
      job->fail(in_file(job->path, error.what()));
    }
  }
}

bool GroupCompiler::publish(const tenon::Artifact& artifact, std::vector<ModelJob*>& group, bool overwrite) {
  try {
    return stage_and_publish(artifact, group, overwrite);
  } catch (const tenon::Error& error) {
    // Somebody else may have made the same meanwhile.
    if (!has_failed(group) && is_up_to_date(group)) return true;
    for (ModelJob* job : group)
      if (job->alive()) job->fail(with_flags(error.what()));
    return false;
  }
}

bool GroupCompiler::stage_and_publish(const tenon::Artifact& artifact, std::vector<ModelJob*>& group, bool overwrite) {
  const std::vector<ModelJob*> order = in_order_of(artifact, group);
  std::vector<std::string> files, paths;
  for (const ModelJob* job : order) files.push_back(job->file);
  tenon::Options options{{"overwrite", overwrite ? "1" : "0"}, {"embed", settings_.embed ? "1" : "0"}};
  options.set("weights_name", names_.weights_name);
  console_.progress(
      fmt::format("packing the weights of {}",
                  order.size() == 1 ? order[0]->path : counted(static_cast<int64_t>(order.size()), "model")));
  tenon::Publication staged = artifact.stage(names_.folder, files, options);
  for (size_t i = 0; i < order.size(); ++i) {
    paths.push_back(staged.path(i));
    order[i]->context_bytes = size_of(paths[i]);
  }
  const bool valid = !settings_.validate || validate(paths, order);
  if (valid && settings_.validate && !settings_.defer) note_verdicts(paths, order);
  const Json described = Json::parse(artifact.describe("models,packed,sources"));
  for (size_t i = 0; i < order.size(); ++i)
    order[i]->seconds += described["models"].items()[i]["seconds_spent"].number();
  // Also after a failure: a model that has changed was compared with another one.
  if (!is_unchanged(described, order) || !valid) return false;
  // Trying out takes its time, and leave to complete a group is not leave to replace what came meanwhile.
  bool completes = false;
  if (overwrite && !settings_.overwrite && !check_free(group, completes)) {
    skip_rest();
    return false;
  }
  describe_sharing(described, group, group_);
  group_.weights_file = staged.weights_name();
  group_.weights_bytes = staged.weights_bytes();
  staged.publish();
  for (ModelJob* job : order) job->state = ModelJob::State::Compiled;
  return true;
}

void GroupCompiler::try_out(ModelJob& job, const std::string& path, int64_t share) {
  StagedCheck check{job.path, path};
  check.threads = std::max<int64_t>(1, context_.threads() / share);
  check.memory = Json::parse(tenon::system_json())["memory"]["limit"].integer() / share;
  check.cpu_isa = settings_.isa();
  if (settings_.validate_seconds > 0) check.seconds = settings_.validate_seconds;
  check.freeze_all = settings_.freeze_all;
  check.frozen = settings_.frozen;
  check.flags = settings_.flags.of(*job.model);
  console_.progress(fmt::format("comparing {} with the reference", job.path));
  job.validation = validate_staged(check);
  job.seconds += job.validation["seconds"].number();
}

bool GroupCompiler::validate(const std::vector<std::string>& paths, const std::vector<ModelJob*>& order) {
  if (settings_.defer) {
    for (ModelJob* job : order)
      job->validation = Json::Object{{"verdict", "not tried"}, {"message", "there are no weights yet"}};
    return true;
  }
  const int64_t jobs = std::min(settings_.jobs, static_cast<int64_t>(order.size()));
  // Together they take no more memory than one may; one that needs more than its share gets all of it afterwards.
  for_each_parallel(order.size(), jobs, [&](size_t i) { try_out(*order[i], paths[i], jobs); });
  for (size_t i = 0; i < order.size() && jobs > 1; ++i)
    if (order[i]->validation["short_of_memory"].boolean()) try_out(*order[i], paths[i], 1);
  bool good = true;
  for (ModelJob* job : order) {
    const std::string& verdict = job->validation["verdict"].text();
    if (verdict == "same" || verdict == "inconclusive") continue;
    good = false;
    job->fail(in_file(job->path, "validation: " + validation_problem(job->validation)));
  }
  return good;
}

bool GroupCompiler::is_unchanged(const Json& described, const std::vector<ModelJob*>& order) {
  bool good = true;
  const auto& models = described["models"].items();
  const std::vector<std::string> pins = pins_of(order, settings_);
  for (size_t i = 0; i < order.size(); ++i) {
    ModelJob& job = *order[i];
    std::string key;
    try {
      key =
          tenon::compile_key(tenon::Model::load(job.path, load_options(settings_)), key_options(settings_, job, pins));
    } catch (const tenon::Error&) {
      // A file that cannot be read any more has changed too.
    }
    if (key == models[i]["made_from"].text()) continue;
    good = false;
    job.fail(in_file(job.path, "changed while it was compiled; compile it again"));
  }
  return good;
}

}  // namespace cli

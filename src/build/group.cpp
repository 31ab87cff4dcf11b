#include "build/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "build/in_parallel.h"
#include "build/text.h"
#include "build/trial.h"
#include "build/validate.h"

namespace tenon::build {

namespace fs = std::filesystem;

namespace {

// The jobs in the order of the result.
std::vector<ModelJob*> in_order_of(const CompiledGroup& compiled, const std::vector<ModelJob*>& group) {
  std::vector<ModelJob*> order;
  for (const std::string& name : compiled.names())
    order.push_back(*std::find_if(group.begin(), group.end(), [&](const ModelJob* job) { return job->name == name; }));
  return order;
}

bool has_failed(const std::vector<ModelJob*>& group) {
  return std::any_of(group.begin(), group.end(), [](const ModelJob* j) { return j->state == ModelJob::State::Failed; });
}

// What is wrong, with the numbers of each output that differs.
std::string validation_problem(const Json& validation) {
  std::string message = text_in(validation, "message");
  for (const Json& output : list_in(validation, "outputs"))
    if (integer_in(output, "mismatches") > 0)
      message +=
          fmt::format("\n  '{}': {} of {} differ, max abs {:.3g} (allowed {:.3g}), max rel {:.3g}",
                      text_in(output, "name"), integer_in(output, "mismatches"), integer_in(output, "elements"),
                      number_in(output, "max_abs"), number_in(output, "allowed_abs"), number_in(output, "max_rel"));
  return message;
}

// What is known of a result that was there already.
Json earlier_validation(const std::string& verdict) {
  if (verdict.empty())
    return Json::object(
        {{"verdict", "never validated"}, {"message", "set the option 'validate_existing' to validate it"}});
  return Json::object({{"verdict", verdict}, {"message", "when it was compiled"}, {"earlier", true}});
}

int64_t size_of(const std::string& path) {
  std::error_code problem;
  const auto bytes = fs::file_size(path, problem);
  return problem ? 0 : static_cast<int64_t>(bytes);
}

}  // namespace

Options GroupCompiler::context_options(const BuildRequest& request) {
  Options options{{"threads", std::to_string(request.threads)}};
  if (!request.cpu_isa.empty()) options.set("cpu_isa", request.cpu_isa);
  return options;
}

void GroupCompiler::check_cancelled() const {
  if (cancelled_) throw Cancelled{};
}

GroupToCompile GroupCompiler::to_compile(const std::vector<ModelJob*>& group, std::vector<std::string> pins) const {
  GroupToCompile result{{}, std::move(pins), request_, names_, context_, cancelled_, tell_};
  for (const ModelJob* job : group)
    result.models.push_back({job->path, job->name, job->file, job->provider, job->model ? &*job->model : nullptr});
  return result;
}
GroupToCompile GroupCompiler::to_compile(const std::vector<ModelJob*>& group) const {
  return to_compile(group, pins_of(group, request_));
}

// So that a later build that finds the files up to date can say it.
void GroupCompiler::note_verdicts(const std::vector<std::string>& paths, const std::vector<ModelJob*>& order) const {
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i]->alive()) compiler_.note_validation(paths[i], text_in(order[i]->validation, "verdict"));
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
    check_cancelled();
    if (any_failed() && !request_.keep_going) return skip_rest();
    std::vector<ModelJob*> group = alive();
    if (group.empty() || is_up_to_date(group)) return;
    const auto compiled = compile(group);
    if (!compiled) continue;
    // What completes a group replaces its own files, whatever the options say.
    bool completes = false;
    if (!check_free(group, completes)) return skip_rest();
    if (publish(*compiled, group, request_.overwrite || completes)) return;
  }
}

bool GroupCompiler::is_up_to_date(std::vector<ModelJob*>& group) {
  if (request_.staged.rebuild) return false;
  const auto existing = compiler_.find_existing(to_compile(group), tell_);
  if (existing) take(*existing, group);
  return existing.has_value();
}

void GroupCompiler::take(const ExistingResults& existing, std::vector<ModelJob*>& group) {
  std::vector<std::string> paths;
  for (const ModelJob* job : group) paths.push_back(names_.path(job->file));
  describe_sharing(existing.described, group, group_);
  group_.weights_file = existing.weights_file;
  group_.weights_bytes = size_of(request_.embed ? paths[0] : names_.path(existing.weights_file));
  for (size_t i = 0; i < group.size(); ++i) group[i]->validation = earlier_validation(existing.validations[i]);
  // Whoever asks for it wants it, though it may have been done when this was compiled.
  if (request_.validate_existing && validate(paths, group)) {
    try {
      note_verdicts(paths, group);
    } catch (const Error& error) {
      // The result is as good without a note.
      tell_(Event::Detail, kNoModel, error.what());
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
    tidy_folder(names_.folder.empty() ? "." : names_.folder, "");
  } catch (const Error& error) {
    // What stays is found again next time.
    tell_(Event::Detail, kNoModel, error.what());
  }
}

bool GroupCompiler::check_free(const std::vector<ModelJob*>& group, bool& completes) {
  const std::vector<std::string> pins = pins_of(group, request_);
  bool is_free = true;
  for (ModelJob* job : group) {
    const std::string path = names_.path(job->file);
    std::error_code ignored;
    const fs::file_status status = fs::symlink_status(path, ignored);
    if (!fs::exists(status)) continue;
    if (!fs::is_regular_file(status)) {
      try {
        check_replaceable(path);
      } catch (const Error& error) {
        job->fail(error.what());
      }
    } else if (request_.overwrite || compiler_.find_existing(to_compile({job}, pins), tell_)) {
      completes = true;
      continue;
    } else {
      job->fail(
          fmt::format("'{}' already exists and is not up to date; set the option 'overwrite' to replace it", path));
    }
    is_free = false;
  }
  if (!is_free) tidy();
  return is_free;
}

std::unique_ptr<CompiledGroup> GroupCompiler::compile(const std::vector<ModelJob*>& group) {
  progress(group.size() == 1 ? "compiling " + group[0]->path
                             : fmt::format("compiling {} models, starting with {}", group.size(), group[0]->path));
  try {
    return compiler_.compile(to_compile(group));
  } catch (const Error& error) {
    check_cancelled();
    if (group.size() > 1) fail_bad_ones(group);
    if (!has_failed(group))
      for (ModelJob* job : group) job->fail(in_file(job->path, error.what()));
  }
  return nullptr;
}

// Which ones it was, each with its own reason.
void GroupCompiler::fail_bad_ones(const std::vector<ModelJob*>& group) {
  for (ModelJob* job : group) {
    check_cancelled();
    try {
      compiler_.compile(to_compile({job}));
    } catch (const Error& error) {
      check_cancelled();
      job->fail(in_file(job->path, error.what()));
    }
  }
}

bool GroupCompiler::publish(CompiledGroup& compiled, std::vector<ModelJob*>& group, bool overwrite) {
  try {
    return stage_and_publish(compiled, group, overwrite);
  } catch (const Error& error) {
    check_cancelled();
    // Somebody else may have made the same meanwhile.
    if (!has_failed(group) && is_up_to_date(group)) return true;
    for (ModelJob* job : group)
      if (job->alive()) job->fail(error.what());
    return false;
  }
}

// A compiler may say that all is well and have written nothing.
bool GroupCompiler::has_all_files(const StagedGroup& staged, const std::vector<ModelJob*>& order) const {
  bool good = true;
  for (size_t i = 0; i < order.size(); ++i) {
    order[i]->context_bytes = size_of(staged.path(i));
    if (order[i]->context_bytes > 0) continue;
    good = false;
    order[i]->fail(in_file(order[i]->path, fmt::format("the compiler '{}' reported no error but did not write '{}'",
                                                       compiler_.name(), order[i]->file)));
  }
  return good;
}

bool GroupCompiler::stage_and_publish(CompiledGroup& compiled, std::vector<ModelJob*>& group, bool overwrite) {
  const std::vector<ModelJob*> order = in_order_of(compiled, group);
  progress(fmt::format("packing the weights of {}",
                       order.size() == 1 ? order[0]->path : fmt::format("{} models", order.size())));
  const auto staged = compiled.stage(overwrite);
  if (!has_all_files(*staged, order)) return false;
  std::vector<std::string> paths;
  for (size_t i = 0; i < order.size(); ++i) paths.push_back(staged->path(i));
  check_cancelled();
  for (size_t i = 0; i < order.size(); ++i) order[i]->cached = compiled.is_cached(i);
  const bool valid = !request_.validate || validate_new(compiled, paths, order);
  if (valid && request_.validate && !request_.defer_weights) note_verdicts(paths, order);
  const Json described = compiled.describe();
  for (size_t i = 0; i < order.size(); ++i)
    order[i]->seconds += number_in(list_in(described, "models")[i], "seconds_spent");
  // Also after a failure: a model that has changed was compared with another one.
  if (!is_unchanged(described, order) || !valid) return false;
  // Trying out takes its time, and leave to complete a group is not leave to replace what came meanwhile.
  bool completes = false;
  if (overwrite && !request_.overwrite && !check_free(group, completes)) {
    skip_rest();
    return false;
  }
  describe_sharing(described, group, group_);
  group_.weights_file = staged->weights_name();
  group_.weights_bytes = staged->weights_bytes();
  check_cancelled();
  staged->publish();
  for (ModelJob* job : order) job->state = ModelJob::State::Compiled;
  keep(compiled, *staged, order);
  return true;
}

// The results are there, with the cache or without it.
void GroupCompiler::keep(const CompiledGroup& compiled, const StagedGroup& staged,
                         const std::vector<ModelJob*>& order) const {
  std::vector<std::string> verdicts;
  for (const ModelJob* job : order) verdicts.push_back(text_in(job->validation, "verdict"));
  try {
    compiled.keep(staged, verdicts);
  } catch (const Error& error) {
    tell_(Event::Detail, kNoModel, std::string("the cache was not written: ") + error.what());
  }
}

void GroupCompiler::try_out(ModelJob& job, const std::string& path, int64_t share) {
  check_cancelled();
  StagedCheck check{request_.program, job.path, path};
  check.threads = std::max<int64_t>(1, context_.threads() / share);
  check.memory = integer_in(member(Json::parse(system_json()), "memory"), "limit") / share;
  check.cpu_isa = request_.cpu_isa;
  check.seconds = request_.validate_seconds;
  check.freeze_all = request_.freeze_all;
  check.frozen = request_.frozen;
  check.trial = trial_of(*job.model, request_.trial);
  progress(fmt::format("comparing {} with the reference", job.path));
  job.validation = validate_staged(check, &cancelled_);
  check_cancelled();
  job.seconds += number_in(job.validation, "seconds");
}

bool GroupCompiler::validate(const std::vector<std::string>& paths, const std::vector<ModelJob*>& order) {
  const char* why_not = request_.defer_weights             ? "there are no weights yet"
                        : !compiler_.abilities().runs_here ? "this machine cannot run its results"
                                                           : nullptr;
  if (why_not) {
    for (ModelJob* job : order) job->validation = Json::object({{"verdict", "not tried"}, {"message", why_not}});
    return true;
  }
  const int64_t jobs = std::min(request_.jobs, static_cast<int64_t>(order.size()));
  // Together they take no more memory than one may; one that needs more than its share gets all of it afterwards.
  for_each_parallel(order.size(), jobs, [&](size_t i) { try_out(*order[i], paths[i], jobs); });
  for (size_t i = 0; i < order.size() && jobs > 1; ++i)
    if (flag_in(order[i]->validation, "short_of_memory")) try_out(*order[i], paths[i], 1);
  bool good = true;
  for (ModelJob* job : order) {
    const std::string verdict = text_in(job->validation, "verdict");
    if (verdict == "same" || verdict == "inconclusive") continue;
    good = false;
    job->fail(in_file(job->path, "validation: " + validation_problem(job->validation)));
  }
  return good;
}

bool GroupCompiler::validate_new(const CompiledGroup& compiled, const std::vector<std::string>& paths,
                                 const std::vector<ModelJob*>& order) {
  std::vector<std::string> new_paths;
  std::vector<ModelJob*> new_jobs;
  for (size_t i = 0; i < order.size(); ++i) {
    const std::string verdict = request_.validate_existing ? "" : compiled.earlier_verdict(i);
    if (verdict.empty()) {
      new_paths.push_back(paths[i]);
      new_jobs.push_back(order[i]);
    } else {
      order[i]->validation = earlier_validation(verdict);
    }
  }
  return validate(new_paths, new_jobs);
}

bool GroupCompiler::is_unchanged(const Json& described, const std::vector<ModelJob*>& order) {
  bool good = true;
  const std::vector<std::string> pins = pins_of(order, request_);
  for (size_t i = 0; i < order.size(); ++i) {
    ModelJob& job = *order[i];
    // Most often the files themselves tell, and nothing is read again. What has failed has no model any more.
    if (job.model && flag_in(Json::parse(job.model->describe("unchanged")), "unchanged")) continue;
    std::string key;
    try {
      const Model now = load_model(job.path, request_, request_.models[job.number], nullptr);
      GroupToCompile one = to_compile({&job}, pins);
      one.models[0].model = &now;
      key = compiler_.key(one.models[0], one);
    } catch (const Error&) {
      // A file that cannot be read any more has changed too.
    }
    if (key == text_in(list_in(described, "models")[i], "made_from")) continue;
    good = false;
    job.fail(in_file(job.path, "the file changed while it was being compiled; compile it again"));
  }
  return good;
}

}  // namespace tenon::build

#include "build/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/waiting.h"
#include "build/compilers.h"
#include "build/group.h"
#include "build/report.h"
#include "build/staged/staged_build.h"
#include "build/trial.h"
#include "build/validate.h"

namespace tenon::build {

namespace {

using Clock = std::chrono::steady_clock;

// What the library throws becomes a status: inside this folder errors are tenon::Error, as for every user of tenon.hpp.
template <class F>
Status guarded(F&& f) {
  try {
    f();
    return {};
  } catch (const Cancelled&) {
    return tenon::error(Code::Cancelled, "the build was cancelled");
  } catch (const Error& error) {
    return Status(static_cast<Code>(error.code()), error.what());
  }
}

[[noreturn]] void refuse(const std::string& message) { throw Error(TN_INVALID_ARGUMENT, message); }

void check_outputs(const BuildRequest& request) {
  const size_t count = request.models.size();
  if (count == 0) refuse("no model is given");
  for (const ModelRequest& model : request.models)
    if (model.path.empty()) refuse("the path of a model must not be empty");
  if (!request.output.empty() && !request.output_dir.empty())
    refuse("the options 'output' and 'output_dir' cannot be used together");
  if (count > 1 && !request.output.empty())
    refuse(fmt::format("option 'output' names one file, but there are {} models; use the option 'output_dir'", count));
  if (count > 1 && request.output_dir.empty()) refuse(fmt::format("{} models need the option 'output_dir'", count));
  if (request.weights_name.find('/') != std::string::npos)
    refuse(fmt::format("option 'weights_name' must be a name, not a path: '{}'", request.weights_name));
}

void check_together(const BuildRequest& request) {
  if (request.sources != "reference" && request.sources != "embed" && request.sources != "none")
    refuse(fmt::format("option 'sources' must be reference, embed or none, but it is '{}'", request.sources));
  if (request.embed && request.models.size() > 1)
    refuse("option 'embed' is for one model; with several, each would have a copy of the shared weights");
  if (request.embed && !request.weights_name.empty())
    refuse("option 'weights_name' names a weights file, but with 'embed' there is none");
  if (!request.trial.empty() && !request.validate)
    refuse(
        "the options 'input', 'shape' and 'dim' choose the inputs for validation, but validate=0 turns validation off");
  if (request.defer_weights && (request.validate_existing || !request.trial.empty()))
    refuse("the option 'defer_weights' leaves the compiled model without weights, so it cannot be validated");
  if (request.defer_weights && request.sources == "embed")
    refuse("sources=embed stores a copy of the weights, but 'defer_weights' leaves them out");
}

void check_abilities(const BuildRequest& request, const Compiler& compiler) {
  const Abilities abilities = compiler.abilities();
  if (request.models.size() > 1 && !abilities.groups)
    refuse(fmt::format("the compiler '{}' can compile only one model at a time", compiler.name()));
  if (request.embed && !abilities.embed)
    refuse(fmt::format("the compiler '{}' cannot embed weights; leave out the option 'embed'", compiler.name()));
}

}  // namespace

class Build::State {
 public:
  State(BuildRequest given, std::unique_ptr<Compiler> chosen) : request(std::move(given)), compiler(std::move(chosen)) {
    tell = [this](Event event, size_t model, const std::string& text) {
      const std::lock_guard lock(mutex_);
      if (listener) listener(event, model, text);
    };
  }

  void prepare() {
    if (is_prepared) return;
    if (request.staged.is_on) return prepare_staged();
    check_outputs(request);
    if (!compiler) compiler = make_compiler(request.compiler);
    if (const std::string problem = compiler->problem(); !problem.empty())
      throw Error(TN_UNSUPPORTED, fmt::format("the compiler '{}' cannot be used: {}", compiler->name(), problem));
    request.compiler = compiler->name();
    check_together(request);
    check_abilities(request, *compiler);
    names = choose_names(request, tell);
    for (const std::string& file : names.files) outputs.push_back(names.path(file));
    jobs = make_jobs(request, names);
    is_prepared = true;
  }

  void load() {
    if (is_loaded) return;
    prepare();
    // Which models are read is the business of the stages.
    if (staged) return;
    tell(Event::Progress, kNoModel,
         jobs.size() == 1 ? "reading " + jobs[0].path : fmt::format("reading {} models", jobs.size()));
    load_jobs(jobs, request, tell);
    is_loaded = true;
  }

  std::string run() {
    const auto start = Clock::now();
    if (has_run) refuse("a build can run only once; create another one");
    const double before = seconds;
    load();
    if (staged) {
      has_run = true;
      return staged->run();
    }
    // What no model has may belong to one that could not be loaded, which is reported.
    std::vector<const Model*> models;
    for (const ModelJob& job : jobs)
      if (job.model) models.push_back(&*job.model);
    if (models.size() == jobs.size()) check_trial(request.trial, models);
    find_validator();
    has_run = true;
    GroupCompiler group(request, names, jobs, *compiler, tell, cancelled);
    group.run();
    seconds = before + std::chrono::duration<double>(Clock::now() - start).count();
    return dump(build_report(request, names, jobs, group.group(), seconds));
  }

  // The time of every step counts.
  template <class F>
  void timed(F&& f) {
    const auto start = Clock::now();
    f();
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
  }

  BuildRequest request;
  std::unique_ptr<Compiler> compiler;
  Listener listener, tell;
  OutputNames names;
  std::vector<std::string> outputs;
  std::vector<ModelJob> jobs;
  std::unique_ptr<StagedBuild> staged;  // null: a compile alone
  bool is_prepared = false, is_loaded = false, has_run = false;
  std::atomic<bool> cancelled{false};
  double seconds = 0;

 private:
  void prepare_staged() {
    auto made = std::make_unique<StagedBuild>(request, tell, cancelled);
    made->prepare();
    outputs = made->outputs();
    staged = std::move(made);
    is_prepared = true;
  }

  // Before any work: a result that nobody can try must not be found out at its end.
  void find_validator() {
    const bool tries = (request.validate || request.validate_existing) && !request.defer_weights;
    if (!tries || !compiler->abilities().runs_here || !request.program.empty()) return;
    auto found = find_program();
    if (!found.ok()) throw Error(TN_NOT_FOUND, found.status().message());
    request.program = *found;
  }

  std::mutex mutex_;
};

Build::Build(BuildRequest request) : Build(std::move(request), nullptr) {}
Build::Build(BuildRequest request, std::unique_ptr<Compiler> compiler)
    : state_(std::make_unique<State>(std::move(request), std::move(compiler))) {}
Build::~Build() = default;

Status Build::add(ModelRequest model) {
  if (state_->is_prepared) return invalid_argument("models must be added before the build is prepared");
  state_->request.models.push_back(std::move(model));
  return {};
}

Status Build::listen(Listener listener) {
  if (state_->is_prepared) return invalid_argument("the listener must be set before the build is prepared");
  state_->listener = std::move(listener);
  return {};
}

Status Build::prepare() {
  return guarded([&] { state_->timed([&] { state_->prepare(); }); });
}

Status Build::load() {
  return guarded([&] { state_->timed([&] { state_->load(); }); });
}

Result<std::string> Build::run() {
  std::string report;
  const AskWhileWaiting asks([this] { return state_->cancelled.load(); });
  TN_RETURN_IF_ERROR(guarded([&] { report = state_->run(); }));
  return report;
}

void Build::cancel() {
  state_->cancelled = true;
  if (state_->staged) state_->staged->cancel();
}

size_t Build::model_count() const { return state_->request.models.size(); }

const std::string& Build::output(size_t model) const {
  static const std::string none;
  return model < state_->outputs.size() ? state_->outputs[model] : none;
}

const tn_model* Build::model(size_t model) const {
  if (model >= state_->jobs.size() || !state_->jobs[model].model) return nullptr;
  return state_->jobs[model].model->get();
}

const char* Build::status(size_t model) const {
  if (model >= state_->jobs.size() || state_->jobs[model].alive()) return "waiting";
  return state_->jobs[model].state_text();
}

Json Build::optimize_report(size_t model) const {
  return model < state_->jobs.size() ? state_->jobs[model].optimized : Json();
}

const std::string& Build::error(size_t model) const {
  static const std::string none;
  return model < state_->jobs.size() ? state_->jobs[model].error : none;
}

Result<std::string> html_of_report(const std::string& report) {
  const Json parsed = Json::parse(report, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("models")) return invalid_argument("this is not a build report");
  return report_html(parsed);
}

}  // namespace tenon::build

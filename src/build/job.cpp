#include "build/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "build/compiled_input.h"
#include "build/in_parallel.h"
#include "build/names.h"
#include "build/text.h"

namespace tenon::build {

const char* ModelJob::state_text() const {
  switch (state) {
    case State::Compiled:
      return "compiled";
    case State::UpToDate:
      return "up to date";
    case State::Failed:
      return "failed";
    default:
      return "skipped";
  }
}

Options load_options(const BuildRequest& request) {
  Options options;
  if (request.freeze_all) options.set("freeze_inputs", "1");
  for (const std::string& name : request.frozen) options.set("freeze_input:" + name, "1");
  return options;
}

void add_cache(const CacheOptions& cache, Options& options) {
  if (!cache.is_on || !cache.finds) return;
  options.set("cache", "1");
  options.set("cache_dir", cache.folder);
  options.set("cache_bytes", std::to_string(cache.most_bytes));
}

Model load_model(const std::string& path, const BuildRequest& request, const ModelRequest& model, Json* report) {
  Model read = Model::load(path, load_options(request));
  if (!request.optimize.is_on) return read;
  if (flag_in(member(Json::parse(read.describe()), "summary"), "compiled")) return read;
  Options options{{"force", request.optimize.force ? "1" : "0"}};
  CapabilitySwitches switches = model.capabilities;
  switches.insert(request.optimize.capabilities.begin(), request.optimize.capabilities.end());
  for (const auto& [name, on] : switches) options.set("capability:" + name, on ? "1" : "0");
  add_cache(request.cache, options);
  std::string text;
  Model made = optimized(read, options, &text);
  if (report) *report = Json::parse(text);
  return made;
}

std::vector<std::string> pins_of(const std::vector<ModelJob*>& group, const BuildRequest& request) {
  std::vector<std::string> pins;
  for (const std::string& name : request.pins)
    if (std::any_of(group.begin(), group.end(), [&](const ModelJob* job) { return job->weights.contains(name); }))
      pins.push_back(name);
  return pins;
}

namespace {

// What options may name: weights, and initializers that are also inputs, which freezing takes away.
void read_names(ModelJob& job, const BuildRequest& request) {
  if (!request.pins.empty()) {
    const Json described = Json::parse(job.model->describe("weights"));
    for (const Json& weight : list_in(described, "weights")) job.weights.insert(text_in(weight, "name"));
  }
  if (!request.frozen.empty()) {
    const Model open = Model::load(job.path);
    for (size_t i = 0; i < open.input_count(); ++i)
      if (open.input_has_default(i)) job.optional_inputs.insert(open.input_name(i));
  }
}

void load_job(ModelJob& job, const BuildRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  try {
    if (!is_utf8(job.name))
      return job.fail(in_file(
          job.path, "the file name is not UTF-8, so the compiled model cannot be named after it; rename the file"));
    job.model = load_model(job.path, request, request.models[job.number], &job.optimized);
    const Json summary = member(Json::parse(job.model->describe()), "summary");
    if (const std::string why = refusal_of_compiled(job.model->get()); !why.empty())
      return job.fail(in_file(job.path, why));
    job.warnings = job.model->warnings();
    job.nodes = integer_in(summary, "nodes");
    read_names(job, request);
  } catch (const Error& error) {
    job.fail(in_file(job.path, error.what()));
  }
  job.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Names that options mention must be somewhere. A model that could not be loaded may have had them, so then it is only
// said.
void check_names(const std::vector<ModelJob>& jobs, const BuildRequest& request, const Listener& tell) {
  const bool all_loaded =
      std::all_of(jobs.begin(), jobs.end(), [](const ModelJob& job) { return job.model.has_value(); });
  const auto check = [&](const std::string& name, std::set<std::string> ModelJob::* names, const char* option,
                         const char* what) {
    if (std::any_of(jobs.begin(), jobs.end(), [&](const ModelJob& job) { return (job.*names).contains(name); })) return;
    if (all_loaded) throw Error(TN_INVALID_ARGUMENT, fmt::format("option '{}': no model {} '{}'", option, what, name));
    tell(Event::Warning, kNoModel,
         fmt::format("option '{}': no model that could be loaded {} '{}'", option, what, name));
  };
  for (const std::string& name : request.pins) check(name, &ModelJob::weights, "pin", "has a weight named");
  for (const std::string& name : request.frozen)
    check(name, &ModelJob::optional_inputs, "freeze_input", "has an initializer among its inputs named");
}

}  // namespace

std::vector<ModelJob> make_jobs(const BuildRequest& request, const OutputNames& names) {
  std::vector<ModelJob> jobs(request.models.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    const ModelRequest& model = request.models[i];
    jobs[i].number = i;
    jobs[i].path = model.path;
    jobs[i].name = names.names[i];
    jobs[i].file = names.files[i];
    jobs[i].provider = model.provider.empty() ? request.provider : model.provider;
  }
  return jobs;
}

void load_jobs(std::vector<ModelJob>& jobs, const BuildRequest& request, const Listener& tell) {
  for_each_parallel(jobs.size(), request.jobs, [&](size_t i) { load_job(jobs[i], request); });
  for (const ModelJob& job : jobs)
    for (const std::string& warning : job.warnings) tell(Event::Warning, job.number, warning);
  check_names(jobs, request, tell);
}

void describe_sharing(const Json& described, std::vector<ModelJob*>& jobs, GroupResult& group) {
  std::map<std::string, ModelJob*> by_name;
  std::map<std::string, std::set<std::string>> with;
  for (ModelJob* job : jobs) {
    by_name[job->name] = job;
    job->packed_bytes = job->shared_tensors = job->shared_bytes = 0;
  }
  for (const Json& model : list_in(described, "models"))
    if (by_name.contains(text_in(model, "name"))) by_name[text_in(model, "name")]->steps = integer_in(model, "steps");
  group.tensors = list_in(described, "packed");
  group.sources = list_in(described, "sources");
  group.packed_bytes = group.unshared_bytes = 0;
  for (const Json& tensor : group.tensors) {
    const int64_t bytes = integer_in(tensor, "bytes");
    const auto users = list_in(tensor, "models").get<std::vector<std::string>>();
    group.packed_bytes += bytes;
    group.unshared_bytes += bytes * static_cast<int64_t>(users.size());
    for (const std::string& user : users) {
      ModelJob* job = by_name[user];
      if (!job) continue;
      job->packed_bytes += bytes;
      if (users.size() < 2) continue;
      ++job->shared_tensors;
      job->shared_bytes += bytes;
      for (const std::string& other : users)
        if (other != user) with[user].insert(other);
    }
  }
  for (ModelJob* job : jobs) job->shared_with.assign(with[job->name].begin(), with[job->name].end());
}

}  // namespace tenon::build

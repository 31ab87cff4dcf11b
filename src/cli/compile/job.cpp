#include "cli/compile/job.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "cli/models.h"
#include "cli/text.h"

namespace cli {

std::string ModelJob::state_text() const {
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

tenon::Options load_options(const CompileSettings& settings) {
  tenon::Options options;
  if (settings.freeze_all) options.set("freeze_inputs", "1");
  for (const std::string& name : settings.frozen) options.set("freeze_input:" + name, "1");
  return options;
}

std::vector<std::string> pins_of(const std::vector<ModelJob*>& group, const CompileSettings& settings) {
  std::vector<std::string> pins;
  for (const std::string& name : settings.pins)
    if (std::any_of(group.begin(), group.end(), [&](const ModelJob* job) { return job->weights.contains(name); }))
      pins.push_back(name);
  return pins;
}

tenon::Options key_options(const CompileSettings& settings, const ModelJob& job, const std::vector<std::string>& pins) {
  tenon::Options options{{"provider", settings.provider(stem_of(job.path))}, {"sources", settings.sources}};
  options.set("defer_weights", settings.defer ? "1" : "0");
  for (const std::string& name : pins) options.set("pin:" + name, "1");
  return options;
}

void for_each_parallel(size_t count, int64_t jobs, const std::function<void(size_t)>& f) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;  // the first; what nobody has begun by then is left
  const auto work = [&] {
    try {
      for (size_t i; (i = next++) < count;) f(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      for (size_t i = 1; i < std::min(static_cast<size_t>(jobs), count); ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // The system gives no more threads; this one and those there are do the work.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

namespace {

// Here the option has a flag of its own.
std::string naming_flag(std::string warning) {
  constexpr std::string_view kOption = "; freeze_inputs makes";
  const size_t at = warning.find(kOption);
  return at == std::string::npos ? warning : warning.replace(at, kOption.size(), "; --freeze-inputs makes");
}

// What flags may name: weights, and initializers that are also inputs, which freezing takes away.
void read_names(ModelJob& job, const CompileSettings& settings) {
  if (!settings.pins.empty()) {
    const Json described = Json::parse(job.model->describe("weights"));
    for (const Json& weight : described["weights"].items()) job.weights.insert(weight["name"].text());
  }
  if (!settings.frozen.empty()) {
    const tenon::Model open = tenon::Model::load(job.path);
    for (size_t i = 0; i < open.input_count(); ++i)
      if (open.input_has_default(i)) job.optional_inputs.insert(open.input_name(i));
  }
}

void load_job(ModelJob& job, const CompileSettings& settings) {
  const auto start = std::chrono::steady_clock::now();
  try {
    if (!is_utf8(job.name))
      return job.fail(
          in_file(job.path, "its name is not UTF-8, so no compiled model can be named after it; rename it"));
    if (tenon::is_context_file(job.path))
      return job.fail(in_file(job.path, "is compiled already; give the model it was made from"));
    job.model = tenon::Model::load(job.path, load_options(settings));
    for (const std::string& warning : job.model->warnings()) job.warnings.push_back(naming_flag(warning));
    const Json described = Json::parse(job.model->describe());
    job.nodes = described["summary"]["nodes"].integer();
    read_names(job, settings);
  } catch (const tenon::Error& error) {
    job.fail(in_file(job.path, error.what()));
  }
  job.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Names that flags mention must be somewhere. A model that could not be loaded may have had them, so then it is only
// said.
void check_names(const std::vector<ModelJob>& jobs, const CompileSettings& settings, const Console& console) {
  const bool all_loaded =
      std::all_of(jobs.begin(), jobs.end(), [](const ModelJob& job) { return job.model.has_value(); });
  const auto check = [&](const std::string& name, std::set<std::string> ModelJob::* names, const char* flag,
                         const char* what) {
    if (std::any_of(jobs.begin(), jobs.end(), [&](const ModelJob& job) { return (job.*names).contains(name); })) return;
    if (all_loaded) throw Failure(kUsage, fmt::format("{}: no model {} '{}'", flag, what, name));
    console.warning(fmt::format("{}: no model that could be loaded {} '{}'", flag, what, name));
  };
  for (const std::string& name : settings.pins) check(name, &ModelJob::weights, "--pin", "has a weight");
  for (const std::string& name : settings.frozen)
    check(name, &ModelJob::optional_inputs, "--freeze-inputs", "has among its inputs an initializer");
}

}  // namespace

void load_jobs(std::vector<ModelJob>& jobs, const CompileSettings& settings, const Console& console) {
  for_each_parallel(jobs.size(), settings.jobs, [&](size_t i) { load_job(jobs[i], settings); });
  for (const ModelJob& job : jobs) show_warnings(job.path, job.warnings, console);
  check_names(jobs, settings, console);
}

void describe_sharing(const Json& described, std::vector<ModelJob*>& jobs, GroupResult& group) {
  std::map<std::string, ModelJob*> by_name;
  std::map<std::string, std::set<std::string>> with;
  for (ModelJob* job : jobs) {
    by_name[job->name] = job;
    job->packed_bytes = job->shared_tensors = job->shared_bytes = 0;
  }
  for (const Json& model : described["models"].items())
    if (by_name.contains(model["name"].text())) by_name[model["name"].text()]->steps = model["steps"].integer();
  group.tensors = described["packed"];
  group.sources = described["sources"];
  group.packed_bytes = group.unshared_bytes = 0;
  for (const Json& tensor : group.tensors.items()) {
    const int64_t bytes = tensor["bytes"].integer();
    const auto& users = tensor["models"].items();
    group.packed_bytes += bytes;
    group.unshared_bytes += bytes * static_cast<int64_t>(users.size());
    for (const Json& user : users) {
      ModelJob* job = by_name[user.text()];
      if (!job) continue;
      job->packed_bytes += bytes;
      if (users.size() < 2) continue;
      ++job->shared_tensors;
      job->shared_bytes += bytes;
      for (const Json& other : users)
        if (other.text() != user.text()) with[user.text()].insert(other.text());
    }
  }
  for (ModelJob* job : jobs) job->shared_with.assign(with[job->name].begin(), with[job->name].end());
}

}  // namespace cli

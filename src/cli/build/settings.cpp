#include "cli/build/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console.h"
#include "cli/failure.h"

namespace cli {

namespace {

void set_switches(const std::vector<std::string>& enable, const std::vector<std::string>& disable,
                  tenon::Options& options) {
  for (const std::string& name : enable) options.set("capability:" + name, "1");
  for (const std::string& name : disable) options.set("capability:" + name, "0");
}

// What a flag says beats what the configuration file says.
void switch_over(const std::vector<std::string>& names, std::vector<std::string>& to, std::vector<std::string>& from) {
  for (const std::string& name : names) {
    std::erase(from, name);
    if (std::ranges::find(to, name) == to.end()) to.push_back(name);
  }
}

}  // namespace

tenon::Options BuildSettings::options() const {
  tenon::Options options = compile.build_options();
  options.set("staged", "1");
  options.set("output_dir", output);
  const auto set = [&](const char* key, bool value) { options.set(key, value ? "1" : "0"); };
  set("optimize", optimize);
  set("compile", compiles);
  set("keep_optimized", keep_optimized);
  set("rebuild", rebuild);
  set("force", force);
  set("rehash", rehash);
  set("dry_run", dry_run);
  set("overwrite", overwrite);
  set("auto", auto_enable);
  set("fail_on_reference", fail_on_reference);
  options.set("most_rounds", std::to_string(most_rounds));
  if (optimize) set_switches(capabilities.enable, capabilities.disable, options);
  return options;
}

tenon::Options BuildSettings::model_options(const BuildModel& model) const {
  tenon::Options options = compile.model_options_of(model.path);
  if (!model.name.empty()) options.set("name", model.name);
  if (!model.provider.empty()) options.set("provider", model.provider);
  if (optimize) set_switches(model.enable, model.disable, options);
  return options;
}

void BuildFlags::declare(Arguments& arguments) {
  arguments.texts("-m,--model", models_, "PATH", "an ONNX model; repeat for each model of a group");
  arguments.text("-c,--config", config_, "FILE", "models and settings as JSON; flags override them");
  arguments.text("-o,--output", output_, "DIR", "the folder of the results; created if it does not exist");
  arguments.flag("--rebuild", rebuild_, "run every stage, whatever was done before");
  arguments.flag("--force", force_, "run the passes even if a model says that it is in normal form");
  arguments.flag("--rehash", rehash_, "read every file, even if it is certainly the same as last time");
  arguments.flag("--no-optimize", no_optimize_, "compile the models as they are");
  arguments.flag("--no-compile", no_compile_, "stop at the optimized models, and write these");
  arguments.excludes("--no-optimize", "--no-compile");
  arguments.choice("--keep", keep_, {"optimized"}, "also write the optimized models, as <name>_opt.onnx");
  arguments.excludes("--no-optimize", "--keep");
  capabilities_.declare(arguments);
  arguments.excludes("--no-optimize", "--enable");
  arguments.excludes("--no-optimize", "--disable");
  arguments.flag("--dry-run", dry_run_, "say what would be done and why; write nothing");
  arguments.flag("--no-validate", no_validate_, "skip the comparison of the results with the reference interpreter");
  arguments.flag("--no-cache", no_cache_, "take nothing from the cache of compiled models, and keep nothing there");
  arguments.text("--cache-dir", cache_dir_, "DIR", "the folder of the cache (default: ~/.cache/tenon)");
  arguments.excludes("--no-cache", "--cache-dir");
  arguments.text("--report", report_, "FILE", "write the full report as .json or .html");
  arguments.integer("--jobs", jobs_, 1, 256, "number of models to compile at a time (default: 1)");
  arguments.flag("--overwrite", overwrite_, "replace files in the folder that no build made, and the report");
}

void BuildFlags::check(const BuildSettings& settings) {
  if (settings.models.empty()) throw Failure(kUsage, "no model is given; use --model PATH, or --config FILE");
  for (const BuildModel& model : settings.models)
    if (model.path.empty()) throw Failure(kUsage, "--model must be a path, but it is empty");
  if (settings.output.empty()) throw Failure(kUsage, "no folder is given; use --output DIR");
  if (!settings.report.empty() && !settings.report.ends_with(".json") && !settings.report.ends_with(".html"))
    throw Failure(kUsage, fmt::format("--report must end with .json or .html, but it is '{}'", settings.report));
  if (settings.compile.embed && settings.models.size() > 1)
    throw Failure(kUsage, "'embed' is for one model; with several, each would have a copy of the shared weights");
}

BuildSettings BuildFlags::resolve(const Console& console) const {
  BuildSettings settings;
  settings.compile.jobs = 1;
  if (!config_.empty()) read_build_config(config_, settings);
  settings.config = config_;
  if (!models_.empty()) settings.models.clear();
  for (const std::string& path : models_) settings.models.push_back({path, "", {}, {}, ""});
  if (!output_.empty()) settings.output = output_;
  switch_over(capabilities_.enable, settings.capabilities.enable, settings.capabilities.disable);
  switch_over(capabilities_.disable, settings.capabilities.disable, settings.capabilities.enable);
  settings.optimize = settings.optimize && !no_optimize_;
  settings.compiles = !no_compile_;
  settings.keep_optimized = !keep_.empty();
  settings.rebuild = rebuild_;
  settings.force = force_;
  settings.rehash = rehash_;
  settings.dry_run = dry_run_;
  settings.overwrite = overwrite_;
  if (no_validate_) settings.compile.validate = false;
  settings.compile.no_cache = no_cache_;
  settings.compile.cache_dir = cache_dir_;
  settings.report = report_;
  if (jobs_ > 0) settings.compile.jobs = jobs_;
  if (console.settings().threads >= 0) settings.compile.threads = console.settings().threads;
  check(settings);
  if (settings.optimize) {
    tenon::Options ignored;
    settings.capabilities.add_to(ignored);
  }
  return settings;
}

}  // namespace cli

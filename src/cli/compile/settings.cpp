#include "cli/compile/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/compile/compilers.h"
#include "cli/console.h"
#include "cli/failure.h"

namespace cli {

namespace {

void set_marks(const char* kind, const std::vector<std::string>& names, tenon::Options& options) {
  for (const std::string& name : names) options.set(fmt::format("{}:{}", kind, name), "1");
}

const char* yes_or_no(bool value) { return value ? "1" : "0"; }

}  // namespace

tenon::Options CompileSettings::build_options() const {
  // This program itself compares the results.
  tenon::Options options{{"program", "/proc/self/exe"},
                         {"compiler", compiler},
                         {"sources", sources},
                         {"overwrite", yes_or_no(overwrite)},
                         {"embed", yes_or_no(embed)},
                         {"validate", yes_or_no(validate)},
                         {"validate_existing", yes_or_no(validate_again)},
                         {"defer_weights", yes_or_no(defer)},
                         {"keep_going", yes_or_no(keep_going)},
                         {"freeze_inputs", yes_or_no(freeze_all)},
                         {"cache", yes_or_no(!no_cache)},
                         {"jobs", std::to_string(jobs)},
                         {"threads", std::to_string(threads)}};
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) options.set(key, value);
  };
  set("output", output);
  set("output_dir", output_dir);
  set("weights_name", bin_name);
  set("cache_dir", cache_dir);
  for (const auto& [key, value] : provider_options) options.set(key, value);
  if (validate_seconds > 0) options.set("validate_seconds", std::to_string(validate_seconds));
  set_marks("pin", pins, options);
  set_marks("freeze_input", frozen, options);
  flags.add_to(options);
  return options;
}

tenon::Options CompileSettings::model_options_of(const std::string& path) const {
  tenon::Options options;
  if (const auto own = model_options.find(stem_of(path)); own != model_options.end())
    for (const auto& [key, value] : own->second) options.set(key, value);
  return options;
}

std::string stem_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

std::vector<std::string> CompileSettings::inputs() const {
  std::vector<std::string> files = models;
  if (!config.empty()) files.push_back(config);
  return files;
}

void CompileFlags::declare(Arguments& arguments) {
  arguments.texts("-m,--model", given_.models, "PATH", "an ONNX model; repeat for each model of a group");
  arguments.text("-o,--output", given_.output, "FILE",
                 "the compiled model, if there is one model; its weights go beside it");
  arguments.text("--output-dir", given_.output_dir, "DIR",
                 "the folder for the compiled models; created if it does not exist");
  arguments.excludes("--output", "--output-dir");
  arguments.flag("--overwrite", given_.overwrite, "replace existing compiled models");
  arguments.text("--bin-name", given_.bin_name, "NAME", "name of the weights file, before the dash and the hash");
  arguments.text("--compiler", compiler_, "NAME", "tenon (default), ort, ort_session or qairt");
  arguments.flag("--list", list_, "show the compilers and whether they can be used here");
  arguments.text("--config", given_.config, "FILE", "settings as JSON, in the section 'compile'; flags override them");
  arguments.texts("--ep-options", ep_options_, "K=V", "an option of the provider; 'help' lists them");
  arguments.flag("--embed", given_.embed, "store the weights inside the compiled model; for one model");
  arguments.choice(
      "--sources", sources_, {"reference", "embed", "none"},
      "where later swaps of some weights find the others: the model's files (default), a stored copy, or nowhere");
  arguments.flag("--validate", validate_, "compare every result with the reference interpreter (default)");
  arguments.flag("--no-validate", no_validate_, "skip the comparison");
  arguments.excludes("--validate", "--no-validate");
  arguments.integer("--validate-timeout", given_.validate_seconds, 1, 604800,
                    "seconds that the reference may take, and then each result (default: 600)");
  given_.flags.declare(arguments);
  arguments.optional_texts("--freeze-inputs", frozen_, "[NAME]",
                           "turn initializers that are also inputs into weights: all, or the one with this name");
  arguments.texts("--pin", given_.pins, "NAME", "a weight that no later swap may change; may be repeated");
  arguments.flag("--defer-weights", given_.defer, "leave the weights out; set them later with 'tenon weights set'");
  arguments.flag("--keep-going", keep_going_, "compile the other models if one fails (default)");
  arguments.flag("--fail-fast", fail_fast_, "stop if a model fails, and write nothing");
  arguments.excludes("--keep-going", "--fail-fast");
  arguments.integer(
      "--jobs", jobs_, 1, 256,
      "number of models to compile at a time (default: 1); together they use no more memory than one may");
  arguments.flag("--no-cache", given_.no_cache, "compile everything, and keep nothing for later");
  arguments.text("--cache-dir", given_.cache_dir, "DIR",
                 "the folder with earlier results (default: ~/.cache/tenon); see 'tenon sys'");
  arguments.excludes("--no-cache", "--cache-dir");
  arguments.text("--report", given_.report, "FILE", "write the full report as .json or .html");
}

std::vector<std::string> CompileFlags::given() const {
  std::vector<std::string> flags;
  const auto add = [&](bool is_given, const char* flag) {
    if (is_given) flags.emplace_back(flag);
  };
  add(!given_.models.empty(), "--model");
  add(!given_.output.empty(), "--output");
  add(!given_.output_dir.empty(), "--output-dir");
  add(given_.overwrite, "--overwrite");
  add(!given_.bin_name.empty(), "--bin-name");
  add(!compiler_.empty(), "--compiler");
  add(list_, "--list");
  add(!given_.config.empty(), "--config");
  add(!ep_options_.empty(), "--ep-options");
  add(given_.embed, "--embed");
  add(!sources_.empty(), "--sources");
  add(validate_, "--validate");
  add(no_validate_, "--no-validate");
  add(given_.validate_seconds > 0, "--validate-timeout");
  add(!given_.flags.inputs.empty(), "--input");
  add(!given_.flags.shapes.empty(), "--shape");
  add(!given_.flags.dims.empty(), "--dim");
  add(!frozen_.empty(), "--freeze-inputs");
  add(!given_.pins.empty(), "--pin");
  add(given_.defer, "--defer-weights");
  add(keep_going_, "--keep-going");
  add(fail_fast_, "--fail-fast");
  add(jobs_ > 0, "--jobs");
  add(given_.no_cache, "--no-cache");
  add(!given_.cache_dir.empty(), "--cache-dir");
  add(!given_.report.empty(), "--report");
  return flags;
}

namespace {

void check_alone(const char* flag, const std::vector<std::string>& given, const std::string& own) {
  for (const std::string& other : given)
    if (other != own) throw Failure(kUsage, fmt::format("{} compiles nothing; leave out {}", flag, other));
}

}  // namespace

bool CompileFlags::wants_list() const {
  if (list_) check_alone("--list", given(), "--list");
  return list_;
}

bool CompileFlags::wants_option_help() const {
  if (std::find(ep_options_.begin(), ep_options_.end(), "help") == ep_options_.end()) return false;
  for (const std::string& option : ep_options_)
    if (option != "help")
      throw Failure(kUsage, fmt::format("--ep-options help compiles nothing; leave out --ep-options {}", option));
  check_alone("--ep-options help", given(), "--ep-options");
  return true;
}

void CompileFlags::check_outputs() const {
  const size_t count = given_.models.size();
  if (count > 1 && !given_.output.empty())
    throw Failure(kUsage, fmt::format("--output names one file, but there are {} models; use --output-dir", count));
  if (count > 1 && given_.output_dir.empty()) throw Failure(kUsage, fmt::format("{} models need --output-dir", count));
  if (given_.bin_name.find('/') != std::string::npos)
    throw Failure(kUsage, fmt::format("--bin-name must be a name, not a path: '{}'", given_.bin_name));
  const std::string& report = given_.report;
  if (!report.empty() && !report.ends_with(".json") && !report.ends_with(".html"))
    throw Failure(kUsage, fmt::format("--report must end with .json or .html, but it is '{}'", report));
}

void CompileFlags::check() const {
  if (given_.models.empty()) throw Failure(kUsage, "no model is given; use --model PATH");
  for (const std::string& path : given_.models)
    if (path.empty()) throw Failure(kUsage, "--model must be a path, but it is empty");
  check_outputs();
}

void CompileFlags::check_together(const CompileSettings& settings) {
  if (settings.embed && settings.models.size() > 1)
    throw Failure(kUsage, "--embed is for one model; with several, each would have a copy of the shared weights");
  if (settings.embed && !settings.bin_name.empty())
    throw Failure(kUsage, "--bin-name names a weights file, but with --embed there is none");
  if (settings.flags.given() && !settings.validate)
    throw Failure(
        kUsage, "--input, --shape and --dim choose the inputs for validation, but --no-validate turns validation off");
  if (settings.defer && settings.validate_again)
    throw Failure(kUsage, "--validate needs weights, but --defer-weights leaves them out");
  if (settings.validate_seconds > 0 && (settings.defer || !settings.validate))
    throw Failure(kUsage, fmt::format("--validate-timeout applies to validation, but {} turns validation off",
                                      settings.defer ? "--defer-weights" : "--no-validate"));
  if (settings.defer && settings.sources == "embed")
    throw Failure(kUsage, "--sources embed stores a copy of the weights, but --defer-weights leaves them out");
}

void CompileFlags::add_provider_options(CompileSettings& settings) const {
  for (const std::string& option : ep_options_) {
    const size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Failure(kUsage, fmt::format("--ep-options must be KEY=VALUE or help, but it is '{}'", option));
    const std::string key = option.substr(0, equals), value = option.substr(equals + 1);
    if (const std::string problem = check_provider_option(key, value, false); !problem.empty())
      throw Failure(kUsage, "--ep-options: " + problem);
    settings.provider_options[key] = value;
    for (auto& [stem, options] : settings.model_options) options.erase(key);
  }
}

CompileSettings CompileFlags::resolve(const Console& console) const {
  check();
  CompileSettings settings = given_;
  if (!settings.config.empty()) read_config(settings.config, settings);
  if (!compiler_.empty()) settings.compiler = compiler_;
  settings.compiler = compiler_name(settings.compiler);
  if (!sources_.empty()) settings.sources = sources_;
  if (validate_ || no_validate_) settings.validate = validate_;
  // Whoever says what to try it with wants it tried.
  settings.validate_again = validate_ || settings.flags.given();
  settings.jobs = std::max<int64_t>(1, jobs_);
  settings.keep_going = !fail_fast_;
  if (console.settings().threads >= 0) settings.threads = console.settings().threads;
  add_provider_options(settings);
  for (const std::string& name : frozen_) {
    if (name.empty())
      settings.freeze_all = true;
    else
      settings.frozen.push_back(name);
  }
  check_together(settings);
  return settings;
}

}  // namespace cli

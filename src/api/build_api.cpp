// Models to files: the C side of src/build.
#include <algorithm>
#include <charconv>
#include <chrono>

#include "api/model_handle.h"
#include "build/build.h"
#include "build/cache/cache_report.h"
#include "build/child_process.h"
#include "build/input_files.h"
#include "build/validate.h"

using namespace tenon;

struct tn_build {
  build::Build build;
};

namespace {

std::vector<std::string> chosen_names(const std::map<std::string, int64_t>& marks) {
  std::vector<std::string> names;
  for (const auto& [name, chosen] : marks)
    if (chosen) names.push_back(name);
  return names;
}

std::vector<std::string> joined(const std::map<std::string, std::string>& values) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : values) texts.push_back(fmt::format("{}={}", name, value));
  return texts;
}

void read_staged_options(api::OptionReader& reader, build::StagedSettings& staged) {
  reader.boolean("staged", staged.is_on);
  reader.boolean("compile", staged.compile);
  reader.boolean("keep_optimized", staged.keep_optimized);
  reader.boolean("rebuild", staged.rebuild);
  reader.boolean("rehash", staged.rehash);
  reader.boolean("dry_run", staged.dry_run);
  reader.boolean("auto", staged.auto_enable);
  reader.integer("most_rounds", staged.most_rounds, 0);
  reader.boolean("fail_on_reference", staged.fail_on_reference);
}

Result<build::BuildRequest> read_build_options(const tn_options* options) {
  build::BuildRequest request;
  int64_t compile_seconds = std::chrono::duration_cast<std::chrono::seconds>(request.compile_limit).count();
  std::map<std::string, int64_t> pins, frozen;
  std::map<std::string, std::string> dims, shapes, inputs;
  api::OptionReader reader(options);
  reader.text("output", request.output);
  reader.text("output_dir", request.output_dir);
  reader.text("weights_name", request.weights_name);
  reader.text("compiler", request.compiler);
  reader.text("provider", request.provider);
  reader.text("cpu_isa", request.cpu_isa);
  reader.text("sources", request.sources);
  reader.integers_by_name("pin", pins);
  reader.boolean("freeze_inputs", request.freeze_all);
  reader.integers_by_name("freeze_input", frozen);
  reader.boolean("overwrite", request.overwrite);
  reader.boolean("embed", request.embed);
  reader.boolean("defer_weights", request.defer_weights);
  reader.boolean("keep_going", request.keep_going);
  reader.boolean("validate", request.validate);
  reader.boolean("validate_existing", request.validate_existing);
  reader.integer("validate_seconds", request.validate_seconds, 1);
  reader.integer("compile_seconds", compile_seconds, 1);
  reader.integer("jobs", request.jobs, 1);
  reader.integer("threads", request.threads, 0);
  reader.texts_by_name("dim", dims);
  reader.texts_by_name("shape", shapes);
  reader.texts_by_name("input", inputs);
  reader.text("program", request.program);
  reader.boolean("optimize", request.optimize.is_on);
  reader.boolean("force", request.optimize.force);
  reader.integers_by_name("capability", request.optimize.capabilities);
  read_staged_options(reader, request.staged);
  reader.boolean("cache", request.cache.is_on);
  reader.text("cache_dir", request.cache.folder);
  reader.integer("cache_bytes", request.cache.most_bytes, 0);
  TN_RETURN_IF_ERROR(reader.finish());
  // Longer than a year is for ever, and must not overflow.
  request.compile_limit = std::chrono::seconds(std::min<int64_t>(compile_seconds, 366 * 24 * 3600));
  request.validate_seconds = std::min<int64_t>(request.validate_seconds, 366 * 24 * 3600);
  request.pins = chosen_names(pins);
  request.frozen = chosen_names(frozen);
  request.trial = {joined(dims), joined(shapes), joined(inputs)};
  return request;
}

Result<double> read_tolerance(const char* key, const std::string& text) {
  double value = -1;
  if (text.empty()) return value;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size())
    return invalid_argument("option '{}' must be a number, but it is '{}'", key, text);
  return value;
}

Result<build::StagedCheck> read_check_options(const tn_options* options) {
  build::StagedCheck check;
  std::string rtol, atol;
  std::map<std::string, int64_t> frozen;
  std::map<std::string, std::string> dims, shapes, inputs;
  api::OptionReader reader(options);
  reader.text("program", check.program);
  reader.integer("validate_seconds", check.seconds, 1);
  reader.text("cpu_isa", check.cpu_isa);
  reader.integer("threads", check.threads, 0);
  reader.integer("seed", check.seed, INT64_MIN);
  reader.integer("samples", check.samples, 0);
  reader.text("rtol", rtol);
  reader.text("atol", atol);
  reader.integer("memory_limit", check.memory, 0);
  reader.boolean("freeze_inputs", check.freeze_all);
  reader.integers_by_name("freeze_input", frozen);
  reader.texts_by_name("dim", dims);
  reader.texts_by_name("shape", shapes);
  reader.texts_by_name("input", inputs);
  TN_RETURN_IF_ERROR(reader.finish());
  TN_ASSIGN_OR_RETURN(check.rtol, read_tolerance("rtol", rtol));
  TN_ASSIGN_OR_RETURN(check.atol, read_tolerance("atol", atol));
  check.frozen = chosen_names(frozen);
  check.trial = {joined(dims), joined(shapes), joined(inputs)};
  if (check.program.empty()) {
    TN_ASSIGN_OR_RETURN(check.program, build::find_program());
  }
  return check;
}

}  // namespace

extern "C" {

tn_status* tn_validate(const char* model, const char* context, const tn_options* options, char** json) {
  return api::guarded([&]() -> Status {
    if (!model || !context || !json) return invalid_argument("model, context and json must not be NULL");
    TN_ASSIGN_OR_RETURN(build::StagedCheck check, read_check_options(options));
    check.model = model;
    check.context = context;
    *json = api::copy_text(build::dump(build::validate_staged(check, nullptr)));
    return {};
  });
}

tn_status* tn_build_create(const tn_options* options, tn_build** build) {
  return api::guarded([&]() -> Status {
    if (!build) return invalid_argument("build must not be NULL");
    TN_ASSIGN_OR_RETURN(build::BuildRequest request, read_build_options(options));
    *build = new tn_build{build::Build(std::move(request))};
    return {};
  });
}

void tn_build_release(tn_build* build) { delete build; }

tn_status* tn_build_add_model(tn_build* build, const char* path, const tn_options* options) {
  return api::guarded([&]() -> Status {
    if (!build || !path) return invalid_argument("build and path must not be NULL");
    build::ModelRequest model;
    model.path = path;
    api::OptionReader reader(options);
    reader.text("provider", model.provider);
    reader.text("name", model.name);
    reader.integers_by_name("capability", model.capabilities);
    TN_RETURN_IF_ERROR(reader.finish());
    return build->build.add(std::move(model));
  });
}

tn_status* tn_build_listen(tn_build* build, void (*listener)(void*, tn_build_event, size_t, const char*), void* user) {
  return api::guarded([&]() -> Status {
    if (!build) return invalid_argument("build must not be NULL");
    if (!listener) return build->build.listen(nullptr);
    return build->build.listen([=](build::Event event, size_t model, const std::string& text) {
      listener(user, static_cast<tn_build_event>(event), model, text.c_str());
    });
  });
}

tn_status* tn_build_prepare(tn_build* build) {
  return api::guarded(
      [&]() -> Status { return build ? build->build.prepare() : invalid_argument("build must not be NULL"); });
}

tn_status* tn_build_load(tn_build* build) {
  return api::guarded(
      [&]() -> Status { return build ? build->build.load() : invalid_argument("build must not be NULL"); });
}

tn_status* tn_build_run(tn_build* build, char** report) {
  return api::guarded([&]() -> Status {
    if (!build || !report) return invalid_argument("build and report must not be NULL");
    TN_ASSIGN_OR_RETURN(const std::string text, build->build.run());
    *report = api::copy_text(text);
    return {};
  });
}

void tn_build_cancel(tn_build* build) {
  if (build) build->build.cancel();
}

size_t tn_build_model_count(const tn_build* build) { return build->build.model_count(); }

const char* tn_build_output(const tn_build* build, size_t model) { return build->build.output(model).c_str(); }

const char* tn_build_status(const tn_build* build, size_t model) { return build->build.status(model); }

const char* tn_build_error(const tn_build* build, size_t model) { return build->build.error(model).c_str(); }

tn_status* tn_build_model(const tn_build* build, size_t model, tn_model** loaded) {
  return api::guarded([&]() -> Status {
    if (!build || !loaded) return invalid_argument("build and model must not be NULL");
    const tn_model* found = build->build.model(model);
    *loaded = found ? new tn_model(found->model, found->content) : nullptr;
    if (found) (*loaded)->derivation = found->derivation;
    return {};
  });
}

tn_status* tn_build_report_html(const char* report, char** html) {
  return api::guarded([&]() -> Status {
    if (!report || !html) return invalid_argument("report and html must not be NULL");
    TN_ASSIGN_OR_RETURN(const std::string page, build::html_of_report(report));
    *html = api::copy_text(page);
    return {};
  });
}

tn_status* tn_compilers_json(char** json) {
  return api::guarded([&]() -> Status {
    if (!json) return invalid_argument("json must not be NULL");
    *json = api::copy_text(build::compilers_json());
    return {};
  });
}

tn_status* tn_cache_describe(const char* folder, char** json) {
  return api::guarded([&]() -> Status {
    if (!json) return invalid_argument("json must not be NULL");
    *json = api::copy_text(build::cache_json(folder ? folder : ""));
    return {};
  });
}

tn_status* tn_cache_clear(const char* folder, char** json) {
  return api::guarded([&]() -> Status {
    if (!json) return invalid_argument("json must not be NULL");
    TN_ASSIGN_OR_RETURN(const std::string text, build::clear_cache_json(folder ? folder : ""));
    *json = api::copy_text(text);
    return {};
  });
}

tn_status* tn_file_replaced_input(const char* output, const char* const* inputs, size_t count, char** input) {
  return api::guarded([&]() -> Status {
    if (!output || (!inputs && count) || !input) return invalid_argument("output, inputs and input must not be NULL");
    *input = api::copy_text(build::replaced_input(output, {inputs, inputs + count}));
    return {};
  });
}

void tn_end_children(void) { build::kill_children(); }

}  // extern "C"

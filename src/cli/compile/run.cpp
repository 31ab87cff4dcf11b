#include "cli/compile/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/compile/words.h"
#include "cli/failure.h"
#include "cli/models.h"

namespace cli {

namespace {

constexpr size_t kShownWarnings = 10;

std::vector<std::string> listed(const Json& texts) {
  std::vector<std::string> result;
  for (const Json& text : texts.items()) result.push_back(text.text());
  return result;
}

// The same values in the same order, but for those that `change` replaces.
template <class F>
Json changed(const Json& object, F&& change) {
  Json result(Json::Object{});
  for (const auto& [key, value] : object.entries()) result.set(key, change(key, value));
  return result;
}

}  // namespace

// An option that the library refuses came from a flag.
template <class F>
auto CompileRun::refusing_options(F&& f) {
  try {
    return f();
  } catch (const tenon::Error& error) {
    throw Failure(error.code() == TN_INVALID_ARGUMENT ? kUsage : kFailed, in_words_of_flags(error.what()));
  }
}

CompileRun::CompileRun(const CompileSettings& settings, Console& console)
    : settings_(settings), console_(console), report_file_("--report", settings.report),
      build_(settings.build_options()) {
  build_.listen([this](tn_build_event event, size_t model, const std::string& text) { hear(event, model, text); });
  for (const std::string& path : settings.models) build_.add(path, settings.model_options_of(path));
  refusing_options([&] { build_.prepare(); });
  end_warnings();
  check_outputs();
  warn_of_unused_settings();
}

// The library calls it one at a time.
void CompileRun::hear(tn_build_event event, size_t model, const std::string& text) {
  if (event == TN_BUILD_PROGRESS) return console_.progress(text);
  if (event == TN_BUILD_DETAIL) return console_.detail(text);
  if (model != warned_model_) end_warnings();
  const std::string message = in_words_of_flags(text);
  if (model == TN_BUILD_NO_MODEL) return console_.warning(message);
  warned_model_ = model;
  if (++warnings_ <= kShownWarnings || console_.settings().verbose)
    console_.warning(in_file(settings_.models[model], message));
}

void CompileRun::end_warnings() {
  if (warnings_ > kShownWarnings && !console_.settings().verbose)
    console_.warning(
        fmt::format("{}: {} more; -v shows them all", settings_.models[warned_model_], warnings_ - kShownWarnings));
  warned_model_ = TN_BUILD_NO_MODEL;
  warnings_ = 0;
}

void CompileRun::check_outputs() const {
  std::vector<std::string> files = settings_.inputs();
  for (size_t i = 0; i < build_.size(); ++i) {
    const std::string output = build_.output(i);
    files.push_back(output);
    // The library knows of the models only.
    if (!settings_.config.empty() && !tenon::replaced_input(output, {&settings_.config, 1}).empty())
      throw Failure(kUsage, fmt::format("'{}' would be overwritten by the result '{}'; choose another output",
                                        settings_.config, output));
  }
  report_file_.check(settings_.overwrite, files);
}

void CompileRun::warn_of_unused_settings() const {
  const std::vector<std::string>& models = settings_.models;
  for (const auto& [stem, options] : settings_.model_options)
    if (std::none_of(models.begin(), models.end(), [&](const std::string& path) { return stem_of(path) == stem; }))
      console_.warning(fmt::format("--config: no model is named '{}'; its settings are ignored", stem));
}

// What no model has may belong to one that could not be loaded, which is reported.
void CompileRun::check_flags() const {
  if (!settings_.flags.given()) return;
  std::vector<tenon::Model> models;
  for (size_t i = 0; i < build_.size(); ++i) {
    auto model = build_.model(i);
    if (!model) return;
    models.push_back(std::move(*model));
  }
  std::vector<const tenon::Model*> all;
  for (const tenon::Model& model : models) all.push_back(&model);
  check_trial_flags(settings_.flags, all);
}

Json CompileRun::report() {
  refusing_options([&] { build_.load(); });
  end_warnings();
  check_flags();
  const std::string text = refusing_options([&] { return build_.run(); });
  end_warnings();
  console_.end_progress();
  Json report = in_our_words(Json::parse(text));
  show_problems(report);
  return report;
}

Json CompileRun::model_in_our_words(const Json& model, size_t number) const {
  return changed(model, [&](const std::string& key, const Json& value) -> Json {
    if (key == "model") return settings_.models[number];
    if (key == "output" && !value.is_null()) return build_.output(number);
    if (key == "error") return in_words_of_flags(build_.error(number));
    if (key == "validation" && value.is_object())
      return changed(value, [](const std::string& inner, const Json& item) -> Json {
        return inner == "message" ? Json(in_words_of_flags(item.text())) : item;
      });
    if (key != "warnings") return value;
    Json warnings(Json::Array{});
    for (const std::string& warning : listed(value)) warnings.push(in_words_of_flags(warning));
    return warnings;
  });
}

Json CompileRun::in_our_words(const Json& report) const {
  const std::string folder = std::filesystem::path(build_.output(0)).parent_path().string();
  Json models(Json::Array{}), written(Json::Array{});
  size_t number = 0;
  for (const Json& model : report["models"].items()) {
    if (model["status"].text() == "compiled") written.push(build_.output(number));
    models.push(model_in_our_words(model, number++));
  }
  const std::string& weights = report["group"]["weights_file"].text();
  if (!written.items().empty() && !weights.empty()) written.push(folder.empty() ? weights : folder + "/" + weights);
  return changed(report, [&](const std::string& key, const Json& value) -> Json {
    if (key == "models") return std::move(models);
    if (key == "written") return std::move(written);
    return key == "folder" ? Json(folder.empty() ? "." : folder) : value;
  });
}

void CompileRun::show_problems(const Json& report) const {
  std::set<std::string> shown;  // models may fail together, for one reason
  size_t number = 0;
  for (const Json& model : report["models"].items()) {
    const std::string& path = settings_.models[number++];
    const std::string& error = model["error"].text();
    if (!error.empty() && shown.insert(error).second) console_.error(error);
    const std::string& verdict = model["validation"]["verdict"].text();
    if (verdict == "inconclusive")
      console_.warning(fmt::format("{}: validation is inconclusive: {}", path, model["validation"]["message"].text()));
    if (verdict == "never validated")
      console_.warning(fmt::format(
          "{}: the compiled model is up to date but was never validated; add --validate to validate it", path));
  }
}

}  // namespace cli

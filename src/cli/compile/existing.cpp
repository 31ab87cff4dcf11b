#include "cli/compile/existing.h"

#include <filesystem>

namespace cli {

namespace {

// Whether a context file has its weights where this compile would put them.
bool has_same_place(const Json& context, const CompileSettings& settings, const OutputNames& names) {
  if (context["embedded"].boolean() != settings.embed) return false;
  const std::string& weights = context["weights_file"].text();
  return settings.embed || weights.substr(0, weights.rfind('-')) == names.weights_name;
}

bool has_same_key(const Json& model, const ModelJob& job, const std::vector<std::string>& pins,
                  const CompileSettings& settings) {
  return model["name"].text() == job.name &&
         model["made_from"].text() == tenon::compile_key(*job.model, key_options(settings, job, pins));
}

}  // namespace

std::optional<ExistingResults> find_existing(const std::vector<const ModelJob*>& jobs,
                                             const std::vector<std::string>& pins, const CompileSettings& settings,
                                             const OutputNames& names, const Console& console) {
  std::vector<std::string> paths;
  for (const ModelJob* job : jobs) {
    paths.push_back(names.path(job->file));
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(paths.back(), ignored)) return std::nullopt;
  }
  try {
    const Json context = Json::parse(tenon::describe_context_file(paths[0]));
    if (!has_same_place(context, settings, names)) return std::nullopt;
    const tenon::Artifact old = tenon::Artifact::load(paths, {{"verify_weights", "1"}});
    ExistingResults found{context["weights_file"].text(), Json::parse(old.describe("models,packed,sources")), {}};
    for (const std::string& path : paths)
      found.validations.push_back(Json::parse(tenon::describe_context_file(path))["validation"].text());
    const auto& models = found.described["models"].items();
    for (size_t i = 0; i < jobs.size(); ++i)
      if (!has_same_key(models[i], *jobs[i], pins, settings)) return std::nullopt;
    return found;
  } catch (const tenon::Error& error) {
    console.detail(std::string("not up to date: ") + error.what());
    return std::nullopt;
  }
}

}  // namespace cli

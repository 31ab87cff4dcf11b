// Compiled models whose source model is found again.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "artifact/source_model.h"
#include "compiler/model_content.h"
#include "compiler/recompile.h"
#include "plan/keys.h"
#include "plan/property.h"

namespace tenon {

namespace {

// Inputs of the file that the compiled model does not have, because they became weights.
std::set<std::string, std::less<>> frozen_inputs(const ImportedModel& model, const Plan& plan) {
  std::set<std::string, std::less<>> frozen;
  for (const GraphInput& input : model.graph.inputs) {
    const std::string& name = model.graph.value(input.value).name;
    const auto is_it = [&](const PlanInput& in) { return plan.values[static_cast<size_t>(in.value)].name == name; };
    if (std::ranges::none_of(plan.inputs, is_it)) frozen.insert(name);
  }
  return frozen;
}

Result<std::shared_ptr<ImportedModel>> find_source_model(const SourceModel& wanted) {
  if (wanted.file.empty()) return error(Code::NotFound, "the model that it was compiled from came from memory");
  std::string reasons;
  for (const std::string& folder : wanted.folders) {
    const std::string path = folder.empty() ? wanted.file : folder + "/" + wanted.file;
    auto model = import_file(path);
    if (model.ok() && ModelContent(*model).of_file() != wanted.record.source_content)
      model = error(Code::NotFound, "'{}' has changed since it was compiled", path);
    if (!model.ok()) {
      reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", model.status().to_string());
      continue;
    }
    ImportOptions options;
    options.frozen = frozen_inputs(**model, wanted.record.program->plan);
    return options.frozen.empty() ? model : import_file(path, options);
  }
  return error(Code::NotFound,
               "the model '{}' that it was compiled from was not found; name its folder (source_dir): {}", wanted.file,
               reasons);
}

// The options that lead from the model to the compiled one, which keeps its plan but not how it came about.
Result<CompileOptions> options_of(const ImportedModel& model, const ModelRecord& record) {
  CompileOptions options;
  for (const Guard& guard : record.program->guards)
    if (guard.property == property_text({Property::Kind::Pinned}))
      options.pinned.push_back(record.program->sources[static_cast<size_t>(guard.source)].name);
  for (const char* target : {"cpu", "cpu_exact", "reference"}) {
    options.target = target;
    const auto compiled = compile(model.graph, options);
    if (compiled.ok() && plan_key(*compiled->program) == record.plan_key) return options;
  }
  return error(Code::Incompatible, "{} was compiled by another version of Tenon or with other options", model.path);
}

Result<RecompiledModel> recompile_found(const SourceModel& wanted, const ReplacedWeights& replaced) {
  TN_ASSIGN_OR_RETURN(const std::shared_ptr<ImportedModel> model, find_source_model(wanted));
  TN_ASSIGN_OR_RETURN(CompileOptions options, options_of(*model, wanted.record));
  return recompile_with(model, std::move(options))(replaced);
}

}  // namespace

void offer_recompile() noexcept { install_recompile(recompile_found); }

}  // namespace tenon

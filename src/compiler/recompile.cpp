#include "compiler/recompile.h"

#include "plan/keys.h"

namespace tenon {

WeightSnapshot own_weights(const CompiledModel& compiled, const std::shared_ptr<const ImportedModel>& model) {
  WeightSnapshot weights;
  auto layout = std::make_shared<SourceLayout>();
  for (const Constant& constant : compiled.sources) {
    SourceBytes bytes{constant.tensor, nullptr, std::nullopt};
    if (constant.load) bytes.load = [model, load = constant.load] { return load(); };
    weights.sources.push_back(std::make_shared<SourceBytes>(std::move(bytes)));
    if (constant.place && !constant.source.empty())
      (*layout)[constant.source] = {{constant.dtype, constant.dims, true}, *constant.place};
  }
  weights.layout = std::move(layout);
  return weights;
}

namespace {

Result<RecompiledModel> compile_replaced(const ImportedModel& model, const CompileOptions& options,
                                         const ReplacedWeights& replaced) {
  const auto load_of = [&](const std::string& source) -> std::function<Result<Tensor>()> {
    const auto bytes = replaced(source);
    if (!bytes) return nullptr;
    return [bytes] { return bytes->value(); };
  };
  TN_ASSIGN_OR_RETURN(const std::shared_ptr<ImportedModel> again, import_again(model, load_of));
  // Every constant has what it needs of the new weights, which end with the call.
  again->options.replaced = nullptr;
  auto compiled = compile(again->graph, options);
  if (!compiled.ok()) return std::move(compiled).status().in(again->path);
  return RecompiledModel{compiled->program, plan_key(*compiled->program), own_weights(*compiled, again)};
}

}  // namespace

Recompile recompile_with(std::shared_ptr<const ImportedModel> model, CompileOptions options) {
  return [model = std::move(model), options = std::move(options)](const ReplacedWeights& replaced) {
    return compile_replaced(*model, options, replaced);
  };
}

}  // namespace tenon

#include "compiler/compile.h"

#include <algorithm>

#include "compiler/targets/targets.h"
#include "plan/property.h"
#include "plan/tensor_bytes.h"

namespace tenon {

namespace {

Status pin(Program& program, const std::vector<Constant>& sources, const std::string& name) {
  const auto it = std::ranges::find(program.sources, name, &SourceInfo::name);
  if (it == program.sources.end() || name.empty())
    return error(Code::NotFound, "'{}' cannot be pinned because the model has no such weight", name);
  const auto index = static_cast<size_t>(it - program.sources.begin());
  TN_ASSIGN_OR_RETURN(const Tensor tensor, sources[index].value());
  program.guards.push_back(
      {static_cast<int32_t>(index), "the user", property_text({Property::Kind::Pinned}), content_hash(tensor).hex()});
  return {};
}

}  // namespace

Result<CompiledModel> compile(const Graph& graph, const CompileOptions& options) {
  const bool exact = options.target == "cpu_exact", fast = exact || options.target == "cpu";
  if (!fast && options.target != "reference")
    return invalid_argument("unknown target '{}'; it must be cpu, cpu_exact or reference", options.target);
  TN_ASSIGN_OR_RETURN(LoweredModel lowered, fast ? lower_for_cpu(graph, exact) : lower_for_reference(graph));
  for (const std::string& name : options.pinned) TN_RETURN_IF_ERROR(pin(*lowered.program, lowered.sources, name));
  return CompiledModel{std::move(lowered.program), std::move(lowered.sources), std::move(lowered.misses),
                       std::move(lowered.absorbed)};
}

}  // namespace tenon

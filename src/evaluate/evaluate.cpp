#include "evaluate/evaluate.h"

#include "evaluate/expression.h"
#include "ir/builder.h"
#include "plan/plan_check.h"
#include "swap/weight_program.h"

namespace tenon {

namespace {

std::string reference_family(OpId op) { return "reference/" + std::string(op_def(op).name); }

}  // namespace

Result<Tensor> evaluate(const Graph& graph, ValueId v) {
  if (const Constant* constant = graph.constant(v)) return constant->value();
  if (!graph.value(v).folds)
    return error(Code::Internal, "'{}' does not depend on constants alone", graph.value(v).name);
  const ConstantExpression expression = expression_of(graph, v, reference_family);
  auto program = std::make_shared<Program>();
  WeightEntry entry;
  entry.slot = 0;
  entry.expression = expression.plan;
  std::vector<Value> inputs;
  for (ConstantId id : expression.constants) {
    const Constant& constant = (*graph.constants)[id];
    entry.sources.push_back(static_cast<int32_t>(program->sources.size()));
    program->sources.push_back({constant.source, constant.dtype, constant.dims});
    auto tensor = constant.value();
    if (!tensor.ok()) return std::move(tensor).status().in("weight '" + constant.source + "'");
    inputs.emplace_back(std::move(*tensor));
  }
  program->weight_program.push_back(std::move(entry));
  TN_RETURN_IF_ERROR(check_exactness(*program, family_facts));
  TN_ASSIGN_OR_RETURN(const auto weights, WeightProgram::make(std::move(program)));
  TN_ASSIGN_OR_RETURN(Tensor result, Tensor::allocate(weights->dtype(0), weights->dims(0), nullptr));
  ArenaPool arenas(std::make_shared<MemoryBudget>(Limits().memory_bytes));
  TN_RETURN_IF_ERROR(weights->compute(0, inputs, result.view(), arenas, nullptr));
  return result;
}

Result<Tensor> evaluate(OpId op, const Params& params, const std::vector<Tensor>& inputs) {
  Graph graph;
  std::vector<ValueId> values;
  for (const Tensor& tensor : inputs)
    values.push_back(tensor.defined() ? graph.add_constant(Constant::of("", tensor), "") : ValueId(kNone));
  GraphBuilder builder(graph);
  const ValueId result = builder.op(op, std::move(values), params);
  TN_RETURN_IF_ERROR(builder.status());
  return evaluate(graph, result);
}

}  // namespace tenon

#pragma once

#include <functional>

#include "plan/plan.h"
#include "swap/weight_snapshot.h"

// Compiling a model again, because new weights change an answer that its plan was decided by. The compiler is not part
// of this library: where it is there, it comes as a function.
namespace tenon {

// By name, the weights that a model has instead of those in its file; null: the file's. What they read stays as it is.
using ReplacedWeights = std::function<std::shared_ptr<const SourceBytes>(const std::string& name)>;

struct RecompiledModel {
  std::shared_ptr<const Program> program;
  Hash128 plan_key;
  WeightSnapshot weights;  // sources and layout; the slots are still to be computed
};

using Recompile = std::function<Result<RecompiledModel>(const ReplacedWeights& replaced)>;

}  // namespace tenon

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/rewrite.h"
#include "plan/plan.h"

namespace tenon {

struct LoweringRules {
  std::function<std::string(OpId)> family;  // of the kernel that runs an op without bodies
  // Of one that gives the same bits everywhere, for ops that fit a weight program.
  std::function<std::string(OpId)> exact_family;
  bool moves_weights = false;  // what depends on constants alone goes into the weight program
};

struct LoweredModel {
  std::shared_ptr<Program> program;
  std::vector<Constant> sources;  // what each source of the program is
  std::vector<Miss> misses;       // claims that did not come about, for people who ask why
  // Nodes that went into others, by name: the name of the other one, which may have gone into a third.
  std::map<std::string, std::string> absorbed;
};

// A plan with one step per node that the outputs need, and the weight program that fills its slots.
Result<LoweredModel> lower(const Graph& graph, const LoweringRules& rules);

}  // namespace tenon

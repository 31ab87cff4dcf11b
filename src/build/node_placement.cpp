#include "build/node_placement.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/compile.h"
#include "executor/step_variant.h"
#include "ops/unsupported.h"

namespace tenon::build {

namespace {

// What separates the names of nodes that became one step.
constexpr std::string_view kJoint = " + ";

struct StepOfNode {
  std::string family, variant;
  std::vector<std::string> with, reasons;
};

std::vector<std::string> joined_names(std::string_view origin) {
  std::vector<std::string> names;
  for (size_t at; (at = origin.find(kJoint)) != std::string_view::npos; origin.remove_prefix(at + kJoint.size()))
    names.emplace_back(origin.substr(0, at));
  names.emplace_back(origin);
  return names;
}

std::string op_name(const GraphNode& node) {
  if (node.op != OpId::Unsupported) return std::string(op_def(node.op).name);
  const auto& p = node.params.get<UnsupportedParams>();
  return (p.domain.empty() ? "" : p.domain + ".") + p.op_type;
}

Json value_names(const Graph& graph, const auto& values) {
  Json names = Json::array();
  for (const ValueId v : values) names.push_back(v == kNone ? std::string() : graph.value(v).name);
  return names;
}

class Placing {
 public:
  Placing(const Graph& graph, std::string target) : graph_(graph), target_(std::move(target)) {}

  Result<NodePlacement> run() {
    auto compiled = compile(graph_, {target_, {}});
    if (compiled.ok()) {
      add_steps(compiled->program->plan);
      add_absorbed(compiled->absorbed);
      for (const Miss& miss : compiled->misses)
        misses_[miss.root].insert(fmt::format("{}: {}", miss.rule, miss.reason));
    } else if (const Code code = compiled.status().code(); code == Code::Unsupported || code == Code::InvalidModel) {
      result_.error = compiled.status().to_string();
    } else {
      return std::move(compiled).status();
    }
    add_nodes(graph_, 0);
    return std::move(result_);
  }

 private:
  void add_steps(const Plan& plan) {
    for (const Step& step : plan.steps) {
      ++result_.steps;
      const StepVariant variant = variant_of(plan, step, usable_isas().front());
      StepOfNode entry{step.family, std::string(variant.name), joined_names(step.origin), {}};
      for (const Refusal& refusal : variant.refusals)
        entry.reasons.push_back(fmt::format("{}: {}", refusal.variant, refusal.reason));
      for (const std::string& name : entry.with) steps_.emplace(name, entries_.size());
      // A name may itself have what joins names.
      steps_.emplace(step.origin, entries_.size());
      entries_.push_back(std::move(entry));
      for (const auto& body : step.bodies) add_steps(*body);
    }
  }

  // Nodes that rules took for parts of others are in the steps of these.
  void add_absorbed(const std::map<std::string, std::string>& absorbed) {
    for (const auto& [name, other] : absorbed) {
      const std::string* into = &other;
      size_t most = absorbed.size();
      for (auto next = absorbed.find(*into); next != absorbed.end() && !steps_.contains(*into) && most-- > 0;
           next = absorbed.find(*into))
        into = &next->second;
      const auto step = steps_.find(*into);
      if (step == steps_.end() || !parts_.emplace(name, step->second).second || steps_.contains(name)) continue;
      entries_[step->second].with.push_back(name);
    }
  }

  void add_nodes(const Graph& graph, int depth) {
    for (const GraphNode& node : graph.nodes()) {
      Json entry = {{"name", node.name},
                    {"op", op_name(node)},
                    {"depth", depth},
                    {"inputs", value_names(graph, node.inputs)},
                    {"outputs", value_names(graph, node.outputs)}};
      entry.update(placed(graph, node));
      result_.nodes.push_back(std::move(entry));
      for (const auto& body : node.bodies) add_nodes(*body, depth + 1);
    }
  }

  Json placed(const Graph& graph, const GraphNode& node) const {
    if (node.op == OpId::Unsupported) return without_kernel("none", {"Tenon does not know the op"});
    if (!result_.error.empty()) return without_kernel("none", {"the model cannot be compiled"});
    if (const auto step = steps_.find(node.name); step != steps_.end()) return in_step(node, entries_[step->second]);
    const bool is_constant = std::ranges::all_of(
        node.inputs, [&](ValueId v) { return v == kNone || graph.value(v).constant != kNone || graph.value(v).folds; });
    if (is_constant) return without_kernel("weights", {});
    if (const auto step = parts_.find(node.name); step != parts_.end()) return in_step(node, entries_[step->second]);
    return without_kernel("none", {"no output depends on it"});
  }

  static Json without_kernel(const char* provider, std::vector<std::string> reasons) {
    return {{"provider", provider}, {"kernel", ""}, {"variant", ""}, {"with", Json::array()}, {"reasons", reasons}};
  }

  Json in_step(const GraphNode& node, const StepOfNode& step) const {
    const size_t slash = step.family.find('/');
    Json with = Json::array();
    for (const std::string& name : step.with)
      if (name != node.name) with.push_back(name);
    std::vector<std::string> reasons = step.reasons;
    std::string provider = step.family.substr(0, slash);
    // Where a family's own kernels refuse a step, that of the reference runs it.
    if (provider == "cpu" && step.variant == "plain") provider = "reference";
    const bool is_fallback = provider == "reference" && target_ != "reference";
    // No kernel would be faster than none.
    if (is_fallback && op_def(node.op).in_place == InPlace::SameElements) {
      provider = "view";
    } else if (is_fallback) {
      if (const auto missed = misses_.find(node.name); missed != misses_.end())
        reasons.insert(reasons.end(), missed->second.begin(), missed->second.end());
      if (reasons.empty())
        reasons.push_back(fmt::format("the provider '{}' has no kernel for {}", target_, op_name(node)));
    }
    return {{"provider", provider},
            {"kernel", step.family},
            {"variant", step.variant.empty() ? "depends on the shapes" : step.variant},
            {"with", std::move(with)},
            {"reasons", reasons}};
  }

  const Graph& graph_;
  std::string target_;
  std::vector<StepOfNode> entries_;
  std::map<std::string, size_t> steps_, parts_;  // by node: the entry
  std::map<std::string, std::set<std::string>> misses_;
  NodePlacement result_;
};

}  // namespace

Result<NodePlacement> place_nodes(const Graph& graph, const std::string& target) {
  return Placing(graph, target).run();
}

}  // namespace tenon::build

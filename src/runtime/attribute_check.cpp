#include "runtime/attribute_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

namespace tenon {

namespace {

using Numbers = std::map<std::string, float>;

// The fields of parameters that are numbers which results are computed with. Integers decide about shapes, and are
// in another form than in the model.
class NumberCollector final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  Numbers numbers;
  std::string activation;  // a fused one

  void field(const char* name, float& v) override { numbers[name] = v; }
  void field(const char* name, std::string& v) override {
    if (std::string_view(name) == "activation") activation = v;
  }
  void field(const char*, int64_t&) override {}
  void field(const char*, std::vector<int64_t>&) override {}
  void field(const char*, std::vector<float>&) override {}
  void field(const char*, std::vector<std::string>&) override {}
  void field(const char*, Tensor&) override {}

 protected:
  void optional_field(const char*, bool&) override {}
};

NumberCollector collect(OpId op, const Params& params) {
  NumberCollector collector;
  op_def(op).visit_params(const_cast<void*>(params.erased()), collector);
  return collector;
}

// "leaky_relu" and "LeakyRelu" are one function.
bool is_same_function(std::string_view left, std::string_view right) {
  const auto letters = [](std::string_view text) {
    std::string result;
    for (const char c : text)
      if (c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
  };
  return letters(left) == letters(right);
}

class AttributeCheck {
 public:
  AttributeCheck(const Program& program, const WeightSnapshot& weights, const WeightSource& source)
      : program_(program), weights_(weights), source_(source) {
    for (WeightSource::Node& node : source.nodes()) {
      const std::string name = node.name;
      if (!nodes_.emplace(name, std::move(node)).second) ambiguous_.insert(name);
    }
    for (const std::string& name : ambiguous_) nodes_.erase(name);
    for (const Guard& guard : program.guards)
      if (guard.property == kLiteral && !guard.asker.empty()) literals_[guard.source] = guard.asker;
  }

  std::vector<std::string> run() {
    if (nodes_.empty()) return {};
    for (const WeightEntry& entry : program_.weight_program)
      if (entry.expression) check_literals(entry);
    check_plan(program_.plan);
    return {sentences_.begin(), sentences_.end()};
  }

 private:
  // The nodes that a step stands for.
  std::vector<const WeightSource::Node*> nodes_of(const Step& step) const {
    constexpr std::string_view kBetween = " + ";
    std::vector<const WeightSource::Node*> found;
    for (size_t begin = 0; begin <= step.origin.size();) {
      const size_t end = std::min(step.origin.find(kBetween, begin), step.origin.size());
      if (const auto it = nodes_.find(step.origin.substr(begin, end - begin)); it != nodes_.end())
        found.push_back(&it->second);
      begin = end + kBetween.size();
    }
    return found;
  }

  void check_plan(const Plan& plan) {
    for (const Step& step : plan.steps) {
      for (const WeightSource::Node* node : nodes_of(step)) check_step(step, *node);
      for (const auto& body : step.bodies) check_plan(*body);
    }
  }

  void check_step(const Step& step, const WeightSource::Node& node) {
    const NumberCollector given = collect(step.op, step.params);
    if (op_def(step.op).name == node.op) {
      for (const auto& [attribute, value] : given.numbers) compare(node, attribute, value);
      return;
    }
    // A node that was fused into another. Its activation, or numbers that are what they are by default.
    const bool is_activation = is_same_function(given.activation, node.op);
    for (const auto& [attribute, value] : defaults_of(node)) {
      const auto fused = given.numbers.find("activation_" + attribute);
      if (is_activation && fused != given.numbers.end())
        compare(node, attribute, fused->second);
      else if (!compared_.contains({node.name, attribute}) && node.op == "Gemm")
        compare(node, attribute, value);
    }
  }

  // Numbers that became constants of the weight program.
  void check_literals(const WeightEntry& entry) {
    const Plan& plan = *entry.expression;
    for (size_t i = 0; i < entry.sources.size(); ++i) {
      const auto literal = literals_.find(entry.sources[i]);
      const auto& bytes = weights_.sources[static_cast<size_t>(entry.sources[i])];
      if (literal == literals_.end() || !bytes || !bytes->available()) continue;
      const auto tensor = bytes->value();
      if (!tensor.ok() || tensor->dtype() != DType::Float32 || tensor->size() == 0) continue;
      for (const Step& step : plan.steps)
        if (std::ranges::find(step.inputs, plan.inputs[i].value) != step.inputs.end())
          for (const WeightSource::Node* node : nodes_of(step)) compare(*node, literal->second, tensor->as<float>()[0]);
    }
  }

  static Numbers defaults_of(const WeightSource::Node& node) {
    const auto op = op_from_name(node.op);
    return op ? collect(*op, default_params(*op)).numbers : Numbers{};
  }

  void compare(const WeightSource::Node& node, const std::string& attribute, float value) {
    compared_.insert({node.name, attribute});
    const Numbers defaults = defaults_of(node);
    const auto given = node.numbers.find(attribute);
    const auto implied = defaults.find(attribute);
    if (given == node.numbers.end() && implied == defaults.end()) return;
    const float other = given != node.numbers.end() ? given->second : implied->second;
    if (other == value || (other != other && value != value)) return;
    sentences_.insert(
        fmt::format("node '{}' ({}): '{}' stays {}, in {} it is {}; compile that model to use its attributes",
                    node.name, node.op, attribute, value, source_.where(), other));
  }

  const Program& program_;
  const WeightSnapshot& weights_;
  const WeightSource& source_;
  std::map<std::string, WeightSource::Node> nodes_;
  std::set<std::string> ambiguous_;
  std::map<int32_t, std::string> literals_;  // the attribute that a nameless source is
  std::set<std::pair<std::string, std::string>> compared_;
  std::set<std::string> sentences_;
};

}  // namespace

std::vector<std::string> differing_attributes(const Program& program, const WeightSnapshot& weights,
                                              const WeightSource& source) {
  return AttributeCheck(program, weights, source).run();
}

}  // namespace tenon

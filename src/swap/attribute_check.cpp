#include "swap/attribute_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "ops/pointwise.h"

namespace tenon {

namespace {

using Attribute = WeightSource::Attribute;
using Attributes = std::map<std::string, Attribute>;

// The fields of parameters by name, which is that of the ONNX attribute.
class FieldCollector final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  Attributes fields;

  void field(const char* name, float& v) override { fields[name] = v; }
  void field(const char* name, std::string& v) override { fields[name] = v; }
  void field(const char* name, int64_t& v) override { fields[name] = v; }
  void field(const char* name, std::vector<int64_t>& v) override { fields[name] = v; }
  void field(const char*, std::vector<float>&) override {}
  void field(const char*, std::vector<std::string>&) override {}
  void field(const char*, Tensor&) override {}

  // A fused function, or "".
  std::string activation() const {
    const auto it = fields.find("activation");
    const auto* name = it == fields.end() ? nullptr : std::get_if<std::string>(&it->second);
    return name ? *name : "";
  }

 protected:
  void optional_field(const char*, bool&) override {}
};

// Integers and texts that importing leaves as they are written, in every version of every op that has them. Others are
// in another form than in the model.
constexpr std::string_view kPlainAttributes[] = {"align_corners",
                                                 "approximate",
                                                 "auto_pad",
                                                 "axis",
                                                 "batch_dims",
                                                 "blocksize",
                                                 "ceil_mode",
                                                 "coordinate_transformation_mode",
                                                 "count_include_pad",
                                                 "dilations",
                                                 "direction",
                                                 "exclusive",
                                                 "group",
                                                 "input_forget",
                                                 "kernel_shape",
                                                 "largest",
                                                 "linear_before_reset",
                                                 "mode",
                                                 "nearest_mode",
                                                 "output_padding",
                                                 "padding_mode",
                                                 "pads",
                                                 "perm",
                                                 "reverse",
                                                 "select_last_index",
                                                 "size",
                                                 "strides",
                                                 "transA",
                                                 "transB"};
bool is_plain(std::string_view name) { return std::ranges::find(kPlainAttributes, name) != std::end(kPlainAttributes); }

bool default_depends_on_version(std::string_view name) { return name == "axis" || name.ends_with("_mode"); }
// Packed convolutions keep what says where their window is.
bool is_kept_by_fusion(std::string_view name, const WeightSource::Node& node) {
  constexpr std::string_view kWindow[] = {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"};
  return node.op == "Conv" && std::ranges::find(kWindow, name) != std::end(kWindow);
}

FieldCollector collect(OpId op, const Params& params) {
  FieldCollector collector;
  op_def(op).visit_params(const_cast<void*>(params.erased()), collector);
  return collector;
}

bool is_number(const Attribute& value) { return std::holds_alternative<float>(value); }

// What older versions call it.
std::string_view newest_name(std::string_view text) {
  return text == "bilinear" ? "linear" : text == "bicubic" ? "cubic" : text;
}
// Axes may be counted from the end, and lists that say what is so by default may be left out.
bool may_be_equal(const std::vector<int64_t>& left, const std::vector<int64_t>& right) {
  const auto is_negative = [](int64_t v) { return v < 0; };
  return left == right || left.empty() || right.empty() || std::ranges::any_of(left, is_negative) ||
         std::ranges::any_of(right, is_negative);
}
// Also when they cannot be compared.
bool is_equal(const Attribute& left, const Attribute& right) {
  if (left.index() != right.index()) return true;
  if (const auto* a = std::get_if<std::string>(&left))
    return newest_name(*a) == newest_name(std::get<std::string>(right));
  if (const auto* a = std::get_if<int64_t>(&left)) return may_be_equal({*a}, {std::get<int64_t>(right)});
  if (const auto* a = std::get_if<std::vector<int64_t>>(&left))
    return may_be_equal(*a, std::get<std::vector<int64_t>>(right));
  const float a = std::get<float>(left), b = std::get<float>(right);
  return a == b || (a != a && b != b);
}

// Defaults of the first versions have fewer digits.
bool is_older_default(const Attribute& left, const Attribute& right) {
  const float *a = std::get_if<float>(&left), *b = std::get_if<float>(&right);
  return a && b && std::abs(*a - *b) <= 1e-4f * std::abs(*a);
}

std::string text_of(const Attribute& value) {
  if (const auto* number = std::get_if<float>(&value)) return fmt::format("{}", *number);
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("[{}]", fmt::join(std::get<std::vector<int64_t>>(value), ", "));
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

// The attributes that an instruction of an expression holds, by the op that it is.
struct HeldAttributes {
  std::string_view op;
  PointwiseOp instruction;
  std::string_view first, second;  // what its numbers are
};
constexpr HeldAttributes kHeld[] = {
    {"Celu", PointwiseOp::Celu, "alpha", ""},
    {"Elu", PointwiseOp::Elu, "alpha", ""},
    {"Gelu", PointwiseOp::Gelu, "", ""},
    {"Gelu", PointwiseOp::GeluTanh, "", ""},
    {"HardSigmoid", PointwiseOp::HardSigmoid, "alpha", "beta"},
    {"LeakyRelu", PointwiseOp::LeakyRelu, "alpha", ""},
    {"Selu", PointwiseOp::Selu, "alpha", "gamma"},
    {"Shrink", PointwiseOp::Shrink, "bias", "lambd"},
    {"Swish", PointwiseOp::Silu, "alpha", ""},
    {"ThresholdedRelu", PointwiseOp::ThresholdedRelu, "alpha", ""},
};

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
      if (step.op == OpId::Pointwise)
        check_expression(step);
      else
        for (const WeightSource::Node* node : nodes_of(step)) check_step(step, *node);
      for (const auto& body : step.bodies) check_plan(*body);
    }
  }

  void check_step(const Step& step, const WeightSource::Node& node) {
    const FieldCollector given = collect(step.op, step.params);
    const bool is_itself = op_def(step.op).name == node.op;
    for (const auto& [attribute, value] : given.fields)
      if (is_itself ? is_number(value) || is_plain(attribute) : is_kept_by_fusion(attribute, node))
        compare(node, attribute, value);
    if (is_itself) return;
    // A node that was fused into another. Its activation, or numbers that are what they are by default.
    const bool is_activation = is_same_function(given.activation(), node.op);
    for (const auto& [attribute, value] : defaults_of(node)) {
      if (!is_number(value)) continue;
      const auto fused = given.fields.find("activation_" + attribute);
      if (is_activation && fused != given.fields.end())
        compare(node, attribute, fused->second);
      else if (!compared_.contains({node.name, attribute}) && node.op == "Gemm")
        compare(node, attribute, value);
    }
  }

  // Instructions are in the order of the nodes that they are from.
  void check_expression(const Step& step) {
    const auto& code = step.params.get<PointwiseParams>();
    size_t next = 0;
    for (const WeightSource::Node* node : nodes_of(step))
      for (size_t i = next; i < code.size(); ++i) {
        const PointwiseInstruction instruction = code.at(i);
        const auto held = std::ranges::find_if(
            kHeld, [&](const HeldAttributes& h) { return h.op == node->op && h.instruction == instruction.op; });
        if (held == std::end(kHeld)) continue;
        if (!held->first.empty()) compare(*node, std::string(held->first), instruction.numbers[0]);
        if (!held->second.empty()) compare(*node, std::string(held->second), instruction.numbers[1]);
        if (node->op == "Gelu")
          compare(*node, "approximate", std::string(instruction.op == PointwiseOp::Gelu ? "none" : "tanh"));
        next = i + 1;
        break;
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
          for (const WeightSource::Node* node : nodes_of(step))
            compare(*node, literal->second, Attribute(tensor->as<float>()[0]));
    }
  }

  static Attributes defaults_of(const WeightSource::Node& node) {
    const auto op = op_from_name(node.op);
    return op ? collect(*op, default_params(*op)).fields : Attributes{};
  }

  void compare(const WeightSource::Node& node, const std::string& attribute, const Attribute& value) {
    compared_.insert({node.name, attribute});
    const Attributes defaults = defaults_of(node);
    const auto given = node.attributes.find(attribute);
    const auto implied = defaults.find(attribute);
    const bool is_implied = given == node.attributes.end();
    if (is_implied && (implied == defaults.end() || default_depends_on_version(attribute))) return;
    const Attribute& other = is_implied ? implied->second : given->second;
    if (!is_equal(other, value) && !(is_implied && is_older_default(other, value))) add(node, attribute, value, other);
  }

  void add(const WeightSource::Node& node, const std::string& attribute, const Attribute& value,
           const Attribute& other) {
    sentences_.insert(fmt::format(
        "node '{}' ({}): the attribute '{}' stays {}, but in {} it is {}; compile that model to use its attributes",
        node.name, node.op, attribute, text_of(value), source_.where(), text_of(other)));
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

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"
#include "ir/literal_text.h"
#include "ir/params_text.h"
#include "ir/text.h"

namespace tenon {

namespace {

constexpr int64_t kMostWrittenElements = 64;

bool is_plain_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || !is_letter(name[0])) return false;
  return std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; });
}

// Names of values, unique in the whole text, and numbers of symbols.
class Names {
 public:
  // The reference for a value that is defined here.
  std::string define(const std::string& name) {
    if (name.empty() || !used_.insert(name).second) return "%" + std::to_string(number_++);
    return is_plain_name(name) ? "%" + name : "%" + quoted(name);
  }

  std::string type(const Type& type) {
    Type shown = type;
    number_symbols(shown);
    return shown.to_string();
  }

 private:
  void number_symbols(Type& type) {
    if (type.shape)
      for (Dim& d : *type.shape)
        if (!d.is_constant())
          d = d.substitute([&](const std::string& name) -> std::optional<Dim> {
            if (!name.starts_with('?')) return std::nullopt;
            const auto number = symbols_.emplace(name, symbols_.size()).first->second;
            return Dim::symbol("?" + std::to_string(number));
          });
    if (!type.element) return;
    Type element = *type.element;
    number_symbols(element);
    type.element = std::make_shared<const Type>(std::move(element));
  }

  std::set<std::string> used_;
  std::map<std::string, size_t> symbols_;
  int number_ = 0;
};

class Printer {
 public:
  std::string print(const Graph& graph) {
    collect_constants(graph);
    std::map<ConstantId, std::string> constants;
    for (const auto& [id, name] : constants_) constants[id] = print_constant((*graph.constants)[id], name);
    constant_names_ = std::move(constants);
    print_graph(graph, nullptr, 0);
    return std::move(text_) + "\n";
  }

 private:
  using Refs = std::map<ValueId, std::string>;

  // The constants that some node or output reads, in the order of the pool.
  void collect_constants(const Graph& graph) {
    const auto add = [&](ValueId v) {
      if (v != kNone && graph.value(v).constant != kNone)
        constants_.emplace(graph.value(v).constant, graph.value(v).name);
    };
    for (const GraphInput& input : graph.inputs)
      if (input.default_constant != kNone) constants_.emplace(input.default_constant, "");
    for (const GraphNode& node : graph.nodes()) {
      for (ValueId v : node.inputs) add(v);
      for (const auto& body : node.bodies) collect_constants(*body);
    }
    for (ValueId v : graph.outputs()) add(v);
  }

  std::string print_constant(const Constant& constant, const std::string& name) {
    const std::string ref = names_.define(name);
    const Type type = Type::tensor(constant.dtype, Shape(constant.dims.begin(), constant.dims.end()));
    text_ += ref + ": " + type.to_string();
    if (!constant.is_literal()) {
      text_ += " source " + quoted(constant.source);
    } else if (constant.tensor.size() <= kMostWrittenElements) {
      text_ += " = " + literal_text(constant.tensor);
    } else {
      text_ += " = #" + (constant.dtype == DType::String ? fmt::format("{}", constant.tensor.size())
                                                         : hash_bytes({static_cast<const char*>(constant.tensor.data()),
                                                                       static_cast<size_t>(constant.tensor.bytes())})
                                                               .hex());
    }
    text_ += "\n";
    return ref;
  }

  std::string ref(const Graph& graph, const Refs& refs, ValueId v) const {
    if (v == kNone) return "_";
    if (const ConstantId id = graph.value(v).constant; id != kNone) return constant_names_.at(id);
    const auto it = refs.find(v);
    return it == refs.end() ? "?" : it->second;
  }

  void print_graph(const Graph& graph, const Refs* captured, int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    Refs refs = captured ? *captured : Refs();
    text_ += indent + "graph";
    if (!graph.inputs.empty()) text_ += " (";
    for (size_t i = 0; i < graph.inputs.size(); ++i) {
      const auto& [value, default_constant] = graph.inputs[i];
      refs[value] = names_.define(graph.value(value).name);
      text_ += (i ? ", " : "") + refs[value] + ": " + names_.type(graph.value(value).type);
      if (default_constant != kNone) text_ += " default " + constant_names_.at(default_constant);
    }
    text_ += graph.inputs.empty() ? " {\n" : ") {\n";
    for (const GraphNode& node : graph.nodes()) print_node(graph, node, refs, depth + 1);
    text_ += indent + "  return";
    for (size_t i = 0; i < graph.outputs().size(); ++i)
      text_ += (i ? ", " : " ") + ref(graph, refs, graph.outputs()[i]) + " as " + quoted(graph.output_names()[i]);
    text_ += "\n" + indent + "}";
  }

  void print_node(const Graph& graph, const GraphNode& node, Refs& refs, int depth) {
    std::string results, types;
    for (ValueId v : node.outputs) {
      if (v != kNone) refs[v] = names_.define(graph.value(v).name);
      results += (results.empty() ? "" : ", ") + ref(graph, refs, v);
      types += (types.empty() ? "" : ", ") + (v == kNone ? "_" : names_.type(graph.value(v).type));
    }
    std::string inputs;
    for (ValueId v : node.inputs) inputs += (inputs.empty() ? "" : ", ") + ref(graph, refs, v);
    text_ += std::string(static_cast<size_t>(2 * depth), ' ') + results + (results.empty() ? "" : " = ") +
             std::string(op_def(node.op).name) + "(" + inputs + ")";
    if (const std::string params = params_source(node.op, node.params); !params.empty()) text_ += " {" + params + "}";
    for (const auto& body : node.bodies) {
      text_ += "\n";
      Refs inside;
      for (const GraphCapture& c : body->captures) inside[c.inner] = ref(graph, refs, c.outer);
      print_graph(*body, &inside, depth + 1);
    }
    text_ += (types.empty() ? "" : " : " + types) + "\n";
  }

  std::string text_;
  Names names_;
  std::map<ConstantId, std::string> constants_;  // the names of values that are these
  std::map<ConstantId, std::string> constant_names_;
};

}  // namespace

std::string graph_text(const Graph& graph) { return Printer().print(graph); }

}  // namespace tenon

#include "onnx/spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// Fields of parameters as attributes.
class AttributeWriter final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  explicit AttributeWriter(wire::MessageBuilder& messages) : messages_(messages) {}
  std::vector<wire::Attribute> attributes;

  void field(const char* name, int64_t& v) override { attributes.push_back(messages_.make_int(name, v)); }
  void field(const char* name, float& v) override { attributes.push_back(messages_.make_float(name, v)); }
  void field(const char* name, std::string& v) override { attributes.push_back(messages_.make_string(name, v)); }
  void field(const char* name, std::vector<int64_t>& v) override { attributes.push_back(messages_.make_ints(name, v)); }
  void field(const char* name, std::vector<float>& v) override { attributes.push_back(messages_.make_floats(name, v)); }
  void field(const char* name, std::vector<std::string>& v) override {
    attributes.push_back(messages_.make_strings(name, v));
  }
  void field(const char* name, Tensor& v) override {
    if (v.defined()) attributes.push_back(messages_.make_tensor(name, tensor_message(messages_, "", v)));
  }

 protected:
  void optional_field(const char*, bool&) override {}

 private:
  wire::MessageBuilder& messages_;
};

// The names of fields that have another value than in `defaults`, by comparing one field at a time.
class FieldTexts final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  std::map<std::string, std::string> texts;

  void field(const char* name, int64_t& v) override { texts[name] = std::to_string(v); }
  void field(const char* name, float& v) override { texts[name] = fmt::format("{}", v); }
  void field(const char* name, std::string& v) override { texts[name] = v; }
  void field(const char* name, std::vector<int64_t>& v) override { texts[name] = fmt::format("{}", fmt::join(v, ",")); }
  void field(const char* name, std::vector<float>& v) override { texts[name] = fmt::format("{}", fmt::join(v, ",")); }
  void field(const char* name, std::vector<std::string>& v) override {
    texts[name] = fmt::format("{}:{}", v.size(), fmt::join(v, ","));
  }
  void field(const char* name, Tensor& v) override { texts[name] = v.defined() ? "given" : ""; }

 protected:
  void optional_field(const char* name, bool& present) override {
    if (!present) texts[name] = "absent";
  }
};

std::vector<wire::Attribute> attributes_of(const GraphNode& node, bool all, wire::MessageBuilder& messages) {
  const OpDef& def = op_def(node.op);
  const auto params = def.copy_params(node.params.erased());
  AttributeWriter writer(messages);
  def.visit_params(params.get(), writer);
  if (all) return std::move(writer.attributes);
  FieldTexts given, usual;
  def.visit_params(params.get(), given);
  def.visit_params(def.make_params().get(), usual);
  std::erase_if(writer.attributes, [&](const wire::Attribute& a) {
    const std::string name(a.name);
    return given.texts[name] != "given" && given.texts[name] == usual.texts[name];
  });
  return std::move(writer.attributes);
}

template <class T>
std::vector<T> elements(const Tensor& tensor) {
  const auto all = tensor.as<T>();
  return {all.begin(), all.end()};
}

// A constant as the attribute that older versions have in its place.
std::optional<wire::Attribute> attribute_of(const Tensor& tensor, std::string_view name, AttributeInput::Kind kind,
                                            wire::MessageBuilder& messages) {
  switch (kind) {
    case AttributeInput::Kind::Ints:
      if (tensor.dtype() != DType::Int64) return std::nullopt;
      return messages.make_ints(name, elements<int64_t>(tensor));
    case AttributeInput::Kind::Int:
      if (tensor.dtype() != DType::Int64 || tensor.size() != 1) return std::nullopt;
      return messages.make_int(name, tensor.as<int64_t>()[0]);
    case AttributeInput::Kind::Floats:
      if (tensor.dtype() != DType::Float32) return std::nullopt;
      return messages.make_floats(name, elements<float>(tensor));
    case AttributeInput::Kind::Float:
      if (tensor.size() != 1) return std::nullopt;
      if (tensor.dtype() == DType::Float32) return messages.make_float(name, tensor.as<float>()[0]);
      if (tensor.dtype() == DType::Float16) return messages.make_float(name, float{tensor.as<Float16>()[0]});
      if (tensor.dtype() == DType::Float64) return messages.make_float(name, static_cast<float>(tensor.as<double>()[0]));
      return std::nullopt;
  }
  return std::nullopt;
}

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (a.dtype() == DType::String) return std::ranges::equal(a.as<std::string>(), b.as<std::string>());
  return a.bytes() == 0 || std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0;
}

}  // namespace

wire::TensorProto tensor_message(wire::MessageBuilder& messages, std::string_view name, const Tensor& tensor) {
  if (tensor.dtype() == DType::String) return messages.make_tensor_strings(name, tensor.dims(), tensor.as<std::string>());
  return messages.make_tensor_raw(name, tensor.dtype(), tensor.dims(),
                                  {static_cast<const char*>(tensor.data()), static_cast<size_t>(tensor.bytes())});
}

std::vector<std::string_view> body_attributes(OpId op) {
  if (op == OpId::If) return {"then_branch", "else_branch"};
  return {"body"};
}

// One way to write a node that may be right.
struct Speller::Form {
  std::string_view domain, op_type;
  bool all_attributes;    // also those with the value that they have by default here
  bool attribute_inputs;  // constants as attributes, as older versions have them
};

Speller::Speller(const ImportedModel& model, const OpsetVersions& opsets, wire::MessageBuilder& messages)
    : model_(model), opsets_(opsets), messages_(messages) {}

std::vector<Speller::Form> Speller::forms(const GraphNode& node) const {
  std::vector<Form> found;
  for (const auto& [domain, op_type] : onnx_map().spellings(node.op)) {
    if (!opsets_.contains(std::string(domain))) continue;
    for (const bool attribute_inputs : {false, true}) {
      if (attribute_inputs && onnx_map().attribute_inputs(node.op).empty()) continue;
      for (const bool all : {false, true}) found.push_back({domain, op_type, all, attribute_inputs});
    }
  }
  return found;
}

std::optional<Spelling> Speller::spell(const Graph& graph, const GraphNode& node) {
  for (const Form& form : forms(node)) {
    auto spelling = written(graph, node, form);
    if (spelling && (!node.bodies.empty() || reads_back(graph, node, *spelling))) return spelling;
  }
  return std::nullopt;
}

std::optional<Spelling> Speller::written(const Graph& graph, const GraphNode& node, const Form& form) {
  Spelling spelling{form.domain, form.op_type, node.inputs, attributes_of(node, form.all_attributes, messages_)};
  if (!form.attribute_inputs) return spelling;
  for (const AttributeInput& a : onnx_map().attribute_inputs(node.op)) {
    if (a.input >= spelling.inputs.size() || spelling.inputs[a.input] == kNone) continue;
    const Constant* constant = graph.constant(spelling.inputs[a.input]);
    const auto tensor = constant ? constant->value() : Result<Tensor>(error(Code::NotFound, "it is computed"));
    auto attribute = tensor.ok() ? attribute_of(*tensor, a.name, a.kind, messages_) : std::nullopt;
    if (!attribute) return std::nullopt;
    spelling.attributes.push_back(std::move(*attribute));
    spelling.inputs[a.input] = kNone;
  }
  while (!spelling.inputs.empty() && spelling.inputs.back() == kNone) spelling.inputs.pop_back();
  return spelling;
}

// Reads the node alone, with what is known of its inputs, and compares.
bool Speller::reads_back(const Graph& graph, const GraphNode& node, const Spelling& spelling) const {
  wire::MessageBuilder messages;
  std::vector<wire::Bytes> inputs, outputs;
  for (ValueId v : spelling.inputs) inputs.push_back(v == kNone ? "" : messages.keep(fmt::format("v{}", v.index())));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId v = node.outputs[i];
    const bool wanted = v != kNone && (i == 0 || !graph.value(v).uses.empty());
    outputs.push_back(wanted ? messages.keep(fmt::format("r{}", i)) : "");
  }
  while (outputs.size() > 1 && outputs.back().empty()) outputs.pop_back();

  ImportedModel alone;
  alone.wire.ir_version = model_.wire.ir_version;
  alone.wire.graph.nodes.push_back(messages.make_node(spelling.op_type, spelling.domain, inputs, outputs, "alone"));
  alone.wire.graph.nodes[0].attributes = spelling.attributes;
  const ImportOptions options;
  ModelImport state{alone, options};
  GraphImporter importer(state, alone.graph, nullptr, opsets_, nullptr);
  std::map<ValueId, ValueId> same;  // from values of the new graph to those of the old one
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId v = spelling.inputs[i];
    if (v == kNone || importer.lookup(inputs[i]) != kNone) continue;
    const GraphValue& original = graph.value(v);
    ValueId copy;
    if (const Constant* constant = graph.constant(v)) {
      copy = alone.graph.add_constant(*constant, "");
    } else {
      copy = alone.graph.add_value("", original.type);
      alone.graph.value(copy).known = original.known;
    }
    same.emplace(copy, v);
    if (!importer.define(inputs[i], copy).ok()) return false;
  }
  if (!importer.import_nodes(alone.wire.graph.nodes).ok() || alone.graph.node_count() != 1) return false;

  const GraphNode& again = alone.graph.node(alone.graph.first_node());
  if (again.op != node.op || params_to_bytes(again.op, again.params) != params_to_bytes(node.op, node.params)) return false;
  if (again.inputs.size() != node.inputs.size()) return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if ((again.inputs[i] == kNone) != (node.inputs[i] == kNone)) return false;
    if (node.inputs[i] == kNone) continue;
    if (const auto it = same.find(again.inputs[i]); it != same.end() && it->second == node.inputs[i]) continue;
    const Constant *made = alone.graph.constant(again.inputs[i]), *original = graph.constant(node.inputs[i]);
    if (!made || !original) return false;
    const auto a = made->value(), b = original->value();
    if (!a.ok() || !b.ok() || !same_elements(*a, *b)) return false;
  }
  return true;
}

}  // namespace tenon

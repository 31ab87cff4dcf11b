#include "onnx/node_draft.h"

#include <algorithm>

namespace tenon {

namespace {

std::optional<float> one_float(const Tensor& tensor) {
  if (tensor.size() != 1) return std::nullopt;
  switch (tensor.dtype()) {
    case DType::Float32:
      return tensor.as<float>()[0];
    case DType::Float16:
      return float{tensor.as<Float16>()[0]};
    case DType::BFloat16:
      return float{tensor.as<BFloat16>()[0]};
    case DType::Float64:
      return static_cast<float>(tensor.as<double>()[0]);
    default:
      return std::nullopt;
  }
}

// Fields of parameters as attributes.
class AttributeWriter final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  explicit AttributeWriter(ExportMemory& memory) : memory_(memory) {}
  std::vector<wire::Attribute> attributes;

  void field(const char* name, int64_t& v) override { attributes.push_back(messages().make_int(name, v)); }
  void field(const char* name, float& v) override { attributes.push_back(messages().make_float(name, v)); }
  void field(const char* name, std::string& v) override { attributes.push_back(messages().make_string(name, v)); }
  void field(const char* name, std::vector<int64_t>& v) override {
    attributes.push_back(messages().make_ints(name, v));
  }
  void field(const char* name, std::vector<float>& v) override {
    attributes.push_back(messages().make_floats(name, v));
  }
  void field(const char* name, std::vector<std::string>& v) override {
    attributes.push_back(messages().make_strings(name, v));
  }
  void field(const char* name, Tensor& v) override {
    if (v.defined()) attributes.push_back(messages().make_tensor(name, memory_.make_tensor("", v)));
  }

 protected:
  void optional_field(const char*, bool&) override {}

 private:
  wire::MessageBuilder& messages() { return memory_.messages; }
  ExportMemory& memory_;
};

bool is_same(const wire::Attribute& a, const wire::Attribute& b) {
  return a.tensors.empty() && a.type == b.type && std::equal_to<>()(a.f, b.f) && a.i == b.i && a.s == b.s &&
         a.floats == b.floats && a.ints == b.ints && a.strings == b.strings;
}

// A list without elements says what an absent one does.
bool is_empty_list(const wire::Attribute& a) {
  switch (a.type) {
    case wire::AttributeType::Ints:
      return a.ints.empty();
    case wire::AttributeType::Floats:
      return a.floats.empty();
    case wire::AttributeType::Strings:
      return a.strings.empty();
    default:
      return false;
  }
}

}  // namespace

const std::vector<Dim>* NodeDraft::known(size_t input) const {
  if (input >= inputs.size() || inputs[input] == kNone) return nullptr;
  const auto& known = graph_.value(inputs[input]).known;
  return known ? &*known : nullptr;
}

std::optional<Tensor> NodeDraft::constant(size_t input) const {
  if (input >= inputs.size() || inputs[input] == kNone) return std::nullopt;
  const Constant* constant = graph_.constant(inputs[input]);
  if (!constant) return std::nullopt;
  auto tensor = constant->value();
  return tensor.ok() ? std::optional(std::move(*tensor)) : std::nullopt;
}

void NodeDraft::remove(std::string_view attribute) {
  std::erase_if(attributes, [&](const wire::Attribute& a) { return a.name == attribute; });
}

void NodeDraft::rename(std::string_view attribute, std::string_view other) {
  for (wire::Attribute& a : attributes)
    if (a.name == attribute) a.name = messages().keep(other);
}

void NodeDraft::set(wire::Attribute attribute) {
  remove(attribute.name);
  attributes.push_back(std::move(attribute));
}

bool NodeDraft::move_to_attribute(const AttributeInput& input) {
  if (input.input >= inputs.size() || inputs[input.input] == kNone) return true;
  const auto tensor = constant(input.input);
  if (!tensor || !set_elements(input, *tensor)) return false;
  inputs[input.input] = kNone;
  return true;
}

bool NodeDraft::set_elements(const AttributeInput& input, const Tensor& tensor) {
  using Kind = AttributeInput::Kind;
  switch (input.kind) {
    case Kind::Ints:
      if (tensor.dtype() != DType::Int64) return false;
      return set_ints(input.name, tensor.as<int64_t>()), true;
    case Kind::Int:
      if (tensor.dtype() != DType::Int64 || tensor.size() != 1) return false;
      return set_int(input.name, tensor.as<int64_t>()[0]), true;
    case Kind::Floats:
      if (tensor.dtype() != DType::Float32) return false;
      return set_floats(input.name, tensor.as<float>()), true;
    case Kind::Float:
      if (const auto number = one_float(tensor)) return set_float(input.name, *number), true;
      return false;
    case Kind::Tensor:
      return set_tensor(input.name, tensor), true;
  }
  return false;
}

std::vector<wire::Attribute> attributes_of(const GraphNode& node, bool all, ExportMemory& memory) {
  const OpDef& def = op_def(node.op);
  AttributeWriter given(memory);
  def.visit_params(def.copy_params(node.params.erased()).get(), given);
  ExportMemory unused;
  AttributeWriter usual(unused);
  def.visit_params(def.make_params().get(), usual);
  std::erase_if(given.attributes, [&](const wire::Attribute& a) {
    const auto it = std::ranges::find(usual.attributes, a.name, &wire::Attribute::name);
    return it != usual.attributes.end() && is_same(a, *it) && (!all || is_empty_list(a));
  });
  return std::move(given.attributes);
}

}  // namespace tenon

#include "model_mutation.h"

#include <limits>

#include "onnx/onnx_map.h"

namespace tenon::fuzz {

using namespace wire;

int64_t ModelMutation::odd_integer() {
  static const std::vector<int64_t> kOdd = {std::numeric_limits<int64_t>::min(),
                                            std::numeric_limits<int64_t>::max(),
                                            -(int64_t{1} << 32),
                                            int64_t{1} << 62,
                                            int64_t{1} << 40,
                                            int64_t{1} << 32,
                                            int64_t{1} << 31,
                                            (int64_t{1} << 31) - 1,
                                            -(int64_t{1} << 31),
                                            65536,
                                            1000,
                                            127,
                                            64,
                                            -1,
                                            -2,
                                            -1,
                                            0,
                                            0,
                                            1,
                                            1,
                                            2,
                                            3};
  return chance(3) ? static_cast<int64_t>(below(9)) - 3 : pick(kOdd);
}

float ModelMutation::odd_float() {
  static const std::vector<float> kOdd = {0,
                                          -0.0f,
                                          1,
                                          -1,
                                          0.5f,
                                          2,
                                          1e-45f,
                                          1e30f,
                                          -1e30f,
                                          3e9f,
                                          1e19f,
                                          -1e19f,
                                          1e-8f,
                                          100,
                                          std::numeric_limits<float>::infinity(),
                                          std::numeric_limits<float>::quiet_NaN()};
  return pick(kOdd);
}

Bytes ModelMutation::odd_string(const ModelParts& parts) {
  static const std::vector<Bytes> kWords = {
      "",     "SAME_UPPER", "SAME_LOWER", "VALID",   "NOTSET",  "linear",        "cubic", "nearest",    "reflect",
      "edge", "wrap",       "constant",   "add",     "mul",     "max",           "min",   "mean",       "sum",
      "none", "LEFT",       "RIGHT",      "forward", "reverse", "bidirectional", "Relu",  "DCR",        "CRD",
      "tanh", "ij,jk->ik",  "...i->i",    "[a-z]+",  "(a*)*b",  "\xff\xfe",      "i,i->", "BRANCH_LEQ", "SOFTMAX"};
  if (!parts.strings.empty() && chance(3)) return pick(parts.strings);
  return pick(kWords);
}

Bytes ModelMutation::value_name(const ModelParts& parts) {
  return parts.names.empty() || chance(12) ? Bytes("") : pick(parts.names);
}

template <class T, class Make>
void ModelMutation::change_list(std::vector<T>& list, Make make) {
  const size_t kind = below(list.empty() ? 1 : 5);
  if (kind == 0) {
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(below(list.size() + 1)), make());
  } else if (kind == 1) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(below(list.size())));
  } else if (kind == 2) {
    std::swap(list[below(list.size())], list[below(list.size())]);
  } else {
    list[below(list.size())] = make();
  }
}

void ModelMutation::change_attribute(Attribute& attribute, const ModelParts& parts) {
  switch (attribute.type) {
    case AttributeType::Int:
      attribute.i = odd_integer();
      break;
    case AttributeType::Float:
      attribute.f = odd_float();
      break;
    case AttributeType::String:
      attribute.s = odd_string(parts);
      break;
    case AttributeType::Ints:
      change_list(attribute.ints, [&] { return odd_integer(); });
      break;
    case AttributeType::Floats:
      change_list(attribute.floats, [&] { return odd_float(); });
      break;
    case AttributeType::Strings:
      change_list(attribute.strings, [&] { return odd_string(parts); });
      break;
    case AttributeType::Tensor:
      if (!attribute.tensors.empty()) change_tensor(attribute.tensors[0]);
      break;
    default:
      break;
  }
}

void ModelMutation::change_attributes(std::vector<Attribute>& attributes) {
  if (attributes.empty()) return;
  const size_t at = below(attributes.size());
  if (chance(4))
    attributes[at].name = attributes[below(attributes.size())].name;
  else if (chance(4))
    attributes.push_back(attributes[at]);
  else
    attributes.erase(attributes.begin() + static_cast<std::ptrdiff_t>(at));
}

namespace {

// The attributes that an op knows, with a value for one of them.
class FieldPicker final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  FieldPicker(MessageBuilder& strings, size_t wanted, int64_t integer, float real)
      : strings_(strings), wanted_(wanted), integer_(integer), real_(real) {}
  void field(const char* name, int64_t&) override {
    offer([&] { return strings_.make_int(name, integer_); });
  }
  void field(const char* name, float&) override {
    offer([&] { return strings_.make_float(name, real_); });
  }
  void field(const char* name, std::string&) override {
    offer([&] { return strings_.make_string(name, "nearest"); });
  }
  void field(const char* name, std::vector<int64_t>&) override {
    offer([&] { return strings_.make_ints(name, std::vector<int64_t>{integer_, 1}); });
  }
  void field(const char* name, std::vector<float>&) override {
    offer([&] { return strings_.make_floats(name, std::vector<float>{real_, 1}); });
  }
  void field(const char* name, std::vector<std::string>&) override {
    offer([&] { return strings_.make_strings(name, std::vector<std::string>{"Relu", "a"}); });
  }
  void field(const char*, Tensor&) override {}

  size_t count = 0;
  std::optional<Attribute> made;

 protected:
  void optional_field(const char*, bool& present) override { present = true; }

 private:
  template <class Make>
  void offer(Make make) {
    if (count++ == wanted_) made = make();
  }
  MessageBuilder& strings_;
  size_t wanted_;
  int64_t integer_;
  float real_;
};

}  // namespace

void ModelMutation::give_attribute(Node& node) {
  const OnnxMap::Entry* entry = onnx_map().find(node.domain, node.op_type);
  if (!entry) return;
  FieldPicker picker(strings_, below(8), odd_integer(), odd_float());
  auto params = op_def(entry->op).make_params();
  op_def(entry->op).visit_params(params.get(), picker);
  if (!picker.made) return;
  std::erase_if(node.attributes, [&](const Attribute& a) { return a.name == picker.made->name; });
  node.attributes.push_back(std::move(*picker.made));
}

void ModelMutation::change_op(Node& node) {
  const OpId op = pick(all_ops());
  const std::string_view name = op_def(op).name;
  for (std::string_view domain : {kOnnxDomain, kMlDomain, kMicrosoftDomain, kTrainingDomain})
    if (onnx_map().find(domain, name)) {
      node.op_type = name;
      node.domain = domain;
    }
  // Attributes of another op would make the import fail.
  if (!chance(4)) node.attributes.clear();
}

void ModelMutation::change_node(Node& node, const ModelParts& parts) {
  switch (below(6)) {
    case 0:
      change_op(node);
      break;
    case 1:
      change_list(node.outputs,
                  [&] { return chance(3) ? Bytes("") : strings_.keep("new" + std::to_string(below(99))); });
      break;
    case 2:
    case 3:
      give_attribute(node);
      break;
    default:
      change_list(node.inputs, [&] { return value_name(parts); });
  }
}

void ModelMutation::fill_tensor(TensorProto& tensor) {
  const auto dtype = dtype_from_onnx(tensor.data_type);
  size_t count = 1;
  for (int64_t d : tensor.dims) count *= d < 0 || d > 4096 ? 1 : static_cast<size_t>(d);
  if (!dtype || *dtype == DType::String || count > 4096) return;
  const size_t bytes = static_cast<size_t>(*storage_bytes(*dtype, static_cast<int64_t>(count)));
  std::string data(tensor.raw_data.value_or(Bytes()));
  data.resize(bytes);
  const size_t width = static_cast<size_t>(std::max(dtype_bits(*dtype) / 8, 1));
  for (size_t changes = 1 + below(3); changes-- > 0 && bytes >= width;) {
    const int64_t integer = odd_integer();
    const float real = odd_float();
    const void* source = *dtype == DType::Float32 ? static_cast<const void*>(&real) : &integer;
    data.replace(below(bytes / width) * width, width, static_cast<const char*>(source), std::min<size_t>(width, 8));
    data.resize(bytes);
  }
  tensor.other.clear();
  tensor.raw_data = strings_.keep(data);
}

void ModelMutation::change_tensor(TensorProto& tensor) {
  switch (below(4)) {
    case 0:
      change_list(tensor.dims, [&] { return odd_integer(); });
      break;
    case 1:
      tensor.data_type = static_cast<int64_t>(below(30));
      break;
    default:
      break;
  }
  // Bytes that do not fit the shape are refused early, so they follow it most of the time.
  if (!chance(8)) fill_tensor(tensor);
}

void ModelMutation::change_type(TypeProto& type) {
  using Kind = TypeProto::Kind;
  switch (below(5)) {
    case 0:
      type.elem_type = static_cast<int64_t>(below(28));
      break;
    case 1:
      type.shape.reset();
      break;
    case 2: {
      auto inner = std::make_shared<TypeProto>(type);
      type = TypeProto{};
      type.kind = pick(std::vector<Kind>{Kind::Sequence, Kind::Optional, Kind::Map, Kind::None});
      type.key_type = 7;
      if (type.kind != Kind::None) type.element = std::move(inner);
      break;
    }
    default:
      if (!type.shape) type.shape.emplace();
      change_list(*type.shape, [&] {
        DimensionProto dim;
        if (chance(4))
          dim.param = "n";
        else if (!chance(6))
          dim.value = odd_integer();
        return dim;
      });
  }
}

void ModelMutation::change_values(std::vector<ValueInfo>& values, const ModelParts& parts) {
  if (values.empty() || chance(3)) {
    ValueInfo info = values.empty() ? ValueInfo{} : pick(values);
    info.name = value_name(parts);
    values.push_back(std::move(info));
  } else if (chance(2)) {
    values[below(values.size())].name = value_name(parts);
  } else {
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(below(values.size())));
  }
}

void ModelMutation::change(Model& model) {
  const ModelParts parts = parts_of(model);
  switch (below(12)) {
    case 0:
    case 1:
    case 2:
      if (!parts.attributes.empty()) change_attribute(*pick(parts.attributes), parts);
      break;
    case 3:
      if (!parts.attribute_lists.empty()) change_attributes(*pick(parts.attribute_lists));
      break;
    case 4:
    case 5:
      if (!parts.nodes.empty()) change_node(*pick(parts.nodes), parts);
      break;
    case 6: {
      if (parts.node_lists.empty()) break;
      auto& nodes = *pick(parts.node_lists);
      if (!nodes.empty()) change_list(nodes, [&] { return nodes[below(nodes.size())]; });
      break;
    }
    case 7:
    case 8:
      if (!parts.tensors.empty()) change_tensor(*pick(parts.tensors));
      break;
    case 9:
      if (!parts.types.empty()) change_type(*pick(parts.types));
      break;
    case 10:
      if (!parts.value_lists.empty()) change_values(*pick(parts.value_lists), parts);
      break;
    default:
      if (!parts.opsets.empty()) pick(parts.opsets)->version = static_cast<int64_t>(below(29));
  }
}

void ModelMutation::cross(Model& model, Model& other) {
  const ModelParts mine = parts_of(model), theirs = parts_of(other);
  if (mine.node_lists.empty() || theirs.nodes.empty()) return;
  Node node = *pick(theirs.nodes);
  for (const TensorProto& tensor : other.graph.initializers)
    for (Bytes input : node.inputs)
      if (tensor.name == input && !tensor.name.empty()) model.graph.initializers.push_back(tensor);
  auto& nodes = *pick(mine.node_lists);
  if (nodes.empty()) {
    nodes.push_back(std::move(node));
    return;
  }
  // In place of a node of this model, reading what that one read.
  Node& replaced = nodes[below(nodes.size())];
  for (size_t i = 0; i < node.inputs.size() && i < replaced.inputs.size(); ++i)
    if (!chance(4)) node.inputs[i] = replaced.inputs[i];
  node.outputs = replaced.outputs;
  replaced = std::move(node);
}

}  // namespace tenon::fuzz

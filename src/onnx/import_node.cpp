#include "onnx/import_node.h"

#include <algorithm>

#include "onnx/graph_importer.h"
#include "weights/attribute_tensor.h"

namespace tenon {

namespace {

constexpr std::string_view type_text(wire::AttributeType type) {
  constexpr std::string_view names[] = {"undefined",      "float", "int",     "string",  "tensor", "graph",
                                        "floats",         "ints",  "strings", "tensors", "graphs", "sparse tensor",
                                        "sparse tensors", "type",  "types"};
  const auto index = static_cast<size_t>(type);
  return index < std::size(names) ? names[index] : "unknown";
}

}  // namespace

ImportNode::ImportNode(GraphImporter& importer, const wire::Node& node, int64_t version)
    : importer_(importer), node_(node), version_(version), name_(readable_name(node)), builder_(importer.graph()) {
  for (wire::Bytes input : node.inputs) {
    if (input.empty()) {
      inputs_.push_back(kNone);
      continue;
    }
    const ValueId v = importer.lookup(input);
    if (v == kNone)
      fail(invalid_model("input '{}' is not defined by any graph input, initializer or earlier node", input));
    inputs_.push_back(v);
  }
  Group group;
  group.wire = &node;
  group.slots = inputs_;
  group.call = importer.call_group();
  group_ = importer.graph().add_group(std::move(group));
  builder_.set_group(group_);
  builder_.set_name(name_);
  if (const auto text = wire::metadata_of(node, kProvenanceKey))
    if (auto made_from = Provenance::parse(*text))
      builder_.set_made_from(std::make_shared<const Provenance>(std::move(*made_from)));
  // Trailing absent inputs are the same as none.
  while (!inputs_.empty() && inputs_.back() == kNone) inputs_.pop_back();
}

void ImportNode::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

bool ImportNode::has_attribute(std::string_view name) const {
  for (const wire::Attribute& a : node_.attributes)
    if (a.name == name) return resolve(a) != nullptr;
  return false;
}

const wire::Attribute* ImportNode::resolve(const wire::Attribute& attribute) const {
  if (attribute.ref_attr_name.empty()) return &attribute;
  if (!importer_.call()) return nullptr;
  const auto it = importer_.call()->attributes.find(attribute.ref_attr_name);
  return it == importer_.call()->attributes.end() ? nullptr : it->second;
}

const wire::Attribute* ImportNode::find(std::string_view name, wire::AttributeType type) {
  read_.emplace(name);
  for (const wire::Attribute& a : node_.attributes) {
    if (a.name != name) continue;
    if (!a.ref_attr_name.empty() && !importer_.call())
      fail(invalid_model("attribute '{}' refers to '{}'; only attributes in a function body may refer to others", name,
                         a.ref_attr_name));
    const wire::Attribute* found = resolve(a);
    if (!found) return nullptr;
    found_.push_back(found);
    if (found->type == type) return found;
    // An empty list carries no element type in some writers.
    fail(invalid_model("attribute '{}' must be of type {}, but it is {}", name, type_text(type),
                       type_text(found->type)));
    return nullptr;
  }
  return nullptr;
}

int64_t ImportNode::int_attribute(std::string_view name, int64_t fallback) {
  const auto* a = find(name, wire::AttributeType::Int);
  return a ? a->i : fallback;
}
float ImportNode::float_attribute(std::string_view name, float fallback) {
  const auto* a = find(name, wire::AttributeType::Float);
  return a ? a->f : fallback;
}
std::string ImportNode::string_attribute(std::string_view name, std::string fallback) {
  const auto* a = find(name, wire::AttributeType::String);
  return a ? std::string(a->s) : std::move(fallback);
}
std::vector<int64_t> ImportNode::ints_attribute(std::string_view name) {
  const auto* a = find(name, wire::AttributeType::Ints);
  return a ? a->ints : std::vector<int64_t>{};
}
std::vector<float> ImportNode::floats_attribute(std::string_view name) {
  const auto* a = find(name, wire::AttributeType::Floats);
  return a ? a->floats : std::vector<float>{};
}
std::vector<std::string> ImportNode::strings_attribute(std::string_view name) {
  const auto* a = find(name, wire::AttributeType::Strings);
  if (!a) return {};
  return {a->strings.begin(), a->strings.end()};
}
Tensor ImportNode::tensor_attribute(std::string_view name) {
  const auto* a = find(name, wire::AttributeType::Tensor);
  if (!a || a->tensors.empty()) return {};
  ImportedModel& model = importer_.model().model;
  auto tensor = wire::decode_tensor(a->tensors[0], model.bytes, model.external.get());
  if (tensor.ok()) return *tensor;
  fail(std::move(tensor).status().in("attribute '" + std::string(name) + "'"));
  return {};
}
Type ImportNode::type_attribute(std::string_view name) {
  const auto* a = find(name, wire::AttributeType::TypeProto);
  if (!a || a->types.empty()) return {};
  if (const auto number = unknown_element_type(a->types[0]))
    fail(invalid_model("attribute '{}' has the unknown element type {}", name, *number));
  return type_from_proto(a->types[0], importer_.graph().constants->symbols());
}
void ImportNode::ignore_attribute(std::string_view name) { read_.emplace(name); }

// Fields of a parameter struct from the attributes of a node.
class AttributeReader final : public FieldVisitor {
 public:
  using FieldVisitor::field;
  explicit AttributeReader(ImportNode& node) : node_(node) {}
  void field(const char* name, int64_t& v) override { v = node_.int_attribute(name, v); }
  void field(const char* name, float& v) override { v = node_.float_attribute(name, v); }
  void field(const char* name, std::string& v) override { v = node_.string_attribute(name, v); }
  void field(const char* name, std::vector<int64_t>& v) override {
    if (has(name)) v = node_.ints_attribute(name);
  }
  void field(const char* name, std::vector<float>& v) override {
    if (has(name)) v = node_.floats_attribute(name);
  }
  void field(const char* name, std::vector<std::string>& v) override {
    if (has(name)) v = node_.strings_attribute(name);
  }
  void field(const char* name, Tensor& v) override {
    if (has(name)) v = node_.tensor_attribute(name);
  }

 protected:
  void optional_field(const char* name, bool& present) override { present = has(name); }

 private:
  bool has(const char* name) {
    node_.ignore_attribute(name);
    return node_.has_attribute(name);
  }
  ImportNode& node_;
};

void ImportNode::read_fields(const std::function<void(FieldVisitor&)>& visit) {
  AttributeReader reader(*this);
  visit(reader);
}

Params ImportNode::read_params(OpId op) {
  auto params = op_def(op).make_params();
  read_fields([&](FieldVisitor& v) { op_def(op).visit_params(params.get(), v); });
  return Params::of_op(op, std::move(params));
}

std::shared_ptr<Graph> ImportNode::body_attribute(std::string_view name, const std::vector<Type>& input_types) {
  auto body = std::make_shared<Graph>();
  body->is_body = true;
  body->constants = importer_.graph().constants;
  const auto* a = find(name, wire::AttributeType::Graph);
  if (!a || a->graphs.empty()) {
    fail(invalid_model("the sub-graph attribute '{}' is missing", name));
    return body;
  }
  ModelImport& model = importer_.model();
  if (++model.depth > model.options.parse.max_nesting) {
    fail(error(Code::ResourceLimit, "sub-graphs are nested more than {} levels deep (option 'max_nesting')",
               model.options.parse.max_nesting));
  } else {
    GraphImporter inner(model, *body, &importer_, importer_.opsets(), importer_.call());
    fail(inner.import_graph(*a->graphs[0], input_types, false).in("sub-graph '" + std::string(name) + "'"));
  }
  --model.depth;
  return body;
}

void ImportNode::warn(std::string_view text) {
  importer_.model().warn(fmt::format("node '{}' ({}): {}", name(), node_.op_type, text));
}

const Tensor* ImportNode::required_constant(ValueId v) {
  if (v == kNone) return nullptr;
  if (Constant* constant = importer_.graph().constant(v))
    if (Status read = constant->read(); !read.ok()) fail(std::move(read).in("constant '" + constant->source + "'"));
  return importer_.graph().require(v, asker());
}

std::string ImportNode::asker() const { return fmt::format("the import of {}", node_.op_type); }

std::vector<ValueId> ImportNode::emit(OpId op, Params params, std::vector<ValueId> inputs, size_t outputs,
                                      std::vector<std::shared_ptr<Graph>> bodies) {
  const int64_t limit = importer_.model().options.max_nodes.value_or(kMostNodes);
  if (++importer_.model().nodes > limit)
    fail(error(Code::ResourceLimit, "the graph has more than {} nodes (option 'max_nodes')", limit));
  // After a failure nothing is inferred: what is known may be wrong.
  builder_.fail(status_);
  std::vector<ValueId> results = builder_.ops(op, std::move(inputs), std::move(params), outputs, std::move(bodies));
  fail(builder_.status());
  return results;
}

ValueId ImportNode::attribute_weight(std::string_view attribute, Tensor tensor) {
  const auto is_it = [&](const wire::Attribute& a) { return a.name == attribute; };
  const auto written = std::ranges::find_if(node_.attributes, is_it);
  const wire::Attribute* given = written == node_.attributes.end() ? nullptr : resolve(*written);
  if (!given) {
    absent_weight(attribute, tensor.dtype());
    return constant(tensor);
  }
  weights_.push_back(given);
  const std::string source = importer_.model().names.of(*given);
  if (source.empty()) fail(error(Code::Internal, "the attribute '{}' cannot be named as a weight", attribute));
  auto value = importer_.constant_value(Constant::of(source, std::move(tensor)), source);
  if (value.ok()) return *value;
  fail(std::move(value).status());
  return constant(Tensor());
}

ValueId ImportNode::absent_weight(std::string_view attribute, DType dtype) {
  const auto is_it = [&](const wire::Attribute& a) { return a.name == attribute; };
  if (std::ranges::any_of(node_.attributes, is_it)) return kNone;
  auto none = Tensor::allocate(dtype, {0}, nullptr);
  if (!none.ok()) return fail(std::move(none).status()), kNone;
  std::string source = importer_.model().names.of_absent(node_, attribute);
  fail(importer_.ask_source(Constant::of(std::move(source), std::move(*none)), asker()));
  return kNone;
}

void ImportNode::ask_lists() {
  std::set<const wire::Attribute*> done(weights_.begin(), weights_.end());
  for (const wire::Attribute* attribute : found_) {
    if (!status_.ok() || !done.insert(attribute).second) continue;
    std::string source = importer_.model().names.of(*attribute);
    if (source.empty()) continue;
    auto elements = elements_of(*attribute);
    if (!elements.ok()) return fail(std::move(elements).status());
    if (elements->dims().empty()) continue;
    Constant constant = Constant::of(std::move(source), std::move(*elements));
    constant.from_node = true;
    fail(importer_.ask_source(std::move(constant), asker()));
  }
}

Result<Tensor> ImportNode::elements_of(const wire::Attribute& attribute) const {
  if (attribute.type != wire::AttributeType::Tensor) return attribute_tensor(attribute);
  ImportedModel& model = importer_.model().model;
  TN_ASSIGN_OR_RETURN(const Tensor tensor,
                      wire::decode_tensor(attribute.tensors[0], model.bytes, model.external.get()));
  return tensor.reshaped({tensor.size()});
}

void ImportNode::finish(const std::vector<ValueId>& results) {
  std::vector<ValueId>& named = importer_.graph().group(group_).results;
  named.assign(node_.outputs.size(), kNone);
  for (size_t i = 0; i < node_.outputs.size(); ++i) {
    if (node_.outputs[i].empty()) continue;
    if (i >= results.size() || results[i] == kNone) {
      fail(invalid_model("{} has no output {} ('{}') with these inputs and attributes", node_.op_type, i,
                         node_.outputs[i]));
      return;
    }
    named[i] = results[i];
    fail(importer_.define(node_.outputs[i], results[i]));
  }
}

Status ImportNode::check_all_read() const {
  for (const wire::Attribute& a : node_.attributes)
    if (!read_.contains(a.name))
      return unsupported("{} (version {}) has no attribute '{}'", node_.op_type, version_, a.name);
  if (inputs_.size() > inputs_read_)
    return invalid_model("{} (version {}) takes at most {} inputs, but {} are given", node_.op_type, version_,
                         inputs_read_, inputs_.size());
  return {};
}

}  // namespace tenon

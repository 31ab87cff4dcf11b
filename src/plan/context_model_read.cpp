#include <algorithm>

#include "plan/context_model.h"
#include "plan/context_names.h"

namespace tenon {

namespace {

using wire::AttributeType;
using wire::Bytes;
using namespace context_names;

bool is_context_node(const wire::Node& node) { return node.op_type == kOpType && node.domain == kDomain; }

const wire::Attribute* find(const wire::Node& node, Bytes name) {
  const auto it = std::ranges::find(node.attributes, name, &wire::Attribute::name);
  return it == node.attributes.end() ? nullptr : &*it;
}

// "" when there is no such text.
Bytes text_of(const wire::Node& node, Bytes name) {
  const wire::Attribute* attribute = find(node, name);
  return attribute && attribute->type == AttributeType::String ? attribute->s : Bytes();
}

// Attributes of one node, with errors that name them.
class ContextReader {
 public:
  explicit ContextReader(const wire::Node& node) : node_(node) {}

  Result<ContextNode> read() const {
    TN_RETURN_IF_ERROR(check_maker());
    ContextNode context;
    TN_ASSIGN_OR_RETURN(const int64_t main, integer(kMain));
    TN_ASSIGN_OR_RETURN(const int64_t embed_mode, integer(kEmbedMode));
    if (main != 1) return invalid_model("the context node has {} = {}; it must be 1", kMain, main);
    if (embed_mode != 0 && embed_mode != 1)
      return invalid_model("the context node has {} = {}; it must be 0 or 1", kEmbedMode, embed_mode);
    context.embedded = embed_mode == 1;
    context.model_name = node_.name;
    TN_ASSIGN_OR_RETURN(const Bytes data, text(kData));
    if (data.empty()) return invalid_model("the context node has an empty {}", kData);
    (context.embedded ? context.payload : context.file_name) = data;
    TN_ASSIGN_OR_RETURN(context.plan_key, hash(kPartition));
    TN_ASSIGN_OR_RETURN(context.content_id, hash(kNotes));
    TN_ASSIGN_OR_RETURN(context.version, text(kVersion));
    TN_ASSIGN_OR_RETURN(context.architecture, text(kArchitecture));
    TN_ASSIGN_OR_RETURN(context.source_model, text(kSourceModel));
    return context;
  }

 private:
  Status check_maker() const {
    const Bytes maker = text_of(node_, kSource), original = text_of(node_, kSourceModel);
    if (maker == kTenon) return {};
    return unsupported("this context model was made by {}, and only that program can run it; compile {} with Tenon",
                       maker.empty() ? "an unnamed program" : fmt::format("'{}'", maker),
                       original.empty() ? "the model it was made from" : fmt::format("'{}'", original));
  }
  Result<int64_t> integer(Bytes name) const {
    const wire::Attribute* attribute = find(node_, name);
    if (attribute && attribute->type == AttributeType::Int) return attribute->i;
    return invalid_model("the context node has no integer attribute '{}'", name);
  }
  Result<Bytes> text(Bytes name) const {
    const wire::Attribute* attribute = find(node_, name);
    if (attribute && attribute->type == AttributeType::String) return attribute->s;
    return invalid_model("the context node has no string attribute '{}'", name);
  }
  Result<Hash128> hash(Bytes name) const {
    TN_ASSIGN_OR_RETURN(const Bytes digits, text(name));
    if (const auto value = Hash128::from_hex(digits)) return *value;
    return invalid_model("the attribute '{}' of the context node is not a key of 32 hexadecimal digits", name);
  }

  const wire::Node& node_;
};

// Whether a declared type and the one of the plan exclude each other.
bool contradicts(const wire::TypeProto& declared, const Type& type) {
  using Kind = wire::TypeProto::Kind;
  const bool tensor = declared.kind == Kind::Tensor || declared.kind == Kind::Sparse;
  if (declared.kind == Kind::None || type.kind == Type::Kind::Unknown) return false;
  if (tensor != type.is_tensor()) return true;
  if (!tensor) return false;
  if (declared.elem_type != 0 && type.dtype != DType::Undefined &&
      declared.elem_type != static_cast<int64_t>(type.dtype))
    return true;
  if (!declared.shape || !type.shape) return false;
  if (declared.shape->size() != type.shape->size()) return true;
  for (size_t i = 0; i < type.shape->size(); ++i) {
    const std::optional<int64_t>& value = (*declared.shape)[i].value;
    const Dim& dim = (*type.shape)[i];
    if (value && *value >= 0 && dim.is_constant() && dim.value() != *value) return true;
  }
  return false;
}

Status check_names(const char* what, const std::vector<wire::ValueInfo>& declared,
                   const std::vector<std::string_view>& planned) {
  if (declared.size() != planned.size())
    return error(Code::Incompatible, "the model has {} {}s, but its plan has {}; compile the model again",
                 declared.size(), what, planned.size());
  for (size_t i = 0; i < planned.size(); ++i)
    if (declared[i].name != planned[i])
      return error(Code::Incompatible, "{} {} of the model is '{}', but its plan has '{}'; compile the model again",
                   what, i, declared[i].name, planned[i]);
  return {};
}

}  // namespace

bool is_context_model(const wire::Model& model) { return std::ranges::any_of(model.graph.nodes, is_context_node); }

Status check_not_compiled(const wire::Model& model) {
  const auto it = std::ranges::find_if(model.graph.nodes, is_context_node);
  if (it == model.graph.nodes.end()) return {};
  const Bytes maker = text_of(*it, kSource), original = text_of(*it, kSourceModel);
  return invalid_argument(
      "this model is already compiled{}; name {}",
      maker.empty() || maker == kTenon ? "" : fmt::format(" by '{}'", maker),
      original.empty() ? "the model it was made from" : fmt::format("'{}', from which it was made", original));
}

Result<ContextNode> read_context_model(const wire::Model& model) {
  const auto it = std::ranges::find_if(model.graph.nodes, is_context_node);
  if (it == model.graph.nodes.end()) return invalid_argument("this is not a context model: it has no {} node", kOpType);
  TN_ASSIGN_OR_RETURN(ContextNode context, ContextReader(*it).read());
  if (model.graph.nodes.size() != 1)
    return invalid_model("a Tenon context model has one node, but this one has {}", model.graph.nodes.size());
  return context;
}

std::string_view noted_validation(const wire::Model& model) {
  const auto it = std::ranges::find(model.metadata, kValidation, &wire::StringEntry::key);
  return it == model.metadata.end() ? std::string_view() : it->value;
}

void note_validation(wire::Model& model, std::string_view verdict, wire::MessageBuilder& builder) {
  std::erase_if(model.metadata, [](const wire::StringEntry& e) { return e.key == kValidation; });
  model.metadata.push_back(builder.make_entry(kValidation, verdict));
  model.raw = {};
}

Status check_signature(const wire::Model& model, const Plan& plan) {
  std::vector<std::string_view> inputs;
  for (const PlanInput& input : plan.inputs) inputs.push_back(plan.values[static_cast<size_t>(input.value)].name);
  TN_RETURN_IF_ERROR(check_names("input", model.graph.inputs, inputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Type& type = plan.values[static_cast<size_t>(plan.inputs[i].value)].type;
    if (contradicts(model.graph.inputs[i].type, type))
      return error(
          Code::Incompatible,
          "the plan expects {} for the input '{}', but the model declares another type; compile the model again",
          type.to_string(), inputs[i]);
  }
  return check_names("output", model.graph.outputs, {plan.output_names.begin(), plan.output_names.end()});
}

}  // namespace tenon

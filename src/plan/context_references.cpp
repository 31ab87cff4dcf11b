#include "plan/context_references.h"

#include "plan/context_names.h"
#include "wire/onnx_fields.h"
#include "wire/proto_reader.h"

namespace tenon {

namespace {

using wire::Bytes;
using wire::Field;
using wire::FieldReader;
using namespace context_names;

struct Reference {
  bool embedded = false;
  Bytes data;
};

void read_attribute(Bytes attribute, Reference& reference) {
  Bytes name, text;
  int64_t number = 0;
  Field field;
  for (FieldReader reader(attribute); reader.next(field);) {
    if (field.number == wire::field::attribute::kName) name = field.bytes();
    if (field.number == wire::field::attribute::kString) text = field.bytes();
    if (field.number == wire::field::attribute::kInt) number = field.int64();
  }
  if (name == kEmbedMode) reference.embedded = number == 1;
  if (name == kData) reference.data = text;
}

void read_node(Bytes node, std::set<std::string>& names) {
  Bytes op_type, domain;
  Field field;
  for (FieldReader reader(node); reader.next(field);) {
    if (field.number == wire::field::node::kOpType) op_type = field.bytes();
    if (field.number == wire::field::node::kDomain) domain = field.bytes();
  }
  if (op_type != kOpType || domain != kDomain) return;
  Reference reference;
  for (FieldReader reader(node); reader.next(field);)
    if (field.number == wire::field::node::kAttribute) read_attribute(field.bytes(), reference);
  if (!reference.embedded && !reference.data.empty()) names.emplace(reference.data);
}

}  // namespace

Result<std::set<std::string>> weights_named_in(std::string_view model) {
  try {
    std::set<std::string> names;
    bool has_graph = false;
    Field field, part;
    for (FieldReader reader(model); reader.next(field);) {
      if (field.number != wire::field::model::kGraph) continue;
      has_graph = true;
      for (FieldReader graph(field.bytes()); graph.next(part);)
        if (part.number == wire::field::graph::kNode) read_node(part.bytes(), names);
    }
    if (!has_graph) return invalid_model("the model has no graph");
    return names;
  } catch (const protozero::exception& problem) {
    return invalid_model("this is not an ONNX model, or it is damaged: {}", problem.what());
  }
}

}  // namespace tenon

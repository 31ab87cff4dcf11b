#include "onnx/node_maker.h"

#include "weights/source_names.h"

namespace tenon {

namespace {

// Makes the nodes that an ONNX node is read as in a patch.
class Copying {
 public:
  Copying(Patch& patch, const NodeAlone& alone) : patch_(patch), alone_(alone) {}

  std::vector<NodeId> run() {
    std::vector<NodeId> made;
    for (NodeId id : alone_.computing()) {
      const GraphNode& node = alone_.graph().node(id);
      std::vector<ValueId> inputs;
      for (ValueId v : node.inputs) inputs.push_back(value(v));
      const auto results = patch_.ops(node.op, std::move(inputs), node.params, node.outputs.size());
      made.push_back(patch_.graph().value(results[0]).producer);
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != kNone) copies_.emplace(node.outputs[i], results[i]);
    }
    return made;
  }

  ValueId value(ValueId v) {
    if (v == kNone) return kNone;
    if (const ValueId original = alone_.original(v); original != kNone) return original;
    if (const auto it = copies_.find(v); it != copies_.end()) return it->second;
    const Constant* constant = alone_.graph().constant(v);
    return copies_[v] = patch_.literal(constant->tensor, constant->attribute);
  }

 private:
  Patch& patch_;
  const NodeAlone& alone_;
  std::map<ValueId, ValueId> copies_;
};

}  // namespace

NodeMaker::NodeMaker(const ImportedModel& model, NodeAlone::Opsets opsets)
    : opsets_(std::move(opsets)), ir_version_(model.wire.ir_version) {
  for (const wire::Function& f : model.wire.functions)
    functions_.insert(function_key(canonical_domain(f.domain), f.name, f.overload));
}

int64_t NodeMaker::version(std::string_view domain) const {
  const auto it = opsets_.find(std::string(domain));
  return it == opsets_.end() ? 0 : it->second;
}

bool NodeMaker::is_available(const OnnxNode& node) const {
  return version(node.domain) > 0 && !functions_.contains(function_key(node.domain, node.op_type, ""));
}

std::vector<ValueId> NodeMaker::make(Patch& patch, const OnnxNode& node) {
  std::vector<ValueId> results(node.outputs.size(), kNone);
  const auto fail = [&](Status status) {
    patch.fail(std::move(status));
    return results;
  };
  if (!is_available(node)) return fail(unsupported("the model does not import an op named {}", node.op_type));
  if (!patch.graph().wire) return fail(unsupported("the nodes of a function cannot be written as one"));
  NodeAlone alone(patch.graph(), node, opsets_, ir_version_);
  if (Status read = alone.read(); !read.ok()) return fail(std::move(read));
  if (alone.computing().size() != alone.graph().node_count())
    return fail(unsupported("the shapes that {} requires are not known", node.op_type));
  Copying copying(patch, alone);
  Group group;
  group.nodes = copying.run();
  group.slots = node.inputs;
  for (size_t i = 0; i < results.size() && i < alone.results().size(); ++i)
    results[i] = copying.value(alone.results()[i]);
  group.results = results;
  group.wire = keep(node);
  patch.add_group(std::move(group));
  return results;
}

const wire::Node* NodeMaker::keep(const OnnxNode& node) {
  nodes_.push_back(memory_.messages.make_node(node.op_type, node.domain, {}, {}));
  nodes_.back().attributes = node.attributes;
  return &nodes_.back();
}

}  // namespace tenon

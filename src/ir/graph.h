#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ops/op.h"
#include "tensor/type.h"
#include "weights/file_place.h"
#include "wire/onnx_model.h"

namespace tenon {

using NodeId = int32_t;
using ValueId = int32_t;
using ConstantId = int32_t;
inline constexpr int32_t kNone = -1;

// What a rule may look at of its own accord. It is counted in bytes of elements, so that a plan does not depend on
// where a model keeps them: in the message, in typed fields, sparse, in a file beside it, or in the caller's memory.
inline constexpr int64_t kMostAskedBytes = 1024;

// A constant of the model. Shared by all graphs of a model, so a body and its parent can read one weight.
// Its elements stay where they are until somebody needs them.
struct Constant {
  std::string source;  // "scope/name" as the user knows it; empty for constants that import made (axes, sizes)
  DType dtype = DType::Undefined;
  std::vector<int64_t> dims;
  Tensor tensor;                         // the elements, once they were read
  std::function<Result<Tensor>()> load;  // reads, checks and aligns them; empty when they are there from the start
  std::string asker;                     // who decided something by its elements; empty: nobody
  bool from_node = false;                // the value of a Constant node
  // Where the elements lie in the model's file or one beside it; nothing: they do not lie there as they are.
  std::optional<FilePlace> place;

  static Constant of(std::string source, Tensor tensor) {
    return {std::move(source), tensor.dtype(), tensor.dims(), std::move(tensor), nullptr, {}, false, {}};
  }
  Result<Tensor> value() const { return tensor.defined() ? Result<Tensor>(tensor) : load(); }
  // Reads the elements and keeps them.
  Status read();
  // True when rules may look at the elements; those that an op cannot do without are read whatever their size.
  bool may_be_asked() const;
};
using ConstantPool = std::deque<Constant>;  // references stay valid while constants are added

struct GraphValue {
  std::string name;
  Type type;
  NodeId producer = kNone;                // none for inputs, constants and captures
  ConstantId constant = kNone;            // index into the pool
  std::optional<std::vector<Dim>> known;  // elements of a small integer tensor, as far as they are known
  std::vector<ConstantId> known_from;     // the constants that these come from, sorted
};

struct Graph;

struct GraphNode {
  OpId op{};
  Params params;
  std::vector<ValueId> inputs;   // kNone: absent
  std::vector<ValueId> outputs;  // kNone: nobody wants it
  std::vector<std::shared_ptr<Graph>> bodies;
  std::string name;                    // for messages: the ONNX node's name, or one made from op and output
  const wire::Node* origin = nullptr;  // what it was read from
};

struct GraphInput {
  ValueId value = kNone;
  ConstantId default_constant = kNone;  // an initializer that is listed as input
};

struct GraphCapture {
  ValueId outer = kNone;  // a value of the enclosing graph
  ValueId inner = kNone;
};

// Nodes are in data-flow order. Ids are indices and stay valid.
struct Graph {
  std::string name;
  std::deque<GraphValue> values;  // references stay valid while values are added
  std::vector<GraphNode> nodes;
  std::vector<GraphInput> inputs;
  std::vector<ValueId> outputs;
  std::vector<std::string> output_names;
  std::vector<GraphCapture> captures;
  std::shared_ptr<ConstantPool> constants = std::make_shared<ConstantPool>();

  ValueId add_value(std::string name, Type type);
  ValueId add_constant(Constant constant, std::string value_name);
  const GraphValue& value(ValueId v) const { return values[static_cast<size_t>(v)]; }
  GraphValue& value(ValueId v) { return values[static_cast<size_t>(v)]; }
  // The constant that a value is, or null.
  Constant* constant(ValueId v);
  const Constant* constant(ValueId v) const;
  // The elements of a constant that somebody asked for already, or null. For looking only: nothing of the compiled
  // model may follow from them.
  const Tensor* elements_at_hand(ValueId v) const;
  // The elements of a small constant, or null, for deciding what the compiled model does. The asker is remembered, and
  // with it that other values may need another plan. Elements that cannot be read make compiling fail.
  const Tensor* ask(ValueId v, std::string_view asker);
  // The same for a constant of any size, for inputs that an op cannot do without.
  const Tensor* require(ValueId v, std::string_view asker);
  void note_asked(ConstantId id, std::string_view asker);
};

// Types of a node's outputs from those of its inputs, written into the graph's values.
Status infer_node(Graph& graph, GraphNode& node, int& fresh_symbols);

}  // namespace tenon

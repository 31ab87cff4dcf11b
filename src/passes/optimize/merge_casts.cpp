// A Cast of a Cast that loses nothing.
#include "ir/readers.h"
#include "ops/cast.h"
#include "passes/optimize/rules.h"

namespace tenon {

namespace {

constexpr std::string_view kMergeCasts = "merge_casts";

// How integers and binary fractions fit into a type: bits that count, and whether there is a sign.
struct Width {
  int bits = 0, exponent = 0;
  bool is_signed = true;
};

std::optional<Width> width_of(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return Width{1, 0, false};
    case DType::UInt8:
      return Width{8, 0, false};
    case DType::UInt16:
      return Width{16, 0, false};
    case DType::UInt32:
      return Width{32, 0, false};
    case DType::Int8:
      return Width{7, 0, true};
    case DType::Int16:
      return Width{15, 0, true};
    case DType::Int32:
      return Width{31, 0, true};
    case DType::Int64:
      return Width{63, 0, true};
    case DType::Float16:
      return Width{11, 5, true};
    case DType::BFloat16:
      return Width{8, 8, true};
    case DType::Float32:
      return Width{24, 8, true};
    case DType::Float64:
      return Width{53, 11, true};
    default:
      return std::nullopt;
  }
}

// Whether every number of one type is one of the other.
bool keeps_all(DType from, DType to) {
  const auto a = width_of(from), b = width_of(to);
  return a && b && a->bits <= b->bits && a->exponent <= b->exponent && (b->is_signed || !a->is_signed);
}

Attempt match_casts(Graph& graph, NodeId root) {
  const GraphNode& node = graph.node(root);
  const GraphNode* inner = maker(graph, node.inputs[0], OpId::Cast);
  if (!inner) return Attempt::none();
  const DType from = graph.value(inner->inputs[0]).type.dtype, through = graph.value(node.inputs[0]).type.dtype;
  const DType to = graph.value(node.outputs[0]).type.dtype;
  if (!keeps_all(from, through) || !width_of(to)) return Attempt::no("the type between may change its elements");
  if (only_reader(graph, node.inputs[0]) != root) return Attempt::no("something else reads its input as well");
  auto patch = std::make_unique<Patch>(graph, root, kMergeCasts);
  patch->set_reason(fmt::format("{} has every number of {}", dtype_name(through), dtype_name(from)));
  if (from == to)
    patch->forward(node.outputs[0], inner->inputs[0]);
  else
    patch->redefine(node.outputs[0], patch->op(OpId::Cast, {inner->inputs[0]}, node.params));
  return Attempt::of(std::move(patch));
}

}  // namespace

Rule merge_casts() { return {kMergeCasts, {OpId::Cast}, match_casts}; }

}  // namespace tenon

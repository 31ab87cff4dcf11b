#include <algorithm>

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// R and T come before the tensors, their gradients and their states; tensors and states are also results, of which a
// node need not name the last ones. With other numbers of inputs, the op says what is wrong.
template <OpId op, size_t states>
void import_optimizer(ImportNode& n) {
  const std::vector<ValueId>& inputs = n.inputs();
  const size_t tensors = inputs.size() < 2 ? 0 : (inputs.size() - 2) / (2 + states);
  n.finish(n.emit(op, n.read_params(op), inputs, std::max(n.output_count(), tensors * (1 + states))));
}

}  // namespace

#define MAPPED(name, states, ...)                                                                     \
  template <>                                                                                         \
  void onnx_mapping<OpId::name>(OnnxMap & map) {                                                      \
    map.custom(kTrainingDomain, #name, OpId::name, import_optimizer<OpId::name, states>) __VA_ARGS__; \
  }
MAPPED(Adagrad, 1)
MAPPED(Adam, 2)
MAPPED(Momentum, 1, .needs("alpha").needs("beta").needs("mode").needs("norm_coefficient"))
#undef MAPPED

}  // namespace tenon

#include "ops/reduction.h"

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// Before version 18 (13 for ReduceSum) the axes are an attribute.
template <OpId op>
void import_reduction(ImportNode& n) {
  ReductionParams params;
  params.keepdims = n.int_attribute("keepdims", 1) != 0;
  if (n.version() >= (op == OpId::ReduceSum ? 13 : 18)) {
    params.noop_with_empty_axes = n.int_attribute("noop_with_empty_axes", 0) != 0;
    n.finish(n.emit(op, Params::of(params), n.inputs()));
    return;
  }
  std::vector<int64_t> axes = n.ints_attribute("axes");
  const ValueId given = axes.empty() ? kNone : n.int_constant(axes);
  n.finish(n.emit(op, Params::of(params), {n.input(0), given}));
}

}  // namespace

#define MAPPED(name)                                                          \
  template <>                                                                 \
  void onnx_mapping<OpId::name>(OnnxMap & map) {                              \
    map.custom(kOnnxDomain, #name, OpId::name, import_reduction<OpId::name>); \
    map.attribute_inputs(OpId::name, {{1, "axes"}});                          \
  }
MAPPED(ReduceL1)
MAPPED(ReduceL2)
MAPPED(ReduceLogSum)
MAPPED(ReduceLogSumExp)
MAPPED(ReduceMax)
MAPPED(ReduceMean)
MAPPED(ReduceMin)
MAPPED(ReduceProd)
MAPPED(ReduceSum)
MAPPED(ReduceSumSquare)
#undef MAPPED

}  // namespace tenon

// Ops that move or make elements and that are spelled alike in every version.
#include "onnx/node_draft.h"
#include "onnx/ops/constant_numbers.h"
#include "ops/select.h"

namespace tenon {

namespace {

// The contrib op keeps the order of first appearance and has no first indices.
void import_contrib_unique(ImportNode& n) {
  UniqueParams params;
  params.sorted = false;
  const auto results = n.emit(OpId::Unique, Params::of(params), {n.input(0)}, 4);
  n.finish({results[0], results[2], results[3]});
}

// The contrib op may leave out the step.
void import_contrib_range(ImportNode& n) {
  ValueId step = n.input(2);
  const DType dtype = n.type(n.input(0)).dtype;
  const int64_t one64 = 1;
  const int32_t one32 = 1;
  const int16_t one16 = 1;
  if (step == kNone && dtype == DType::Int64) step = n.constant(Tensor::of<int64_t>({}, std::span(&one64, 1)));
  if (step == kNone && dtype == DType::Int32) step = n.constant(Tensor::of<int32_t>({}, std::span(&one32, 1)));
  if (step == kNone && dtype == DType::Int16) step = n.constant(Tensor::of<int16_t>({}, std::span(&one16, 1)));
  if (step == kNone) step = number_constant(n, dtype, 1);
  n.finish(n.emit(OpId::Range, default_params(OpId::Range), {n.input(0), n.input(1), step}));
}

}  // namespace

#define SAME_IN_EVERY_VERSION(name, ...)                  \
  template <>                                             \
  void onnx_mapping<OpId::name>(OnnxMap & map) {          \
    map.same(kOnnxDomain, #name, OpId::name) __VA_ARGS__; \
  }

SAME_IN_EVERY_VERSION(CenterCropPad)
SAME_IN_EVERY_VERSION(Col2Im)
SAME_IN_EVERY_VERSION(Compress)
SAME_IN_EVERY_VERSION(ConstantOfShape)
SAME_IN_EVERY_VERSION(DepthToSpace, .needs("blocksize"))
SAME_IN_EVERY_VERSION(Expand)
SAME_IN_EVERY_VERSION(EyeLike)
SAME_IN_EVERY_VERSION(Flatten)
SAME_IN_EVERY_VERSION(Gather)
SAME_IN_EVERY_VERSION(GatherElements)
SAME_IN_EVERY_VERSION(NonZero)
SAME_IN_EVERY_VERSION(OneHot)
SAME_IN_EVERY_VERSION(ReverseSequence)
SAME_IN_EVERY_VERSION(ScatterND)
SAME_IN_EVERY_VERSION(Size)
SAME_IN_EVERY_VERSION(SpaceToDepth, .needs("blocksize"))
SAME_IN_EVERY_VERSION(TensorScatter)
SAME_IN_EVERY_VERSION(Transpose)

#undef SAME_IN_EVERY_VERSION

template <>
void onnx_mapping<OpId::GatherND>(OnnxMap& map) {
  map.same(kOnnxDomain, "GatherND", OpId::GatherND);
  map.same(kMicrosoftDomain, "GatherND", OpId::GatherND);
}

template <>
void onnx_mapping<OpId::Range>(OnnxMap& map) {
  map.same(kOnnxDomain, "Range", OpId::Range);
  map.custom(kMicrosoftDomain, "Range", OpId::Range, import_contrib_range);
}

// Scatter is what ScatterElements was called before version 11.
template <>
void onnx_mapping<OpId::ScatterElements>(OnnxMap& map) {
  map.same(kOnnxDomain, "ScatterElements", OpId::ScatterElements);
  map.same(kOnnxDomain, "Scatter", OpId::ScatterElements);
  map.way_back(OpId::ScatterElements, kOnnxDomain, "Scatter", [](NodeDraft& d) { return d.version < 11; });
}

template <>
void onnx_mapping<OpId::Trilu>(OnnxMap& map) {
  map.same(kOnnxDomain, "Trilu", OpId::Trilu);
  map.same(kMicrosoftDomain, "Trilu", OpId::Trilu);
}

template <>
void onnx_mapping<OpId::Unique>(OnnxMap& map) {
  map.same(kOnnxDomain, "Unique", OpId::Unique);
  map.custom(kMicrosoftDomain, "Unique", OpId::Unique, import_contrib_unique);
}

}  // namespace tenon

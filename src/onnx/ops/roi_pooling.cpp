#include "ops/roi_pooling.h"

#include "onnx/node_draft.h"

namespace tenon {

namespace {

// Before version 16 coordinates are not shifted by half a pixel.
void import_roi_align(ImportNode& n) {
  auto params = n.read_params<RoiAlignParams>();
  if (n.version() < 16) params.coordinate_transformation_mode = "output_half_pixel";
  n.finish(n.emit(OpId::RoiAlign, Params::of(std::move(params)), n.inputs()));
}

bool write_old_roi_align(NodeDraft& d) {
  d.remove("coordinate_transformation_mode");
  return d.version < 16;
}

}  // namespace

template <>
void onnx_mapping<OpId::RoiAlign>(OnnxMap& map) {
  map.custom(kOnnxDomain, "RoiAlign", OpId::RoiAlign, import_roi_align);
  map.way_back(OpId::RoiAlign, kOnnxDomain, "RoiAlign", write_old_roi_align);
}
template <>
void onnx_mapping<OpId::MaxRoiPool>(OnnxMap& map) {
  map.same(kOnnxDomain, "MaxRoiPool", OpId::MaxRoiPool).needs("pooled_shape");
}

}  // namespace tenon

#include "ops/roi_pooling.h"

#include "onnx/onnx_map.h"

namespace tenon {

namespace {

// Before version 16 coordinates are not shifted by half a pixel.
void import_roi_align(ImportNode& n) {
  auto params = n.read_params<RoiAlignParams>();
  if (n.version() < 16) params.coordinate_transformation_mode = "output_half_pixel";
  n.finish(n.emit(OpId::RoiAlign, Params::of(std::move(params)), n.inputs()));
}

}  // namespace

template <>
void onnx_mapping<OpId::RoiAlign>(OnnxMap& map) {
  map.custom(kOnnxDomain, "RoiAlign", OpId::RoiAlign, import_roi_align);
}
template <>
void onnx_mapping<OpId::MaxRoiPool>(OnnxMap& map) {
  map.same(kOnnxDomain, "MaxRoiPool", OpId::MaxRoiPool);
}

}  // namespace tenon

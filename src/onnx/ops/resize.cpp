#include "ops/resize.h"
#include "onnx/node_draft.h"
#include "ops/grid.h"

namespace tenon {

namespace {

// What Upsample and Resize before version 11 do: output x comes from x / scale.
Params old_params(ImportNode& n) {
  ResizeParams params;
  params.mode = n.string_attribute("mode", "nearest");
  if (params.mode == "bilinear") params.mode = "linear";
  params.coordinate_transformation_mode = "asymmetric";
  params.nearest_mode = "old";
  return Params::of(std::move(params));
}

void import_resize(ImportNode& n) {
  if (n.version() < 11) {
    n.finish(n.emit(OpId::Resize, old_params(n), {n.input(0), kNone, n.input(1)}));
    return;
  }
  auto params = n.read_params<ResizeParams>();
  if (params.nearest_mode == "old") n.fail(invalid_model("unknown nearest_mode 'old'"));
  n.finish(n.emit(OpId::Resize, Params::of(std::move(params)), n.inputs()));
}

// Version 1 scales height and width, version 7 takes all scales as an attribute, version 9 as an input.
void import_upsample(ImportNode& n) {
  Params params = old_params(n);
  ValueId scales;
  if (n.version() < 7) {
    const float list[] = {1, 1, n.float_attribute("height_scale", 1), n.float_attribute("width_scale", 1)};
    scales = n.constant(Tensor::of<float>({4}, list));
  } else if (n.version() < 9) {
    const auto list = n.floats_attribute("scales");
    scales = n.constant(Tensor::of<float>({static_cast<int64_t>(list.size())}, list));
  } else {
    scales = n.input(1);
  }
  n.finish(n.emit(OpId::Resize, std::move(params), {n.input(0), kNone, scales}));
}

// Before version 20, and in the contrib domain, modes are named after two dimensions.
void import_grid_sample(ImportNode& n) {
  auto params = n.read_params<GridSampleParams>();
  if (params.mode == "bilinear") params.mode = "linear";
  if (params.mode == "bicubic") params.mode = "cubic";
  n.finish(n.emit(OpId::GridSample, Params::of(std::move(params)), n.inputs()));
}

// Upsample, and Resize of version 10: all that they know besides the scales is the mode.
bool keep_mode(NodeDraft& d) {
  d.attributes.clear();
  d.set_string("mode", d.params<ResizeParams>().mode);
  return d.inputs.size() == 3;
}

bool write_old_resize(NodeDraft& d) {
  if (d.version >= 11 || !keep_mode(d)) return false;
  d.inputs = {d.inputs[0], d.inputs[2]};
  return true;
}

bool write_upsample(NodeDraft& d) {
  if (d.version >= 10 || !keep_mode(d)) return false;
  d.inputs = {d.inputs[0], d.inputs[2]};
  if (d.version >= 9) return true;
  if (d.version >= 7) return d.move_to_attribute({1, "scales", AttributeInput::Kind::Floats});
  const auto scales = d.constant(1);
  if (!scales || scales->dtype() != DType::Float32 || scales->size() != 4) return false;
  d.set_float("height_scale", scales->as<float>()[2]);
  d.set_float("width_scale", scales->as<float>()[3]);
  if (d.params<ResizeParams>().mode == "linear") d.set_string("mode", "bilinear");
  d.inputs.resize(1);
  return true;
}

bool write_old_grid_sample(NodeDraft& d) {
  if (d.domain.empty() && d.version >= 20) return false;
  const std::string& mode = d.params<GridSampleParams>().mode;
  if (mode != "nearest") d.set_string("mode", mode == "linear" ? "bilinear" : "bicubic");
  return true;
}

}  // namespace

template <>
void onnx_mapping<OpId::Resize>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Resize", OpId::Resize, import_resize);
  map.custom(kOnnxDomain, "Upsample", OpId::Resize, import_upsample);
  map.way_back(OpId::Resize, kOnnxDomain, "Resize", write_old_resize);
  map.way_back(OpId::Resize, kOnnxDomain, "Upsample", write_upsample);
}

template <>
void onnx_mapping<OpId::GridSample>(OnnxMap& map) {
  map.custom(kOnnxDomain, "GridSample", OpId::GridSample, import_grid_sample);
  map.custom(kMicrosoftDomain, "GridSample", OpId::GridSample, import_grid_sample);
  for (std::string_view domain : {kOnnxDomain, kMicrosoftDomain})
    map.way_back(OpId::GridSample, domain, "GridSample", write_old_grid_sample);
}

template <>
void onnx_mapping<OpId::AffineGrid>(OnnxMap& map) {
  map.same(kOnnxDomain, "AffineGrid", OpId::AffineGrid);
}

}  // namespace tenon

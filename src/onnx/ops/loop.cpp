#include "ops/loop.h"
#include "onnx/node_draft.h"

namespace tenon {

namespace {

// Shapes of carried values may change from one iteration to the next.
void import_loop(ImportNode& n) {
  std::vector<Type> types{Type::tensor(DType::Int64), Type::tensor(DType::Bool)};
  for (size_t i = 2; i < n.input_count(); ++i) {
    types.push_back(without_shape(n.type(n.input(i))));
    // A body that takes an optional may begin with a plain value, and the other way round.
    if (types.back().kind != Type::Kind::Tensor) types.back() = Type{};
  }
  auto body = n.body_attribute("body", types);
  const size_t carried = n.input_count() < 2 ? 0 : n.input_count() - 2;
  if (n.status().ok() && body->inputs.size() != carried + 2)
    return n.fail(
        invalid_model("the body takes {} inputs, but it is given the iteration, the condition and {} carried values",
                      body->inputs.size(), carried));
  n.finish(n.emit(OpId::Loop, default_params(OpId::Loop), n.inputs(), n.output_count(), {body}));
}

// A tensor type without one axis.
Type slice_type(const Type& type, int64_t axis) {
  if (!type.is_tensor() || !type.shape) return type;
  Type slice = Type::tensor(type.dtype, type.shape);
  const int64_t rank = static_cast<int64_t>(slice.shape->size()), at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) return Type::tensor(type.dtype);
  slice.shape->erase(slice.shape->begin() + at);
  return slice;
}

bool check_scan_inputs(ImportNode& n, int64_t scanned, int64_t total) {
  if (scanned >= 1 && scanned <= total) return true;
  n.fail(invalid_model("num_scan_inputs is {}, but there are {} inputs", scanned, total));
  return false;
}

void import_batch_scan(ImportNode& n) {
  const auto params = n.read_params<BatchScanParams>();
  const int64_t total = static_cast<int64_t>(n.input_count()) - 1;
  if (!check_scan_inputs(n, params.num_scan_inputs, total)) return;
  std::vector<Type> types;
  for (int64_t i = 0; i < total; ++i) {
    Type type = slice_type(n.type(n.input(static_cast<size_t>(i + 1))), 0);
    types.push_back(i < total - params.num_scan_inputs ? std::move(type) : slice_type(type, 0));
  }
  auto body = n.body_attribute("body", types);
  if (n.status().ok() && static_cast<int64_t>(body->inputs.size()) != total)
    return n.fail(invalid_model("the body takes {} inputs, but {} are given", body->inputs.size(), total));
  n.finish(n.emit(OpId::BatchScan, Params::of(params), n.inputs(), n.output_count(), {body}));
}

void import_scan(ImportNode& n) {
  if (n.version() < 9) return import_batch_scan(n);
  const auto params = n.read_params<ScanParams>();
  const int64_t total = static_cast<int64_t>(n.input_count());
  if (!check_scan_inputs(n, params.num_scan_inputs, total)) return;
  const int64_t carried = total - params.num_scan_inputs;
  std::vector<Type> types;
  for (int64_t i = 0; i < total; ++i) {
    const Type& type = n.type(n.input(static_cast<size_t>(i)));
    const size_t scan = static_cast<size_t>(i - carried);
    const int64_t axis = i >= carried && scan < params.scan_input_axes.size() ? params.scan_input_axes[scan] : 0;
    types.push_back(i < carried ? type : slice_type(type, axis));
  }
  auto body = n.body_attribute("body", types);
  if (n.status().ok() && static_cast<int64_t>(body->inputs.size()) != total)
    return n.fail(invalid_model("the body takes {} inputs, but {} are given", body->inputs.size(), total));
  n.finish(n.emit(OpId::Scan, Params::of(params), n.inputs(), n.output_count(), {body}));
}

}  // namespace

template <>
void onnx_mapping<OpId::Loop>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Loop", OpId::Loop, import_loop);
  map.bodies(OpId::Loop, {"body"});
}

template <>
void onnx_mapping<OpId::Scan>(OnnxMap& map) {
  map.custom(kOnnxDomain, "Scan", OpId::Scan, import_scan);
  map.bodies(OpId::Scan, {"body"});
  map.way_back(OpId::Scan, kOnnxDomain, "Scan", [](NodeDraft& d) { return d.version >= 9; });
}

// What Scan of version 8 does.
template <>
void onnx_mapping<OpId::BatchScan>(OnnxMap& map) {
  map.bodies(OpId::BatchScan, {"body"});
  map.way_back(OpId::BatchScan, kOnnxDomain, "Scan", [](NodeDraft& d) { return d.version < 9; });
}

}  // namespace tenon

// Sub-graphs that run many times. Their bodies are bound when they run, so these rules serve the compiler only, and
// the kernels check again.
#include "ops/loop.h"

#include "ops/infer.h"

namespace tenon {

namespace {

// A value that an iteration hands to the next: what holds before the first and after every iteration.
Result<Type> carried_type(const Type& initial, const Type& next, size_t index) {
  if (initial.kind == Type::Kind::Unknown || initial.kind != next.kind) return next;
  if (initial.dtype != DType::Undefined && next.dtype != DType::Undefined && initial.dtype != next.dtype)
    return invalid_model("the carried value {} starts as {} but becomes {}", index, initial.to_string(),
                         next.to_string());
  return join(initial, next);
}

// The shape of one iteration's result with another axis. Extents that are only known inside stay open.
Type stacked_type(InferContext& c, const Type& part, int64_t axis, const Dim& count) {
  if (!part.shape) return Type::tensor(part.dtype);
  Shape shape;
  for (const Dim& d : *part.shape) shape.push_back(d.is_constant() ? d : c.fresh_symbol());
  const int64_t rank = static_cast<int64_t>(shape.size()) + 1, at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) return Type::tensor(part.dtype);
  shape.insert(shape.begin() + at, count);
  return Type::tensor(part.dtype, std::move(shape));
}

Status check_output_count(const InferContext& c, size_t results, size_t carried) {
  if (results < carried)
    return invalid_model("the body returns {} values, but there are {} carried values", results, carried);
  if (c.output_count() > results)
    return invalid_model("the node has {} outputs, but the body returns {} values", c.output_count(), results);
  return {};
}

Status infer_loop(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kBool));
  const size_t carried = c.input_count() < 2 ? 0 : c.input_count() - 2;
  std::vector<Type> inputs{Type::tensor(DType::Int64), Type::tensor(DType::Bool)};
  for (size_t i = 0; i < carried; ++i) {
    if (!c.has(i + 2)) return invalid_model("the initial value {} is missing", i);
    inputs.push_back(without_shape(c.in(i + 2)));
  }
  TN_ASSIGN_OR_RETURN(auto results, c.infer_body(0, std::move(inputs)));
  if (results.empty()) return invalid_model("the body returns no values, not even the condition");
  results.erase(results.begin());
  TN_RETURN_IF_ERROR(check_output_count(c, results.size(), carried));
  const Dim iterations = c.fresh_symbol();
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (i < carried) {
      TN_ASSIGN_OR_RETURN(Type type, carried_type(c.in(i + 2), results[i], i));
      c.out(i, std::move(type));
    } else {
      c.out(i, stacked_type(c, results[i], 0, iterations));
    }
  }
  return {};
}

Status check_list(const std::vector<int64_t>& list, size_t expected, const char* what, bool is_direction) {
  if (!list.empty() && list.size() != expected)
    return invalid_model("{} has {} entries but needs {}", what, list.size(), expected);
  for (int64_t x : list)
    if (is_direction && x != 0 && x != 1) return invalid_model("{} has the entry {}; it must be 0 or 1", what, x);
  return {};
}

Status infer_scan(InferContext& c) {
  const auto& p = c.params<ScanParams>();
  const int64_t total = static_cast<int64_t>(c.input_count());
  if (p.num_scan_inputs < 1 || p.num_scan_inputs > total)
    return invalid_model("num_scan_inputs is {}, but the node has {} inputs", p.num_scan_inputs, total);
  const size_t scanned = static_cast<size_t>(p.num_scan_inputs), carried = c.input_count() - scanned;
  TN_RETURN_IF_ERROR(check_list(p.scan_input_axes, scanned, "scan_input_axes", false));
  TN_RETURN_IF_ERROR(check_list(p.scan_input_directions, scanned, "scan_input_directions", true));
  TN_ASSIGN_OR_RETURN(auto results, c.infer_body(0, {}));
  TN_RETURN_IF_ERROR(check_output_count(c, results.size(), carried));
  TN_RETURN_IF_ERROR(check_list(p.scan_output_axes, results.size() - carried, "scan_output_axes", false));
  TN_RETURN_IF_ERROR(check_list(p.scan_output_directions, results.size() - carried, "scan_output_directions", true));
  Dim length = c.fresh_symbol();
  if (const Shape* s = c.shape(carried)) {
    TN_ASSIGN_OR_RETURN(int64_t axis, normalize_axis(p.scan_input_axes.empty() ? 0 : p.scan_input_axes[0],
                                                     static_cast<int64_t>(s->size()), "scan_input_axes"));
    length = (*s)[static_cast<size_t>(axis)];
  }
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (i < carried) {
      TN_ASSIGN_OR_RETURN(Type type, carried_type(c.in(i), results[i], i));
      c.out(i, std::move(type));
    } else {
      c.out(i, stacked_type(c, results[i], p.scan_output_axes.empty() ? 0 : p.scan_output_axes[i - carried], length));
    }
  }
  return {};
}

Status infer_batch_scan(InferContext& c) {
  const auto& p = c.params<BatchScanParams>();
  TN_RETURN_IF_ERROR(c.expect_tensor(0, {DType::Int64}));
  const int64_t total = static_cast<int64_t>(c.input_count()) - 1;
  if (p.num_scan_inputs < 1 || p.num_scan_inputs > total)
    return invalid_model("num_scan_inputs is {}, but the node has {} inputs", p.num_scan_inputs, total);
  const size_t scanned = static_cast<size_t>(p.num_scan_inputs), carried = static_cast<size_t>(total) - scanned;
  TN_RETURN_IF_ERROR(check_list(p.directions, scanned, "directions", true));
  TN_ASSIGN_OR_RETURN(auto results, c.infer_body(0, {}));
  TN_RETURN_IF_ERROR(check_output_count(c, results.size(), carried));
  Dim batch = c.fresh_symbol(), length = c.fresh_symbol();
  if (const Shape* s = c.shape(1 + carried); s && s->size() >= 2) {
    batch = (*s)[0];
    length = (*s)[1];
  }
  for (size_t i = 0; i < c.output_count(); ++i) {
    Type type = stacked_type(c, results[i], 0, i < carried ? batch : length);
    if (i >= carried && type.shape) type.shape->insert(type.shape->begin(), batch);
    c.out(i, std::move(type));
  }
  return {};
}

OpDef with_bodies(Status (*infer)(InferContext&)) {
  OpDef def{.inputs = {0, kVariadic}, .outputs = {0, kVariadic}, .infer = infer};
  def.has_bodies = true;
  return def;
}

}  // namespace

template <>
OpDef op_definition<OpId::Loop>() {
  return define<NoParams>(with_bodies(infer_loop));
}

template <>
OpDef op_definition<OpId::Scan>() {
  return define<ScanParams>(with_bodies(infer_scan));
}

template <>
OpDef op_definition<OpId::BatchScan>() {
  return define<BatchScanParams>(with_bodies(infer_batch_scan));
}

}  // namespace tenon

#include "ops/signal_window.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status expect_output(DType dtype) {
  if (kNumbers.has(dtype)) return {};
  return invalid_model("attribute 'output_datatype' is {}; the allowed types are {}", dtype_name(dtype),
                       kNumbers.to_string());
}

// The one integer an input holds, as an extent.
Result<Dim> extent_of(InferContext& c, size_t i, const char* what) {
  TN_RETURN_IF_ERROR(c.expect_tensor(i, kIndex));
  if (const Shape* s = c.shape(i); s && is_static(*s) && !element_count(*s).equals(1))
    return invalid_model("{} must be one number, but its shape is {}", what, shape_text(*s));
  const auto values = c.values(i);
  if (!values) return c.fresh_symbol();
  if (values->size() != 1) return invalid_model("{} must be one number, but {} are given", what, values->size());
  const Dim value = (*values)[0];
  if (value.is_constant() && value.value() < 0)
    return invalid_model("{} is {}; it must not be negative", what, value.value());
  return value;
}

Status infer_window(InferContext& c) {
  const DType dtype = c.params<SignalWindowParams>().output_datatype;
  TN_RETURN_IF_ERROR(expect_output(dtype));
  TN_ASSIGN_OR_RETURN(Dim size, extent_of(c, 0, "the size of a window"));
  c.out(0, dtype, Shape{std::move(size)});
  return {};
}

OpDef window() { return define<SignalWindowParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_window}); }

Status infer_mel(InferContext& c) {
  const DType dtype = c.params<MelWeightMatrixParams>().output_datatype;
  TN_RETURN_IF_ERROR(expect_output(dtype));
  TN_ASSIGN_OR_RETURN(const Dim bins, extent_of(c, 0, "num_mel_bins"));
  TN_ASSIGN_OR_RETURN(const Dim length, extent_of(c, 1, "dft_length"));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kIndex));
  TN_RETURN_IF_ERROR(c.expect_tensor(3, kFloats));
  TN_RETURN_IF_ERROR(c.expect_tensor(4, kFloats));
  for (size_t i : {2, 3, 4})
    if (const Shape* s = c.shape(i); s && is_static(*s) && !element_count(*s).equals(1))
      return invalid_model("input {} must be one number, but its shape is {}", i, shape_text(*s));
  c.out(0, dtype, Shape{floor_div(length, Dim(2)) + Dim(1), bins});
  return {};
}

Status infer_det(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kFloats));
  if (!c.shape(0)) {
    c.out(0, c.dtype(0), std::nullopt);
    return {};
  }
  const Shape& shape = *c.shape(0);
  if (shape.size() < 2) return invalid_model("a determinant needs a matrix, but the input is {}", shape_text(shape));
  const Dim &rows = shape[shape.size() - 2], &columns = shape.back();
  if (rows.is_constant() && columns.is_constant() && !(rows == columns))
    return invalid_model("a determinant needs square matrices, but the input is {}", shape_text(shape));
  c.out(0, c.dtype(0), Shape(shape.begin(), shape.end() - 2));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::HannWindow>() {
  return window();
}

template <>
OpDef op_definition<OpId::HammingWindow>() {
  return window();
}

template <>
OpDef op_definition<OpId::BlackmanWindow>() {
  return window();
}

template <>
OpDef op_definition<OpId::MelWeightMatrix>() {
  return define<MelWeightMatrixParams>({.inputs = {5, 5}, .outputs = {1, 1}, .infer = infer_mel, .can_fail = true});
}

template <>
OpDef op_definition<OpId::Det>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_det});
}

}  // namespace tenon

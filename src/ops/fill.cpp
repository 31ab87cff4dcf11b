// Ops that make tensors from sizes.
#include "ops/fill.h"

#include <cmath>

#include "ops/infer.h"

namespace tenon {

namespace {

constexpr int64_t kMaxPropagated = 64;

// The one element of a number tensor.
std::optional<double> number_of(const Tensor& t) {
  if (t.size() != 1 || t.dtype() == DType::String || is_complex(t.dtype()) || is_sub_byte(t.dtype()))
    return std::nullopt;
  return with_element_type(t.dtype(), [&](auto tag) -> std::optional<double> {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>)
      return std::nullopt;
    else
      return static_cast<double>(t.as<T>()[0]);
  });
}

Status infer_size(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kAnyType));
  c.out(0, DType::Int64, Shape{});
  if (c.shape(0)) c.out_values(0, {element_count(*c.shape(0))});
  return {};
}

Status infer_constant_of_shape(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, {DType::Int64}));
  TN_RETURN_IF_ERROR(c.expect_rank(0, 1));
  const Tensor& value = c.params<ConstantOfShapeParams>().value;
  if (value.defined() && value.size() != 1)
    return invalid_model("value must have one element, but it has {}", value.size());
  const DType dtype = value.defined() ? value.dtype() : DType::Float32;
  auto dims = c.values(0);
  if (!dims) {
    std::optional<Shape> shape;
    if (const Shape* s = c.shape(0); s && (*s)[0].is_constant() && (*s)[0].value() <= kMaxPropagated)
      shape = c.fresh_shape(static_cast<size_t>((*s)[0].value()));
    c.out(0, dtype, std::move(shape));
    return {};
  }
  c.out(0, dtype, *dims);
  const Dim count = dims->size() <= 1 ? element_count(*dims) : Dim(-1);
  const bool few = count.is_constant() && count.value() >= 0 && count.value() <= kMaxPropagated;
  if (!few || (dtype != DType::Int64 && dtype != DType::Int32)) return {};
  const Dim element(dtype == DType::Int64 ? value.as<int64_t>()[0] : value.as<int32_t>()[0]);
  c.out_values(0, std::vector<Dim>(static_cast<size_t>(count.value()), element));
  return {};
}

Status infer_int_range(InferContext& c) {
  auto start = c.values(0), limit = c.values(1), delta = c.values(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) {
    c.out(0, c.dtype(0), Shape{c.fresh_symbol()});
    return {};
  }
  const Dim first = (*start)[0], step = (*delta)[0], span = (*limit)[0] - first;
  if (step.equals(0)) return invalid_model("delta must not be 0");
  Dim count = ceil_div(span, step);
  // A plain symbol is never negative, so a range from 0 needs no maximum.
  if (!(step.equals(1) && span.as_symbol())) count = max(count, Dim(0));
  c.out(0, c.dtype(0), Shape{count});
  if (!count.is_constant() || count.value() > kMaxPropagated) return {};
  std::vector<Dim> values;
  for (int64_t i = 0; i < count.value(); ++i) values.push_back(first + Dim(i) * step);
  c.out_values(0, std::move(values));
  return {};
}

Status infer_float_range(InferContext& c) {
  const Tensor *start = c.constant(0), *limit = c.constant(1), *delta = c.constant(2);
  if (!start || !limit || !delta) {
    c.out(0, c.dtype(0), Shape{c.fresh_symbol()});
    return {};
  }
  const auto first = number_of(*start), last = number_of(*limit), step = number_of(*delta);
  if (!first || !last || !step) return invalid_model("start, limit and delta must be single numbers");
  if (*step == 0) return invalid_model("delta must not be 0");
  const double count = std::ceil((*last - *first) / *step);
  if (!std::isfinite(count) || count > 1e15)
    return error(Code::ResourceLimit, "a range from {} to {} in steps of {} has too many elements", *first, *last,
                 *step);
  c.out(0, c.dtype(0), Shape{Dim(count > 0 ? static_cast<int64_t>(count) : 0)});
  return {};
}

Status infer_range(InferContext& c) {
  constexpr TypeSet allowed = kFloats | TypeSet{DType::Int16, DType::Int32, DType::Int64};
  for (size_t i = 0; i < 3; ++i) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, allowed));
    TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
    if (c.shape(i) && is_static(*c.shape(i)) && !element_count(*c.shape(i)).equals(1))
      return invalid_model("input {} must be one number, but it is {}", i, c.in(i).to_string());
  }
  return is_integer(c.dtype(0)) ? infer_int_range(c) : infer_float_range(c);
}

// The depth as an extent: symbolic when it comes from a shape, an integer when it is a constant of any type.
Result<Dim> depth_extent(InferContext& c) {
  if (c.dtype(1) == DType::Int64 || c.dtype(1) == DType::Int32) {
    if (auto values = c.values(1); values && values->size() == 1) return (*values)[0];
    return c.fresh_symbol();
  }
  const Tensor* t = c.constant(1);
  if (!t) return c.fresh_symbol();
  const auto number = number_of(*t);
  if (!number || !(*number > -1) || *number > 1e15)
    return invalid_model("the depth must be one number and must not be negative");
  return Dim(static_cast<int64_t>(*number));
}

Status infer_one_hot(InferContext& c) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, kNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(1, kNumbers));
  TN_RETURN_IF_ERROR(c.expect_tensor(2, kAnyType));
  if (c.shape(1) && is_static(*c.shape(1)) && !element_count(*c.shape(1)).equals(1))
    return invalid_model("the depth must be one number, but it is {}", c.in(1).to_string());
  if (c.shape(2) && is_static(*c.shape(2)) && !element_count(*c.shape(2)).equals(2))
    return invalid_model("values must hold the off value and the on value, but it is {}", c.in(2).to_string());
  const Shape* indices = c.shape(0);
  if (!indices) {
    c.out(0, c.dtype(2), std::nullopt);
    return {};
  }
  TN_ASSIGN_OR_RETURN(int64_t axis,
                      normalize_axis(c.params<OneHotParams>().axis, static_cast<int64_t>(indices->size()) + 1));
  TN_ASSIGN_OR_RETURN(Dim depth, depth_extent(c));
  if (depth.is_constant() && depth.value() < 0) return invalid_model("the depth {} is negative", depth.value());
  Shape shape = *indices;
  shape.insert(shape.begin() + axis, depth);
  c.out(0, c.dtype(2), std::move(shape));
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::Size>() {
  return define<NoParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_size});
}

template <>
OpDef op_definition<OpId::ConstantOfShape>() {
  return define<ConstantOfShapeParams>({.inputs = {1, 1}, .outputs = {1, 1}, .infer = infer_constant_of_shape});
}

template <>
OpDef op_definition<OpId::Range>() {
  return define<NoParams>({.inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_range});
}

template <>
OpDef op_definition<OpId::OneHot>() {
  return define<OneHotParams>({.inputs = {3, 3}, .outputs = {1, 1}, .infer = infer_one_hot});
}

}  // namespace tenon

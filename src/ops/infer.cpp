#include "ops/infer.h"

#include <algorithm>

#include "tensor/max_rank.h"
#include "tensor/nesting.h"

namespace tenon {

namespace {
constexpr TypeSet kEveryType = kAnyType;
}

std::string TypeSet::to_string() const {
  std::string text;
  for (int code = 1; code < 32; ++code)
    if (bits_ >> code & 1) text += (text.empty() ? "" : ", ") + std::string(dtype_name(static_cast<DType>(code)));
  return text;
}

const Type& InferContext::in(size_t i) const {
  static const Type unknown;
  return has(i) ? *inputs_[i] : unknown;
}

std::optional<int64_t> InferContext::rank(size_t i) const {
  const Shape* s = shape(i);
  return s ? std::optional(static_cast<int64_t>(s->size())) : std::nullopt;
}

std::optional<std::vector<int64_t>> InferContext::ints(size_t i) {
  auto dims = values(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> result;
  for (const Dim& d : *dims) {
    if (!d.is_constant()) return std::nullopt;
    result.push_back(d.value());
  }
  return result;
}

Shape InferContext::fresh_shape(size_t rank) {
  Shape s;
  for (size_t i = 0; i < rank; ++i) s.push_back(fresh_symbol());
  return s;
}

Status InferContext::expect_tensor(size_t i, TypeSet allowed) const {
  if (!has(i) || in(i).kind == Type::Kind::Unknown) return {};
  if (!in(i).is_tensor()) return invalid_model("input {} must be a tensor, but it is {}", i, in(i).to_string());
  if (dtype(i) == DType::Undefined || allowed.has(dtype(i))) return {};
  return invalid_model("input {} is {}; the allowed types are {}", i, dtype_name(dtype(i)), allowed.to_string());
}

Status InferContext::expect_rank(size_t i, int64_t expected) const {
  TN_RETURN_IF_ERROR(expect_tensor(i, kEveryType));
  auto r = rank(i);
  if (!r || *r == expected) return {};
  return invalid_model("input {} must have rank {}, but it is {}", i, expected, in(i).to_string());
}

Status InferContext::expect_same_dtype(size_t i, size_t j) const {
  TN_RETURN_IF_ERROR(expect_tensor(i, kEveryType));
  TN_RETURN_IF_ERROR(expect_tensor(j, kEveryType));
  if (!has(i) || !has(j) || dtype(i) == DType::Undefined || dtype(j) == DType::Undefined || dtype(i) == dtype(j))
    return {};
  return invalid_model("inputs {} and {} must have the same element type, but they are {} and {}", i, j,
                       dtype_name(dtype(i)), dtype_name(dtype(j)));
}

namespace {

Status check_arity(const InferContext& c, const OpDef& def) {
  const int inputs = static_cast<int>(c.input_count()), outputs = static_cast<int>(c.output_count());
  if (inputs > def.inputs.max)
    return invalid_model("{} takes at most {} inputs, but {} are given", def.name, def.inputs.max, inputs);
  for (int i = 0; i < def.inputs.min; ++i)
    if (!c.has(static_cast<size_t>(i))) return invalid_model("{} needs input {}, which is missing", def.name, i);
  if (outputs > def.outputs.max)
    return invalid_model("{} has at most {} outputs, but {} are named", def.name, def.outputs.max, outputs);
  return {};
}

Status check_type(const Type& outer, size_t output) {
  TN_RETURN_IF_ERROR(check_nesting(outer).in(fmt::format("output {}", output)));
  const Type* inner = &outer;
  while (inner->element) inner = inner->element.get();
  const Type& type = *inner;
  if (!type.shape) return {};
  if (type.shape->size() > kMaxRank)
    return error(Code::ResourceLimit, "output {} would have {} dimensions; the limit is {}", output, type.shape->size(),
                 kMaxRank);
  // Strides are products of the other dims, so these must fit even when a zero makes the tensor empty.
  Dim product(1);
  for (const Dim& d : *type.shape) {
    if (!d.equals(0)) product = product * d;
    if (d.is_invalid()) return invalid_model("a dimension of output {} is too large", output);
    if (d.is_constant() && d.value() < 0)
      return invalid_model("output {} would have the shape {}, which has a negative dimension", output,
                           shape_text(*type.shape));
  }
  if (product.is_invalid())
    return invalid_model("output {} of shape {} has too many elements", output, shape_text(*type.shape));
  return {};
}

}  // namespace

Status infer_op(InferContext& c) {
  const OpDef& def = op_def(c.op());
  TN_RETURN_IF_ERROR(check_arity(c, def));
  TN_RETURN_IF_ERROR(def.infer(c));
  for (size_t i = 0; i < c.output_count(); ++i) TN_RETURN_IF_ERROR(check_type(c.outputs()[i], i));
  return {};
}

Result<int64_t> normalize_axis(int64_t axis, int64_t rank, const char* what) {
  if (axis < -rank || axis >= rank)
    return invalid_model("{} {} is out of range for a tensor of rank {}", what, axis, rank);
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> normalize_axes(std::span<const int64_t> axes, int64_t rank, const char* what) {
  std::vector<int64_t> result;
  for (int64_t axis : axes) {
    TN_ASSIGN_OR_RETURN(int64_t a, normalize_axis(axis, rank, what));
    result.push_back(a);
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    return invalid_model("{} names an axis twice", what);
  return result;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape result(rank);
  for (size_t i = 0; i < rank; ++i) {
    const Dim x = i + a.size() < rank ? Dim(1) : a[i + a.size() - rank];
    const Dim y = i + b.size() < rank ? Dim(1) : b[i + b.size() - rank];
    if (x == y || y.equals(1)) {
      result[i] = x;
    } else if (x.equals(1)) {
      result[i] = y;
    } else if (x.is_constant() && y.is_constant()) {
      return invalid_model("the shapes {} and {} cannot be broadcast together", shape_text(a), shape_text(b));
    } else if (x.is_constant()) {
      result[i] = x;  // the other must be 1 or equal to it
    } else if (y.is_constant()) {
      result[i] = y;
    } else {
      result[i] = max(x, y);
    }
  }
  return result;
}

Status infer_same_as_input(InferContext& c, TypeSet allowed) {
  TN_RETURN_IF_ERROR(c.expect_tensor(0, allowed));
  c.out(0, c.in(0));
  return {};
}

}  // namespace tenon

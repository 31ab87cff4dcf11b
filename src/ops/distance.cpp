#include "ops/distance.h"

#include "ops/infer.h"

namespace tenon {

namespace {

Status infer_cdist(InferContext& c) {
  const std::string& metric = c.params<CDistParams>().metric;
  if (metric != "euclidean" && metric != "sqeuclidean")
    return unsupported("the metric is '{}'; it must be 'euclidean' or 'sqeuclidean'", metric);
  for (size_t i : {0, 1}) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, {DType::Float32, DType::Float64}));
    TN_RETURN_IF_ERROR(c.expect_rank(i, 2));
  }
  TN_RETURN_IF_ERROR(c.expect_same_dtype(0, 1));
  const Shape *a = c.shape(0), *b = c.shape(1);
  if (a && b && (*a)[1].is_constant() && (*b)[1].is_constant() && !((*a)[1] == (*b)[1]))
    return invalid_model("the rows of A have {} elements, but those of B have {}", (*a)[1].value(), (*b)[1].value());
  c.out(0, c.dtype(0), Shape{a ? (*a)[0] : c.fresh_symbol(), b ? (*b)[0] : c.fresh_symbol()});
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::CDist>() {
  return define<CDistParams>({.inputs = {2, 2}, .outputs = {1, 1}, .infer = infer_cdist});
}

}  // namespace tenon

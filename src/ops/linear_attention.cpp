#include "ops/attention.h"

#include <algorithm>

#include "ops/shape_checks.h"

namespace tenon {

namespace {

Status check_params(const LinearAttentionParams& p) {
  if (p.update_rule != "linear" && p.update_rule != "gated" && p.update_rule != "delta" &&
      p.update_rule != "gated_delta")
    return invalid_model("update_rule is '{}'; it must be 'linear', 'gated', 'delta' or 'gated_delta'", p.update_rule);
  if (p.q_num_heads < 1 || p.kv_num_heads < 1)
    return invalid_model("q_num_heads is {} and kv_num_heads is {}; both must be positive", p.q_num_heads,
                         p.kv_num_heads);
  if (p.q_num_heads % p.kv_num_heads != 0 && p.kv_num_heads % p.q_num_heads != 0)
    return invalid_model("the {} query heads are not a multiple of the {} key heads", p.q_num_heads, p.kv_num_heads);
  return check_state_window(p.state_window);
}

Result<Dim> per_head(const Dim& features, int64_t heads, const char* what) {
  if (features.is_constant() && features.value() % heads != 0)
    return invalid_model("{} has {} features, which cannot be divided evenly among {} heads", what, features.value(),
                         heads);
  return floor_div(features, Dim(heads));
}

// Heads of the key may serve several heads of the value each.
Status check_key_heads(const Shape& key, const Dim& head, int64_t kv_heads) {
  const Dim& features = key.back();
  if (!features.is_constant() || !head.is_constant()) return {};
  if (head.equals(0) && features.equals(0)) return {};
  const bool whole = !head.equals(0) && features.value() > 0 && features.value() % head.value() == 0;
  if (whole && kv_heads % (features.value() / head.value()) == 0) return {};
  return invalid_model("a key of shape {} cannot be divided into heads of {} features that {} value heads can share",
                       shape_text(key), head.value(), kv_heads);
}

// [batch, time, one of these widths].
Status check_gate(InferContext& c, size_t i, const char* what, std::initializer_list<Dim> widths) {
  const Shape *gate = c.shape(i), &q = *c.shape(0);
  if (!gate) return {};
  bool fits = gate->size() == 3 && !differ((*gate)[0], q[0]) && !differ((*gate)[1], q[1]), width_fits = false;
  for (const Dim& width : widths) width_fits |= fits && !differ((*gate)[2], width);
  if (width_fits) return {};
  return invalid_model("{} of shape {} does not match a query of shape {}", what, shape_text(*gate), shape_text(q));
}

Status check_inputs(InferContext& c, const LinearAttentionParams& p) {
  for (size_t i = 0; i < 6; ++i) {
    TN_RETURN_IF_ERROR(c.expect_tensor(i, kFloats));
    if (i != 3) TN_RETURN_IF_ERROR(c.expect_same_dtype(0, i));
  }
  for (size_t i = 0; i < 3; ++i) TN_RETURN_IF_ERROR(c.expect_rank(i, 3));
  if (p.gated() && !c.has(4)) return invalid_model("update_rule '{}' needs the input 'decay'", p.update_rule);
  if (p.corrects() && !c.has(5)) return invalid_model("update_rule '{}' needs the input 'beta'", p.update_rule);
  return {};
}

Status infer_linear_attention(InferContext& c) {
  const auto& p = c.params<LinearAttentionParams>();
  TN_RETURN_IF_ERROR(check_params(p));
  TN_RETURN_IF_ERROR(check_inputs(c, p));
  const DType state_type = c.has(3) ? c.dtype(3) : c.dtype(0);
  if (!c.shape(0) || !c.shape(1) || !c.shape(2)) {
    c.out(0, c.dtype(0), std::nullopt);
    c.out(1, state_type, std::nullopt);
    return {};
  }
  const Shape &q = *c.shape(0), &k = *c.shape(1), &v = *c.shape(2);
  TN_ASSIGN_OR_RETURN(Dim key_head, per_head(q[2], p.q_num_heads, "query"));
  TN_ASSIGN_OR_RETURN(Dim value_head, per_head(v[2], p.kv_num_heads, "value"));
  const Dim kv_heads(p.kv_num_heads);
  TN_RETURN_IF_ERROR(check_gate(c, 1, "key", {k[2]}));
  TN_RETURN_IF_ERROR(check_key_heads(k, key_head, p.kv_num_heads));
  TN_RETURN_IF_ERROR(check_gate(c, 2, "value", {v[2]}));
  if (differ(k[1], v[1])) return invalid_model("key and value have different lengths");
  TN_RETURN_IF_ERROR(check_gate(c, 4, "decay", {kv_heads, key_head * kv_heads}));
  TN_RETURN_IF_ERROR(check_gate(c, 5, "beta", {kv_heads, Dim(1)}));
  Shape state{q[0], kv_heads, key_head, value_head};
  if (p.state_window > 0) state.insert(state.begin(), Dim(p.state_window));
  TN_RETURN_IF_ERROR(expect_shape(c, 3, "past_state", state));
  c.out(0, c.dtype(0), Shape{q[0], q[1], value_head * Dim(std::max(p.q_num_heads, p.kv_num_heads))});
  c.out(1, state_type, state);
  return {};
}

}  // namespace

template <>
OpDef op_definition<OpId::LinearAttention>() {
  return define<LinearAttentionParams>({.inputs = {3, 6}, .outputs = {1, 2}, .infer = infer_linear_attention});
}

}  // namespace tenon

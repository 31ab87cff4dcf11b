#include <algorithm>

#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "onnx/ops/required_shapes.h"
#include "ops/einsum.h"
#include "ops/gemm.h"

namespace tenon {

namespace {

// One operand with its axes as the product wants them. `batch` moves the first axis behind the others but the last,
// `matrix` then swaps the last two.
ValueId oriented(ImportNode& n, ValueId x, bool batch, bool matrix) {
  if (!batch && !matrix) return x;
  const auto rank = n.rank(x);
  if (!rank) {
    const char* equation = batch && matrix ? "i...j->...ji" : batch ? "i...j->...ij" : "...ij->...ji";
    return n.emit1(OpId::Einsum, Params::of(EinsumParams{equation}), {x});
  }
  if (*rank < 2) return x;  // a vector stays a vector
  std::vector<int64_t> perm;
  for (int64_t axis = 0; axis < *rank; ++axis) perm.push_back(axis);
  if (batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (matrix) std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
  return emit::transpose(n, x, std::move(perm));
}

void import_fused_matmul(ImportNode& n) {
  const auto flag = [&](const char* name) { return n.int_attribute(name, 0) != 0; };
  const bool batch_a = flag("transBatchA"), a = flag("transA"), batch_b = flag("transBatchB"), b = flag("transB");
  const ValueId left = oriented(n, n.input(0), batch_a, a), right = oriented(n, n.input(1), batch_b, b);
  n.finish({emit::scale(n, emit::plain(n, OpId::MatMul, left, right), n.float_attribute("alpha", 1))});
}

void import_fused_gemm(ImportNode& n) {
  const auto number = [&](const char* name) {
    return n.has_attribute(name) ? std::optional(n.float_attribute(name, 0)) : std::nullopt;
  };
  emit::Activation activation{n.string_attribute("activation", ""), number("activation_alpha"),
                              number("activation_beta"), number("activation_gamma")};
  if (n.has_attribute("leaky_relu_alpha")) activation.alpha = n.float_attribute("leaky_relu_alpha", 0);
  const ValueId product = n.emit1(OpId::Gemm, n.read_params(OpId::Gemm), n.inputs());
  n.finish({emit::activation(n, product, activation)});
}

// Inputs of a product of integers by their numbers; absent ones are behind the last.
struct ScaledProductInputs {
  size_t b, b_scale, b_zero, bias;
};

// One number for A, and one for B or for each of its columns: others would broadcast over the product.
void require_scaled_product(ImportNode& n, const ScaledProductInputs& at, std::vector<RequiredShape> of_a) {
  const std::string per_column = "[] or [1|columns] or [outer..., 1, columns]";
  of_a.push_back({n.input(0), "A", "[..., depth]"});
  of_a.push_back({n.input(at.b), "B", "[depth] or [outer..., depth, columns]"});
  of_a.push_back({n.input(at.b_scale), "b_scale", per_column});
  of_a.push_back({n.input(at.b_zero), "b_zero_point", per_column});
  of_a.push_back({n.input(at.bias), "bias", "[columns]"});
  require_shapes(n, of_a);
}

void import_matmul_integer_to_float(ImportNode& n) {
  const std::string single = "[] or [1]";
  require_scaled_product(n, {.b = 1, .b_scale = 3, .b_zero = 5, .bias = 6},
                         {{n.input(2), "a_scale", single}, {n.input(4), "a_zero_point", single}});
  n.finish(
      {emit::scaled_product(n, {n.input(0), n.input(1), n.input(4), n.input(5)}, n.input(2), n.input(3), n.input(6))});
}

void import_dynamic_quantize_matmul(ImportNode& n) {
  require_scaled_product(n, {.b = 1, .b_scale = 2, .b_zero = 3, .bias = 4}, {});
  const auto a = n.emit(OpId::DynamicQuantizeLinear, default_params(OpId::DynamicQuantizeLinear), {n.input(0)}, 3);
  n.finish({emit::scaled_product(n, {a[0], n.input(1), a[2], n.input(3)}, a[1], n.input(2), n.input(4))});
}

// Products of 16-bit numbers fit into 32 bits; sums may wrap.
void import_matmul_integer16(ImportNode& n) {
  const DType a = n.type(n.input(0)).dtype, b = n.type(n.input(1)).dtype;
  for (DType dtype : {a, b})
    if (dtype != DType::Int16 && dtype != DType::UInt16)
      return n.fail(invalid_model("an operand is {}; it must be int16 or uint16", dtype_name(dtype)));
  const DType wide = a == DType::UInt16 && b == DType::UInt16 ? DType::UInt32 : DType::Int32;
  n.finish({emit::plain(n, OpId::MatMul, emit::cast(n, n.input(0), wide), emit::cast(n, n.input(1), wide))});
}

}  // namespace

void map_microsoft_matmuls(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "FusedMatMul", OpId::MatMul, import_fused_matmul);
  map.custom(kMicrosoftDomain, "TransposeMatMul", OpId::MatMul, import_fused_matmul);
  map.custom(kMicrosoftDomain, "FusedGemm", OpId::Gemm, import_fused_gemm);
  map.custom(kMicrosoftDomain, "MatMulIntegerToFloat", OpId::MatMulInteger, import_matmul_integer_to_float);
  map.custom(kMicrosoftDomain, "DynamicQuantizeMatMul", OpId::MatMulInteger, import_dynamic_quantize_matmul);
  map.custom(kMicrosoftDomain, "MatMulInteger16", OpId::MatMul, import_matmul_integer16);
}

}  // namespace tenon

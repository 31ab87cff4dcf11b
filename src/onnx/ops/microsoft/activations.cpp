#include "ops/activation.h"

#include "onnx/node_draft.h"
#include "onnx/ops/microsoft/emit.h"
#include "onnx/ops/microsoft/fusions.h"
#include "ops/split.h"

namespace tenon {

namespace {

ValueId gelu(ImportNode& n, ValueId x, const char* approximate) {
  return n.emit1(OpId::Gelu, Params::of(GeluParams{approximate}), {x});
}

// Gelu, BiasGelu: exact. FastGelu: by tanh, and its bias may be absent.
void import_gelu(ImportNode& n) { n.finish({gelu(n, n.input(0), "none")}); }
void import_bias_gelu(ImportNode& n) { n.finish({gelu(n, emit::add(n, n.input(0), n.input(1)), "none")}); }
void import_fast_gelu(ImportNode& n) { n.finish({gelu(n, emit::add(n, n.input(0), n.input(1)), "tanh")}); }

void import_quick_gelu(ImportNode& n) { n.finish({emit::swish(n, n.input(0), n.float_attribute("alpha", 1.702f))}); }

// SiLU of scale * X, rounded to X's type after every step. The scale is an input or an attribute.
void import_scaled_silu(ImportNode& n) {
  const float alpha = n.float_attribute("alpha", 1);
  const ValueId x = n.input(0), factor = n.input(1);
  ValueId scaled;
  if (factor == kNone) {
    scaled = emit::scale(n, x, alpha);
  } else {
    const DType dtype = n.type(x).dtype, wide = n.type(factor).dtype;
    if (dtype == DType::Undefined || wide == DType::Undefined)
      return n.fail(unsupported("ScaledSiLU needs inputs of a known type"));
    scaled = emit::cast(n, emit::plain(n, OpId::Mul, emit::cast(n, x, wide), factor), dtype);
  }
  n.finish({emit::plain(n, OpId::Mul, scaled, emit::plain(n, OpId::Sigmoid, scaled))});
}

bool write_fast_gelu(NodeDraft& d) {
  d.remove("approximate");
  return true;
}

bool write_quick_gelu(NodeDraft& d) {
  d.set_float("alpha", d.params<SwishParams>().alpha);
  return true;
}

// The left half of X + bias, gated by the right one.
void import_bias_split_gelu(ImportNode& n) {
  SplitParams halves;
  halves.axis = -1;
  const ValueId sum = emit::add(n, n.input(0), n.input(1));
  const auto parts = n.emit(OpId::Split, Params::of(halves), {sum}, 2);
  n.finish({emit::plain(n, OpId::Mul, parts[0], gelu(n, parts[1], "none"))});
}

void import_bias_add(ImportNode& n) { n.finish({emit::add(n, emit::add(n, n.input(0), n.input(1)), n.input(2))}); }

// Which axes the bias is repeated along shows in its shape.
void import_bias_softmax(ImportNode& n) {
  n.ignore_attribute("is_inner_broadcast");
  const int64_t axis = n.int_attribute("axis", 1);
  n.finish({emit::softmax_from(n, emit::add(n, n.input(0), n.input(1)), axis)});
}

}  // namespace

void map_microsoft_activations(OnnxMap& map) {
  map.custom(kMicrosoftDomain, "Gelu", OpId::Gelu, import_gelu);
  map.custom(kMicrosoftDomain, "BiasGelu", OpId::Gelu, import_bias_gelu);
  map.custom(kMicrosoftDomain, "FastGelu", OpId::Gelu, import_fast_gelu);
  map.custom(kMicrosoftDomain, "QuickGelu", OpId::Swish, import_quick_gelu);
  map.way_back(OpId::Gelu, kMicrosoftDomain, "FastGelu", write_fast_gelu);
  map.way_back(OpId::Swish, kMicrosoftDomain, "QuickGelu", write_quick_gelu);
  map.custom(kMicrosoftDomain, "ScaledSiLU", OpId::Sigmoid, import_scaled_silu);
  map.custom(kMicrosoftDomain, "BiasSplitGelu", OpId::Gelu, import_bias_split_gelu);
  map.custom(kMicrosoftDomain, "BiasAdd", OpId::Add, import_bias_add);
  map.custom(kMicrosoftDomain, "BiasSoftmax", OpId::Softmax, import_bias_softmax);
}

}  // namespace tenon

"""Models that look like what a rule rewrites, and are something else."""

import numpy as np

from .activation_cases import GELU, SCALARS
from .attention_cases import HEADS, ROOT
from .cleanup_cases import INTS, SCALE, TURN
from .normalization_cases import ROWS, XS
from .product_cases import IMAGE, KERNEL, MATRIX
from .rule_case import RuleCase

X = {"x": "float[2, 3, 4]"}
ATTENTION = "t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) d = Div(s, root) "


def near(capability, what, nodes, inputs, weights=None, **more):
    return RuleCase(capability, nodes, inputs, {}, weights or {}, name=f"{capability} with {what}", **more)


NEAR_MISSES = [
    near("fuse-gelu", "another root", GELU, X, {**SCALARS, "root": np.float32(1.5)}),
    near("fuse-gelu", "a root that is rounded", GELU, X, {**SCALARS, "root": np.float32(1.4142)}),
    near("fuse-quick-gelu", "16 bits", "s = Sigmoid(x) y = Mul(x, s)", {"x": "float16[4]"}, outputs={"y": "float16"}),
    near("fuse-quick-gelu", "two values", "a = Neg(x) s = Sigmoid(a) y = Mul(x, s)", X),
    near("fuse-bias-gelu", "a bias of two axes", "a = Add(x, b) y = com.microsoft.Gelu(a)", X, {"b": (3, 4)}),
    near("fuse-skip-layer-norm", "a skip that is repeated", "a = Add(x, skip) y = LayerNormalization(a, gamma, beta)",
         {**XS, "skip": "float[1, 3, 8]"}, ROWS),
    near("fuse-conv-add", "a summand for each column", "c = Conv(x, w) y = Add(c, s)", IMAGE, {**KERNEL, "s": (4, 1, 4)}),
    near("fuse-conv-mul", "a factor that is computed", "f = Exp(z) c = Conv(x, w) y = Mul(c, f)",
         {**IMAGE, "z": "float[4, 1, 1]"}, KERNEL),
    near("fuse-conv-activation", "an activation that the op does not know", "c = Conv(x, w) y = Softplus(c)", IMAGE, KERNEL),
    near("fuse-gemm-activation", "a Clip", "c = Gemm(x, w) y = Clip(c, low, high)", MATRIX,
         {"w": (6, 3), "low": np.float32(0), "high": np.float32(6)}),
    near("fuse-matmul-add", "a sum of more axes", "c = MatMul(x, w) y = Add(c, b)", MATRIX, {"w": (6, 3), "b": (2, 1, 3)}),
    near("fuse-matmul-transpose", "another order", "t = Transpose<perm = [1, 2, 0]>(z) y = MatMul(x, t)",
         {"x": "float[2, 5, 6]", "z": "float[3, 2, 6]"}),
    near("fuse-pad", "another number", "p = Pad(x, pads, one) y = Conv(p, w)", IMAGE,
         {**KERNEL, "pads": INTS(0, 0, 1, 1, 0, 0, 1, 1), "one": np.float32(1)}),
    near("fuse-pad", "zeros before a MaxPool", "p = Pad(x, pads) y = MaxPool<kernel_shape = [2, 2]>(p)", IMAGE,
         {"pads": INTS(0, 0, 1, 1, 0, 0, 1, 1)}),
    near("fuse-pad", "channels", "p = Pad(x, pads) y = Conv(p, w)", {"x": "float[1, 2, 6, 6]"},
         {**KERNEL, "pads": INTS(0, 1, 0, 0, 0, 0, 0, 0)}),
    near("merge-casts", "a narrower type", "a = Cast<to = 10>(x) y = Cast<to = 1>(a)", X),
    near("merge-casts", "a type without a sign", "a = Cast<to = 12>(x) y = Cast<to = 1>(a)", {"x": "int8[3]"}),
    near("merge-reshapes", "an extent that is copied", "a = Reshape(x, p) y = Reshape(a, q)", X,
         {"p": INTS(6, 4), "q": INTS(0, 2, 2)}),
    near("merge-reshapes", "a Transpose that moves elements", "a = Transpose<perm = [1, 0, 2]>(x) y = Reshape(a, q)", X,
         {"q": INTS(24)}),
    near("merge-slices", "a negative step", "a = Slice(x, last, least, axis, last) y = Slice(a, zero, two, axis)", X,
         {"last": INTS(-1), "least": INTS(-100), "axis": INTS(1), "zero": INTS(0), "two": INTS(2)}),
    near("slices-to-split", "an overlap", "a = Slice(x, zero, two, axis) b = Slice(x, one, big, axis) y = Concat<axis = 2>(a, b)",
         X, {"zero": INTS(0), "one": INTS(1), "two": INTS(2), "big": INTS(9), "axis": INTS(2)}),
    near("simplify-concat", "parts in another order", "a, b = Split<axis = 2>(x) y = Concat<axis = 2>(b, a)", X),
    near("sink-transposes", "a vector", f"a = {TURN}(x) b = Add(a, v) y = {TURN}(b)", X, {"v": (3,)}),
    near("merge-clips", "limits that leave one number", "a = Clip(x, low, high) y = Relu(a)", X,
         {"low": np.float32(-2), "high": np.float32(-1)}),
    near("multiply-by-inverse", "zero", "y = Div(x, s)", X, {"s": np.float32(0)}),
    near("remove-requantize", "another scale", "a = DequantizeLinear(x, t, z) q = QuantizeLinear(a, s, z) y = Cast<to = 1>(q)",
         {"x": "uint8[20]"}, {**SCALE, "t": np.float32(0.04)}),
    near("fuse-attention", "scores along the queries", ATTENTION + "p = Softmax<axis = 2>(d) y = MatMul(p, v)", HEADS, ROOT,
         opset=23),
    near("fuse-attention", "a number that does not hide", ATTENTION + "a = Where(seen, d, low) p = Softmax(a) y = MatMul(p, v)",
         {**HEADS, "seen": "bool[5, 6]"}, {**ROOT, "low": np.float32(-100)}, opset=23),
]

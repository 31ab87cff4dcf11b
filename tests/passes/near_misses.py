"""Models that look like what a rule rewrites, and are something else."""

import numpy as np

from .activation_cases import GELU, SCALARS
from .attention_cases import HEADS, ROOT
from .cleanup_cases import INTS, SCALE, TURN
from .group_cases import (ANGLES, GROUP, HALF, HEADED, HEADS as ROWS_OF_HEADS, JOIN_PAST, JOINED, PARTS, QKV, SHAPES, TRIANGLE,
                          WIDE, core, repeated, turned)
from .group_cases import ROOT as QUARTER
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
    near("fuse-rotary-embedding", "tables of two halves", ANGLES.replace("(g, g)", "(g, h)") + turned("y", "x"),
         HEADED | {"h": "float[2, 4, 8]"}, HALF, opset=23, ir_version=10),
    near("fuse-rotary-embedding", "halves in another order",
         "l, h = Split<axis = -1>(x) a = Mul(h, c) b = Mul(l, s) m = Sub(a, b) d = Mul(l, c) e = Mul(h, s) f = Add(d, e) "
         "y = Concat<axis = 3>(m, f)", {"x": "float[2, 3, 4, 16]", "c": "float[4, 8]", "s": "float[4, 8]"}),
    near("fuse-rotary-embedding", "tables for every head", ANGLES + turned("y", "x"), HEADED | {"g": "float[2, 3, 4, 8]"},
         {**HALF, "ones": INTS(0)}),
    near("fuse-group-query-attention", "a mask that shows what comes later",
         ROWS_OF_HEADS + repeated("k", "k2") + repeated("v", "v2") + core("k7", "v7", "a = Add(d, a_mask) "), WIDE,
         {**SHAPES, **GROUP, **QUARTER, "a_mask": np.triu(np.full((4, 4), -np.inf, np.float32), 2)}),
    near("fuse-group-query-attention", "halves of one that become zero",
         ROWS_OF_HEADS + repeated("k", "k2") + repeated("v", "v2")
         + core("k7", "v7", "t1 = Trilu<upper = 0>(halves) t2 = Cast<to = 7>(t1) seen = Cast<to = 9>(t2) a = Where(seen, d, low) "), WIDE,
         {**SHAPES, **GROUP, **QUARTER, "halves": np.full((4, 4), 0.5, np.float32), "low": np.float32(-1e38)}),
    near("fuse-group-query-attention", "a mask that is given", ROWS_OF_HEADS + repeated("k", "k2") + repeated("v", "v2")
         + core("k7", "v7", "a = Add(d, a_mask) "), WIDE | {"a_mask": "float[4, 4]"}, {**SHAPES, **GROUP, **QUARTER}),
    near("fuse-group-query-attention", "several sequences behind a past",
         ROWS_OF_HEADS + JOIN_PAST + repeated("k", "k3") + repeated("v", "v3") + core("k7", "v7", "a = Add(d, a_mask) "),
         {"q": "float[2, 2, 32]", "k": "float[2, 2, 16]", "v": "float[2, 2, 16]", "pk": "float[2, 1, 2, 16]", "pv": "float[2, 1, 2, 16]"},
         {**SHAPES, **GROUP, **QUARTER, "all": INTS(2, 2, -1, 16), "a_mask": np.triu(np.full((2, 4), -np.inf, np.float32), 3)}),
    near("fuse-group-query-attention", "heads of 12 features",
         ROWS_OF_HEADS + repeated("k", "k2") + repeated("v", "v2") + core("k7", "v7", "a = Add(d, a_mask) "),
         {"q": "float[1, 4, 24]", "k": "float[1, 4, 12]", "v": "float[1, 4, 12]"},
         {**GROUP, **QUARTER, **TRIANGLE, "queries": INTS(0, 0, 2, 12), "keys": INTS(0, 0, 1, 12), "join": INTS(0, 0, 24),
          "all": INTS(1, 2, -1, 12)}),
    near("fuse-packed-attention", "parts in another order",
         "h = MatMul(x, w) i = Add(h, b) k, q, v = Split<axis = 2>(i) " + PARTS + JOINED.replace("Softmax(a)", "Softmax(d)"),
         {"x": "float[2, 5, 12]"}, QKV),
    near("pack-attention-weights", "two inputs",
         "h = MatMul(x, w) q = Add(h, b) i = MatMul(z, w) k = Add(i, b) j = MatMul(z, w) v = Add(j, b) " + PARTS
         + JOINED.replace("Softmax(a)", "Softmax(d)"), {"x": "float[2, 5, 12]", "z": "float[2, 5, 12]"},
         {**QKV, "w": (12, 12), "b": (12,)}),
    near("merge-gathers", "indices that are given", "a = Gather(x, i) y = Gather(a, j)", {**X, "i": "int64[2]"}, {"j": INTS(1)}),
    near("merge-gathers", "another axis", "a = Gather(x, i) y = Gather<axis = 1>(a, i)", X, {"i": INTS(1, 0)}),
    near("reduce-reshape-transpose", "a Reshape that joins axes", "a = Reshape(x, i) b = Transpose<perm = [0, 2, 1]>(a) y = Reshape(b, j)",
         X, {"i": INTS(2, 6, 2), "j": INTS(4, 6)}),
    near("reduce-reshape-transpose", "a Reshape across axes", "a = Reshape(x, i) b = Transpose<perm = [0, 2, 1]>(a) y = Reshape(b, j)",
         X, {"i": INTS(4, 3, 2), "j": INTS(3, 4, 2)}),
    near("merge-squeezes", "other axes", "a = Unsqueeze(x, i) y = Squeeze(a, j)", {"x": "float[1, 3, 4]"}, {"i": INTS(3), "j": INTS(0)}),
    near("slice-shapes", "extents that are apart", "s = Shape(x) i = Gather(s, apart) y = Reshape(x, i)", {"x": "float[n, 1, m]"},
         {"apart": INTS(0, 2)}),
    near("simplify-concat", "a Split into other parts",
         "c = Concat<axis = 1>(x, v) a, b = Split<axis = 1>(c, sizes) y = Sub(a, b)", {**X, "v": "float[2, 1, 4]"}, {"sizes": INTS(2, 2)}),
]

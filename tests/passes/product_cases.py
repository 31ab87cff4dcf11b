import numpy as np

from .rule_case import RuleCase

IMAGE = {"x": "float[2, 3, 6, 6]"}
KERNEL = {"w": (4, 3, 3, 3)}
BN = {"scale": (4,), "shift": (4,), "mean": (4,), "variance": (4,)}
MATRIX = {"x": "float[5, 6]"}
BATCH = {"x": "float[2, 5, 6]", "z": "float[2, 5, 6]"}
CONV = {"Conv": 1}
NORMALIZE = "BatchNormalization<epsilon = 0.001>(c, scale, shift, mean, variance)"

CASES = [
    RuleCase("fold-weights", "e = Exp(w) y = MatMul(x, e)", MATRIX, {"MatMul": 1}, {"w": (6, 3)}, kept=("e",), terms=6),
    RuleCase("fuse-conv-bn", f"c = Conv(x, w) y = {NORMALIZE}", IMAGE, CONV, {**KERNEL, **BN}, needs_shapes=True, terms=27),
    RuleCase("fuse-conv-bn", f"c = Conv<group = 2, pads = [1, 1, 1, 1]>(x, w, b) y = {NORMALIZE}",
             {"x": "float[2, 6, 6, 6]"}, CONV, {**KERNEL, **BN, "b": (4,)}, needs_shapes=True, terms=27,
             name="fuse-conv-bn with a bias and groups"),
    RuleCase("fuse-conv-mul", "c = Conv(x, w, b) y = Mul(c, s)", IMAGE, CONV, {**KERNEL, "b": (4,), "s": (1, 4, 1, 1)},
             needs_shapes=True, terms=27),
    RuleCase("fuse-conv-mul", "c = Conv(x, w) y = Div(c, s)", IMAGE, CONV, {**KERNEL, "s": ()}, needs_shapes=True, terms=27,
             name="fuse-conv-mul by the inverse of a number"),
    RuleCase("fuse-conv-add", "c = Conv(x, w) y = Add(s, c)", IMAGE, CONV, {**KERNEL, "s": (4, 1, 1)}, needs_shapes=True,
             terms=27),
    RuleCase("fuse-conv-add", "c = Conv(x, w, b) y = Sub(c, s)", IMAGE, CONV, {**KERNEL, "b": (4,), "s": (1,)},
             needs_shapes=True, terms=27, name="fuse-conv-add of a negative number"),
    RuleCase("fuse-conv-activation", "c = Conv<strides = [2, 2], pads = [1, 1, 0, 0]>(x, w, b) y = Relu(c)", IMAGE,
             {"com.microsoft.FusedConv": 1}, {**KERNEL, "b": (4,)}, free=("w", "b"), terms=27),
    RuleCase("fuse-conv-activation", "c = Conv(x, w) y = Clip(c, low, high)", IMAGE, {"com.microsoft.FusedConv": 1},
             {**KERNEL, "low": np.float32(0), "high": np.float32(6)}, free=("w",), terms=27,
             name="fuse-conv-activation of a Clip"),
    RuleCase("fuse-matmul-add", "c = MatMul(x, w) y = Add(c, b)", MATRIX, {"Gemm": 1}, {"w": (6, 3), "b": (3,)},
             needs_shapes=True, free=("w", "b"), terms=6),
    RuleCase("fuse-matmul-bn", f"c = MatMul(x, w) y = {NORMALIZE}", MATRIX, {"Gemm": 1}, {"w": (6, 4), **BN},
             needs_shapes=True, terms=6),
    RuleCase("fuse-matmul-bn", f"c = Gemm<transB = 1>(x, w, b) y = {NORMALIZE}", MATRIX, {"Gemm": 1},
             {"w": (4, 6), "b": (4,), **BN}, terms=6, name="fuse-matmul-bn of a Gemm"),
    RuleCase("fuse-matmul-mul", "c = MatMul(x, w) y = Mul(s, c)", {"x": "float[2, 5, 6]"}, {"MatMul": 1},
             {"w": (6, 3), "s": (3,)}, needs_shapes=True, terms=6),
    RuleCase("fuse-gemm-add", "c = Gemm(x, w) y = Add(c, s)", MATRIX, {"Gemm": 1}, {"w": (6, 3), "s": (1, 3)},
             terms=6),
    RuleCase("fuse-gemm-add", "c = Gemm<beta = 0.5, alpha = 3.0>(x, w) y = Add(c, s)", MATRIX, {"Gemm": 1},
             {"w": (6, 3), "s": (3,)}, terms=6, name="fuse-gemm-add with a factor of no bias"),
    RuleCase("fuse-gemm-transpose", "t = Transpose(x) y = Gemm(t, w)", MATRIX, {"Gemm": 1}, {"w": (5, 3)}, free=("w",),
             terms=5),
    RuleCase("fuse-gemm-transpose", "t = Transpose<perm = [1, 0]>(z) y = Gemm<transB = 1>(x, t)",
             {**MATRIX, "z": "float[6, 3]"}, {"Gemm": 1}, terms=6, name="fuse-gemm-transpose twice"),
    RuleCase("fuse-gemm-activation", "c = Gemm<transB = 1, alpha = 2.0>(x, w, b) y = LeakyRelu<alpha = 0.2>(c)", MATRIX,
             {"com.microsoft.FusedGemm": 1}, {"w": (3, 6), "b": (3,)}, free=("w", "b"), terms=6),
    RuleCase("fuse-matmul-transpose", "t = Transpose<perm = [0, 2, 1]>(z) y = MatMul(x, t)", BATCH,
             {"com.microsoft.FusedMatMul": 1}, terms=6),
    RuleCase("fuse-matmul-transpose",
             "a = Transpose<perm = [0, 2, 1]>(x) b = Transpose<perm = [0, 2, 1]>(z) y = MatMul(a, b)",
             {"x": "float[2, 6, 5]", "z": "float[2, 3, 6]"}, {"com.microsoft.FusedMatMul": 1}, terms=6,
             name="fuse-matmul-transpose of both"),
    RuleCase("fuse-matmul-scale", "t = Transpose<perm = [0, 2, 1]>(z) c = MatMul(x, t) y = Div(c, s)", BATCH,
             {"com.microsoft.FusedMatMul": 1}, {"s": np.float32(8)}, terms=6),
    RuleCase("fuse-matmul-scale", "c = MatMul(x, w) y = Mul(s, c)", MATRIX, {"com.microsoft.FusedMatMul": 1},
             {"w": (6, 3), "s": np.float32(0.3)}, free=("w",), terms=6, name="fuse-matmul-scale alone"),
]

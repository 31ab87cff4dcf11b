import numpy as np

from .rule_case import RuleCase

HEADS = {"q": "float[2, 3, 5, 4]", "k": "float[2, 3, 6, 4]", "v": "float[2, 3, 6, 4]"}
LAYER = {"q": "float[2, 5, 12]", "k": "float[2, 6, 12]", "v": "float[2, 6, 12]"}
SPLIT = ("q1 = Reshape(q, split) q2 = Transpose<perm = [0, 2, 1, 3]>(q1) k1 = Reshape(k, split) "
         "v1 = Reshape(v, split) v2 = Transpose<perm = [0, 2, 1, 3]>(v1) ")
JOIN = "o1 = Transpose<perm = [0, 2, 1, 3]>(o) y = Reshape(o1, join)"
SHAPES = {"split": np.array([0, 0, 3, 4]), "join": np.array([0, 0, 12])}
ROOT = {"root": np.float32(2)}
TABLES = {"words": (9, 8), "places": (5, 8), "kinds": (2, 8), "gamma": (8,), "beta": (8,)}
QUANTIZED = {"w": np.arange(18, dtype=np.uint8).reshape(6, 3), "s": np.float32(0.02), "z": np.uint8(9)}

CASES = [
    RuleCase("fuse-attention",
             "t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) d = Div(s, root) a = Add(d, mask) "
             "p = Softmax<axis = -1>(a) y = MatMul(p, v)",
             {**HEADS, "mask": "float[2, 1, 1, 6]"}, {"Attention": 1, "Expand": 1}, ROOT, opset=23, ir_version=10, too_old=22,
             needs_shapes=True, terms=6),
    RuleCase("fuse-attention",
             "t = Transpose<perm = [0, 2, 3, 1]>(k) r = Mul(q, root) u = Mul(t, root) s = MatMul(r, u) "
             "p = Softmax(s) y = MatMul(p, v)",
             {**HEADS, "k": "float[2, 6, 3, 4]"}, {"Attention": 1, "Transpose": 1}, {"root": np.float32(0.7)}, opset=23,
             ir_version=10, too_old=22, needs_shapes=True, terms=6, name="fuse-attention scaled on both sides"),
    RuleCase("fuse-multi-head-attention",
             SPLIT + "k2 = Transpose<perm = [0, 2, 3, 1]>(k1) s = MatMul(q2, k2) d = Div(s, root) p = Softmax<axis = 3>(d) "
             "o = MatMul(p, v2) " + JOIN,
             LAYER, {"com.microsoft.MultiHeadAttention": 1}, {**SHAPES, **ROOT}, needs_shapes=True, terms=6),
    RuleCase("fuse-multi-head-attention",
             SPLIT + "k2 = Transpose<perm = [0, 2, 1, 3]>(k1) k3 = Transpose<perm = [0, 1, 3, 2]>(k2) s = MatMul(q2, k3) "
             "d = Mul(root, s) a = Add(d, mask) p = Softmax(a) o = MatMul(p, v2) " + JOIN,
             {**LAYER, "mask": "float[2, 1, 1, 6]"}, {"com.microsoft.MultiHeadAttention": 1, "Expand": 1}, {**SHAPES, **ROOT},
             needs_shapes=True, terms=6, name="fuse-multi-head-attention with a mask"),
    RuleCase("fuse-attention",
             "t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) d = Mul(s, root) a = Where(seen, d, low) p = Softmax(a) "
             "y = MatMul(p, v)",
             {**HEADS, "seen": "bool[5, 6]"}, {"Attention": 1, "Where": 1}, {**ROOT, "low": np.float32(-3e38)}, opset=23,
             ir_version=10, too_old=22, needs_shapes=True, terms=6, feeds={"seen": np.tri(5, 6, 1, dtype=bool)},
             name="fuse-attention of what is seen"),
    RuleCase("fuse-multi-head-attention",
             SPLIT + "k2 = Transpose<perm = [0, 2, 3, 1]>(k1) s = MatMul(q2, k2) a = Where(unseen, low, s) "
             "p = Softmax(a) o = MatMul(p, v2) " + JOIN,
             {**LAYER, "unseen": "bool[5, 6]"}, {"com.microsoft.MultiHeadAttention": 1, "Where": 1, "Expand": 1},
             {**SHAPES, "low": np.float32(-np.inf)}, needs_shapes=True, terms=6,
             feeds={"unseen": ~np.tri(5, 6, 1, dtype=bool)}, name="fuse-multi-head-attention of what is not hidden"),
    RuleCase("fuse-embed-layer-norm",
             "a = Gather(words, x) b = Gather(places, at) c = Gather(kinds, kind) d = Add(a, c) e = Add(d, b) "
             "y = LayerNormalization(e, gamma, beta)",
             {"x": "int32[2, 3]", "kind": "int32[2, 3]", "at": "int32[1, 3]"}, {"com.microsoft.EmbedLayerNormalization": 1},
             TABLES, needs_shapes=True, terms=8),
    RuleCase("fuse-dynamic-quantize-matmul",
             "q, f, n = DynamicQuantizeLinear(x) i = MatMulInteger(q, w, n, z) c = Cast<to = 1>(i) g = Mul(f, s) y = Mul(c, g)",
             {"x": "float[5, 6]"}, {"com.microsoft.DynamicQuantizeMatMul": 1}, QUANTIZED, needs_shapes=True, terms=6),
]

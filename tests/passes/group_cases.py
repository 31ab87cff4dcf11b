"""Attention with groups, rotated heads, a past, and products around it."""

import numpy as np

from .rule_case import RuleCase

INTS = lambda *numbers: np.array(numbers, np.int64)  # noqa: E731
SWAP = "Transpose<perm = [0, 2, 1, 3]>"
TURN = "Transpose<perm = [0, 1, 3, 2]>"

# Two heads for queries, one for keys and values, of 16 features each.
WIDE = {"q": "float[1, 4, 32]", "k": "float[1, 4, 16]", "v": "float[1, 4, 16]"}
SHAPES = {"queries": INTS(0, 0, 2, 16), "keys": INTS(0, 0, 1, 16), "join": INTS(0, 0, 32), "all": INTS(1, 2, -1, 16)}
GROUP = {"two": INTS(2), "times": INTS(1, 1, 2, 1, 1)}
ROOT = {"root": np.float32(0.25)}
HEADS = (f"q1 = Reshape(q, queries) q2 = {SWAP}(q1) k1 = Reshape(k, keys) k2 = {SWAP}(k1) v1 = Reshape(v, keys) "
         f"v2 = {SWAP}(v1) ")


def repeated(name, made):
    return f"{name}5 = Unsqueeze({made}, two) {name}6 = Expand({name}5, times) {name}7 = Reshape({name}6, all) "


def core(keys, values, mask):
    return (f"t = {TURN}({keys}) s = MatMul(q2, t) d = Mul(s, root) " + mask + f"p = Softmax<axis = -1>(a) o = MatMul(p, {values}) "
            f"o1 = {SWAP}(o) y = Reshape(o1, join) ")


# Positions of keys and queries, compared; the queries are the last ones.
BEHIND = "r = Range(zero, total, one) c = Range(before, total, one) r1 = Unsqueeze(r, zeros) c1 = Unsqueeze(c, ones) "
# How many of both there are, as exporters count them.
JOIN_PAST = "k3 = Concat<axis = 2>(pk, k2) v3 = Concat<axis = 2>(pv, v2) "
PAST = {"pk": "float[1, 1, m, 16]", "pv": "float[1, 1, m, 16]"}
COUNTED = ("shape = Shape(k3) count = Gather(shape, place) total = Squeeze(count, zeros) now = Shape(q) number = Gather(now, ones) "
           "fresh = Squeeze(number, zeros) before = Sub(total, fresh) ")
COUNTS = ("shape", "count", "total", "now", "number", "fresh", "before", "r", "c", "r1", "c1", "seen")
SEEN = BEHIND + "seen = LessOrEqual(r1, c1) a = Where(seen, d, low) "
PLACES = {"zero": np.int64(0), "one": np.int64(1), "zeros": INTS(0), "ones": INTS(1), "low": np.float32(-3e38)}
TRIANGLE = {"a_mask": np.triu(np.full((4, 4), -np.inf, np.float32), 1)[None, None]}
GQA = {"com.microsoft.GroupQueryAttention": 1}

# Angles for each position, twice, as tables of cosines and sines with an axis for the heads.
ANGLES = ("f = Concat<axis = -1>(g, g) cos = Cos(f) sin = Sin(f) cos1 = Unsqueeze(cos, ones) sin1 = Unsqueeze(sin, ones) ")
HALF = {"start": INTS(0), "half": INTS(8), "end": INTS(2**40), "last": INTS(3), "ones": INTS(1)}


def turned(name, x):
    return (f"{name}a = Mul({x}, cos1) {name}l = Slice({x}, start, half, last) {name}h = Slice({x}, half, end, last) "
            f"{name}n = Neg({name}h) {name}c = Concat<axis = -1>({name}n, {name}l) {name}b = Mul({name}c, sin1) "
            f"{name} = Add({name}a, {name}b) ")


TABLES = ("f", "cos", "sin", "cos1", "sin1")
HEADED = {"x": "float[2, 3, 4, 16]", "g": "float[2, 4, 8]"}
QKV = {"w": (12, 36), "b": (36,), "split": INTS(0, 0, 3, 4), "join": INTS(0, 0, 12), "root": np.float32(2)}
PARTS = (f"q1 = Reshape(q, split) q2 = {SWAP}(q1) k1 = Reshape(k, split) k2 = Transpose<perm = [0, 2, 3, 1]>(k1) "
         f"v1 = Reshape(v, split) v2 = {SWAP}(v1) s = MatMul(q2, k2) d = Div(s, root) ")
JOINED = f"p = Softmax(a) o = MatMul(p, v2) o1 = {SWAP}(o) y = Reshape(o1, join)"

CASES = [
    RuleCase("fuse-rotary-embedding", ANGLES + turned("y", "x"), HEADED, {"RotaryEmbedding": 1, "Cos": 1, "Sin": 1}, HALF,
             opset=23, ir_version=10, too_old=22, needs_shapes=True, kept=TABLES),
    RuleCase("fuse-rotary-embedding", ANGLES + turned("y", "x"), HEADED | {"g": "float[1, 4, 8]"},
             {"com.microsoft.RotaryEmbedding": 1, "Cos": 1, "Sin": 1, "Squeeze": 2}, HALF, needs_shapes=True, kept=TABLES,
             name="fuse-rotary-embedding of onnxruntime"),
    RuleCase("fuse-rotary-embedding",
             "l, h = Split<axis = -1>(x) a = Mul(l, cos) b = Mul(h, sin) c = Sub(a, b) d = Mul(h, cos) e = Mul(sin, l) "
             "f = Add(d, e) y = Concat<axis = 3>(c, f)",
             {"x": "float[2, 3, 4, 16]", "cos": "float[4, 8]", "sin": "float[4, 8]"}, {"com.microsoft.RotaryEmbedding": 1},
             needs_shapes=True, name="fuse-rotary-embedding of halves"),
    RuleCase("fuse-rotary-embedding",
             "l, h = Split<axis = -1, num_outputs = 2>(x) a = Mul(cos, l) b = Mul(h, sin) c = Sub(a, b) d = Mul(h, cos) e = Mul(sin, l) "
             "f = Add(e, d) y = Concat<axis = 3>(c, f)",
             {"x": "float[batch, 3, 4, 16]", "cos": "float[4, 8]", "sin": "float[4, 8]"},
             {"com.microsoft.RotaryEmbedding": 1}, opset=23, ir_version=10, needs_shapes=True,
             name="fuse-rotary-embedding for an open batch"),
    RuleCase("fuse-group-query-attention",
             HEADS + repeated("k", "k2") + repeated("v", "v2") + core("k7", "v7", "a = Add(d, a_mask) "), WIDE, GQA,
             {**SHAPES, **GROUP, **ROOT, **TRIANGLE}, needs_shapes=True, terms=16),
    RuleCase("fuse-group-query-attention",
             HEADS + ANGLES + turned("q3", "q2") + turned("k3", "k2") + repeated("k", "k3") + repeated("v", "v2")
             + core("k7", "v7", "a = Add(d, a_mask) ").replace("MatMul(q2", "MatMul(q3"),
             WIDE | {"g": "float[1, 4, 8]"}, GQA | {"Cos": 1, "Sin": 1, "Squeeze": 2},
             {**SHAPES, **GROUP, **ROOT, **TRIANGLE, **HALF}, needs_shapes=True, terms=16,
             kept=(*TABLES, *(f"{name}3{part}" for name in "qk" for part in "alhncb")),
             free=("start", "half", "end", "last"), name="fuse-group-query-attention with rotated heads"),
    RuleCase("fuse-group-query-attention",
             HEADS + JOIN_PAST + repeated("k", "k3") + repeated("v", "v3") + COUNTED + core("k7", "v7", SEEN),
             {"q": "float[1, n, 32]", "k": "float[1, n, 16]", "v": "float[1, n, 16]", **PAST}, GQA | {"Shape": 2, "Add": 1, "Cast": 1, "Sub": 1},
             {**SHAPES, **GROUP, **ROOT, **PLACES, "place": INTS(2)}, outputs={"y": "float", "k3": "float", "v3": "float"},
             needs_shapes=True, terms=16, kept=COUNTS, too_old=14,
             name="fuse-group-query-attention behind a past"),
    RuleCase("fuse-group-query-attention",
             HEADS + core("k2", "v2", "both = Add(a_mask, pad) a = Add(d, both) "),
             {**WIDE, "k": "float[1, 4, 32]", "v": "float[1, 4, 32]", "pad": "float[1, 1, 1, 4]"}, GQA | {"Add": 1},
             {**ROOT, **TRIANGLE, "queries": INTS(0, 0, 2, 16), "keys": INTS(0, 0, 2, 16), "join": INTS(0, 0, 32)}, needs_shapes=True, terms=16,
             name="fuse-group-query-attention with padding", kept=("both",)),
    RuleCase("fuse-attention",
             HEADS + JOIN_PAST + repeated("k", "k3") + repeated("v", "v3") + core("k7", "v7", "a = Add(d, m) "),
             {**WIDE, "pk": "float[1, 1, 3, 16]", "pv": "float[1, 1, 3, 16]", "m": "float[4, 7]"},
             {"Attention": 1, "Reshape": 4, "Transpose": 4}, {**SHAPES, **GROUP, **ROOT},
             outputs={"y": "float", "k3": "float", "v3": "float"}, opset=23, ir_version=10, too_old=22, needs_shapes=True,
             terms=16,
             name="fuse-attention of groups behind a past"),
    RuleCase("fuse-packed-attention",
             "h = MatMul(x, w) i = Add(h, b) q, k, v = Split<axis = 2>(i) " + PARTS + JOINED.replace("Softmax(a)", "Softmax(d)"),
             {"x": "float[2, 5, 12]"}, {"com.microsoft.Attention": 1}, QKV, needs_shapes=True, terms=12, free=("w", "b")),
    RuleCase("fuse-packed-attention",
             f"flat = Reshape(x, rows) h = Gemm(flat, w, b) i = Reshape(h, back) q, k, v = Split<axis = -1>(i) q1 = Reshape(q, split) "
             f"q2 = {SWAP}(q1) k1 = Reshape(k, split) k2 = {SWAP}(k1) v1 = Reshape(v, split) v2 = {SWAP}(v1) "
             f"pk = Gather(past, zero) pv = Gather(past, one) k3 = Concat<axis = -2>(pk, k2) v3 = Concat<axis = -2>(pv, v2) "
             f"k4 = Unsqueeze(k3, zeros) v4 = Unsqueeze(v3, zeros) present = Concat<axis = 0>(k4, v4) k5 = {TURN}(k3) "
             f"s = MatMul(q2, k5) d = Div(s, root) a = Where(seen, d, low) p = Softmax(a) o = MatMul(p, v3) o1 = {SWAP}(o) y = Reshape(o1, join)",
             {"x": "float[2, 2, 12]", "past": "float[2, 2, 3, 4, 4]"}, {"com.microsoft.Attention": 1},
             {**QKV, "rows": INTS(-1, 12), "back": INTS(2, 2, 36), "zero": np.int64(0), "one": np.int64(1), "zeros": INTS(0),
              "seen": np.tri(2, 6, 4, dtype=bool), "low": np.float32(-1e38)},
             outputs={"y": "float", "present": "float"}, needs_shapes=True, terms=12,
             free=("w", "b", "seen", "rows"), name="fuse-packed-attention behind a past"),
    RuleCase("pack-attention-weights",
             "h = MatMul(x, w) q = Add(h, b) i = MatMul(x, w2) k = Add(b2, i) j = MatMul(x, w3) v = Add(j, b) " + PARTS + "a = Add(d, m) " + JOINED,
             {"x": "float[2, 5, 12]", "m": "float[2, 1, 1, 5]"}, {"com.microsoft.Attention": 1, "Expand": 1},
             {**QKV, "w": (12, 12), "w2": (12, 12), "w3": (12, 12), "b": (12,), "b2": (12,)}, needs_shapes=True, terms=12,
             free=("w", "w2", "w3", "b", "b2")),
]

import numpy as np

from .rule_case import RuleCase

X = {"x": "float[2, 3, 4]"}
INTS = lambda *numbers: np.array(numbers, np.int64)  # noqa: E731
TURN, BACK = "Transpose<perm = [0, 2, 1]>", "Transpose<perm = [0, 2, 1]>"
SCALE = {"s": np.float32(0.05), "z": np.uint8(7)}
BOTH = {"x": "float[2, 3, 4]", "v": "float[2, 3, 4]"}

CASES = [
    RuleCase("merge-transposes", "a = Transpose<perm = [1, 2, 0]>(x) y = Transpose<perm = [1, 0, 2]>(a)", X,
             {"Transpose": 1}),
    RuleCase("sink-transposes", f"a = {TURN}(x) b = Relu(a) c = Mul(b, s) y = {BACK}(c)", X, {"Relu": 1, "Mul": 1},
             {"s": np.float32(2)}, kept=("b", "c"), free=("s",)),
    RuleCase("sink-transposes", f"a = {TURN}(x) b = {TURN}(v) y = Add(a, b)", BOTH, {"Add": 1, "Transpose": 1},
             name="sink-transposes of both operands"),
    RuleCase("merge-reshapes", "a = Reshape(x, p) y = Reshape(a, q)", X, {"Reshape": 1},
             {"p": INTS(6, 4), "q": INTS(4, -1)}, free=("p", "q")),
    RuleCase("merge-reshapes", "a = Transpose<perm = [1, 0, 2]>(x) y = Reshape(a, q)", {"x": "float[1, 3, 4]"}, {"Reshape": 1},
             {"q": INTS(12)}, needs_shapes=True, name="merge-reshapes with a Transpose"),
    RuleCase("merge-slices", "a = Slice(x, one, big, axis) y = Slice(a, zero, two, last)", X, {"Slice": 1},
             {"zero": INTS(0), "one": INTS(1), "two": INTS(2), "big": INTS(2**40), "axis": INTS(1), "last": INTS(-1)},
             needs_shapes=True),
    RuleCase("merge-slices", "a = Slice(x, one, end, axis, one) y = Slice(a, one, big, axis, two)", {"x": "float[9, 2]"},
             {"Slice": 1}, {"one": INTS(1), "two": INTS(2), "end": INTS(-1), "big": INTS(100), "axis": INTS(0)},
             needs_shapes=True, name="merge-slices of one axis"),
    RuleCase("slices-to-split", "a = Slice(x, zero, one, axis) b = Slice(x, one, big, axis) y = Neg(a) w = Exp(b)", X,
             {"Split": 1, "Neg": 1, "Exp": 1}, {"zero": INTS(0), "one": INTS(1), "big": INTS(9), "axis": INTS(2)},
             outputs={"y": "float", "w": "float"}, needs_shapes=True),
    RuleCase("simplify-concat", "a = Concat<axis = 1>(x, v) y = Concat<axis = -2>(a, x)", BOTH, {"Concat": 1},
             needs_shapes=True),
    RuleCase("simplify-concat", "a, b = Split<axis = 2>(x) c = Concat<axis = 2>(a, b) y = Relu(c)", X, {"Relu": 1},
             kept=("a", "b", "c"), name="simplify-concat of a Split"),
    RuleCase("remove-not", "n = Not(c) y = Where(n, x, v)", {**BOTH, "c": "bool[3, 4]"}, {"Where": 1}),
    RuleCase("merge-casts", "a = Cast<to = 11>(x) y = Cast<to = 10>(a)", X, {"Cast": 1}, outputs={"y": "float16"}),
    RuleCase("merge-casts", "a = Cast<to = 7>(x) b = Cast<to = 6>(a) y = Abs(b)", {"x": "int32[3]"}, {"Abs": 1},
             outputs={"y": "int32"}, kept=("b",), name="merge-casts there and back"),
    RuleCase("merge-clips", "a = Relu(x) y = Clip(a, low, high)", X, {"Clip": 1},
             {"low": np.float32(-1), "high": np.float32(0.5)}),
    RuleCase("multiply-by-inverse", "y = Div(x, s)", X, {"Mul": 1}, {"s": np.float32(3)}),
    RuleCase("merge-scales", "a = Mul(x, s) y = Mul(t, a)", X, {"Mul": 1}, {"s": np.float32(3), "t": np.float32(0.7)}),
    RuleCase("remove-requantize", "a = DequantizeLinear(x, s, z) q = QuantizeLinear(a, s, z) y = Cast<to = 1>(q)",
             {"x": "uint8[20]"}, {"Cast": 1}, SCALE, kept=("q",), free=("z",), feeds={"x": np.arange(0, 240, 12, dtype=np.uint8)}),
    RuleCase("remove-quantize-rounding", "a = QuantizeLinear(x, s, z) b = DequantizeLinear(a, s, z) y = Neg(b)",
             {"x": "float[20]"}, {"Neg": 1}, SCALE, kept=("b",), free=("z",), feeds={"x": (np.arange(20, dtype=np.float32) - 7) * np.float32(0.05)}),
    RuleCase("fuse-pad", "p = Pad(x, pads) y = Conv<pads = [1, 0, 0, 1]>(p, w)", {"x": "float[1, 2, 5, 5]"}, {"Conv": 1},
             {"w": (3, 2, 3, 3), "pads": INTS(0, 0, 1, 2, 0, 0, 0, 1)}, needs_shapes=True, free=("w",), terms=18),
    RuleCase("fuse-pad", "p = Pad(x, pads, least) y = MaxPool<kernel_shape = [2, 2]>(p)", {"x": "float[1, 2, 5, 5]"},
             {"MaxPool": 1}, {"pads": INTS(0, 0, 1, 1, 0, 0, 0, 1), "least": np.float32(-np.inf)}, needs_shapes=True,
             name="fuse-pad into a MaxPool"),
    RuleCase("fuse-pad", "p = Pad(x, pads) y = AveragePool<kernel_shape = [3, 3]>(p)", {"x": "float[1, 2, 5, 5]"},
             {"AveragePool": 1}, {"pads": INTS(0, 0, 1, 1, 0, 0, 1, 1)}, needs_shapes=True, terms=9,
             name="fuse-pad into an AveragePool"),
]

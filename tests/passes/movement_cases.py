"""What is taken out of values and put together again."""

import numpy as np

from .rule_case import RuleCase

INTS = lambda *numbers: np.array(numbers, np.int64)  # noqa: E731
X = {"x": "float[5, 3, 4]"}
ONE = {"one": np.int64(1), "axis": INTS(0)}
LENGTHS = {"x": "float[n, 3, m, 4]"}

CASES = [
    RuleCase("merge-gathers", "c = Gather(x, a) y = Gather<axis = -3>(c, b)", X, {"Gather": 1}, {"a": INTS(4, -4, 0), "b": INTS(-1, 1)}, needs_shapes=True),
    RuleCase("merge-gathers", "c = Slice(x, start, end, axis, step) y = Gather(c, one)", X, {"Gather": 1},
             {**ONE, "start": INTS(-1), "end": INTS(-6), "step": INTS(-2)}, needs_shapes=True, name="merge-gathers of a Slice"),
    RuleCase("merge-gathers", "c = Concat<axis = 1>(x, v) y = Gather<axis = 1>(c, i)", {**X, "v": "float[5, 2, 4]"}, {"Gather": 1},
             {"i": INTS(-1, 3)}, needs_shapes=True, name="merge-gathers of a Concat"),
    RuleCase("merge-gathers", "c = Gather(x, one) y = Unsqueeze(c, axis)", X, {"Gather": 1}, ONE,
             name="merge-gathers and an Unsqueeze"),
    RuleCase("merge-gathers", "c = Slice(x, i, j, axis) y = Squeeze(c, axis)", X, {"Gather": 1},
             {"i": INTS(3), "j": INTS(4), "axis": INTS(0)}, needs_shapes=True, name="merge-gathers and a Squeeze"),
    RuleCase("reduce-reshape-transpose", "a = Reshape(x, i) b = Transpose<perm = [0, 2, 1]>(a) y = Reshape(b, j)",
             {"x": "float[2, 3, 5, 4]"}, {"Transpose": 1}, {"i": INTS(-1, 5, 4), "j": INTS(2, 3, 4, 5)}, needs_shapes=True),
    RuleCase("reduce-reshape-transpose", "a = Reshape(x, i) b = Transpose<perm = [0, 2, 1]>(a) y = Reshape(b, j)",
             {"x": "float[n, 3, 2, 4]"}, {"Reshape": 1, "Transpose": 1}, {"i": INTS(-1, 2, 4), "j": INTS(-1, 1, 3, 4, 2)},
             needs_shapes=True, name="reduce-reshape-transpose of more axes"),
    RuleCase("reduce-reshape-transpose", "a = Reshape(x, i) b = Transpose<perm = [1, 0, 2]>(a) y = Reshape(b, j)",
             {"x": "float[5, n, 6]"}, {"Reshape": 1, "Transpose": 1}, {"i": INTS(5, -1, 3), "j": INTS(-1, 2, 5, 3)},
             needs_shapes=True, name="reduce-reshape-transpose of heads"),
    RuleCase("merge-squeezes", "a = Unsqueeze(x, i) y = Unsqueeze(a, j)", X, {"Unsqueeze": 1}, {"i": INTS(1), "j": INTS(0, -1)},
             needs_shapes=True),
    RuleCase("merge-squeezes", "a = Squeeze(x, i) y = Squeeze(a, j)", {"x": "float[1, 3, 1, 1, 4]"}, {"Squeeze": 1},
             {"i": INTS(2), "j": INTS(0, 2)}, needs_shapes=True, name="merge-squeezes of axes that move"),
    RuleCase("merge-squeezes", "a = Unsqueeze(x, i) b = Squeeze(a, j) y = Relu(b)", X, {"Relu": 1}, {"i": INTS(1), "j": INTS(-3)},
             needs_shapes=True, kept=("a", "b"), name="merge-squeezes that undo each other"),
    RuleCase("slice-shapes", "s = Shape(x) i = Gather(s, two) y = Reshape(x, i)", {"x": "float[1, 1, n]"}, {"Shape": 1, "Reshape": 1},
             {"two": INTS(2)}, needs_shapes=True, kept=("s",), too_old=14),
    RuleCase("slice-shapes",
             "s = Shape(x) i = Slice(s, zero, two) t = Shape<start = 2, end = 3>(x) y = Concat<axis = 0>(i, t, four)", LENGTHS,
             {"Shape": 1, "Concat": 1}, {"zero": INTS(0), "two": INTS(2), "four": INTS(4)}, outputs={"y": "int64"},
             needs_shapes=True, kept=("s", "i", "t"), free=("four",), name="slice-shapes that are joined"),
    RuleCase("slice-shapes", "t = Transpose<perm = [1, 0]>(x) s = Shape<start = 0, end = 1>(t) y = Expand(v, s)",
             {"v": "float[1, m]", "x": "float[n, m]"}, {"Shape": 1, "Expand": 1}, needs_shapes=True, kept=("t",),
             name="slice-shapes of an input"),
    RuleCase("slices-to-split", "a = Gather<axis = 1>(x, i) b = Gather<axis = 1>(x, j) y = Neg(a) w = Exp(b)", X,
             {"Split": 1, "Neg": 1, "Exp": 1}, {"i": INTS(0, 1), "j": INTS(2)}, outputs={"y": "float", "w": "float"},
             needs_shapes=True, name="slices-to-split of Gathers"),
    RuleCase("simplify-concat", "a = Slice(x, i, j, i) b = Gather<axis = 1>(x, j) c = Concat<axis = 1>(a, b, v) y = Neg(c)",
             {**X, "v": "float[5, 2, 4]"}, {"Slice": 1, "Concat": 1, "Neg": 1}, {"i": INTS(1), "j": INTS(2)}, needs_shapes=True,
             name="simplify-concat of neighbours"),
    RuleCase("simplify-concat", "c = Concat<axis = 1>(x, v) a, b = Split<axis = -2>(c, sizes) y = Neg(a) w = Exp(b)",
             {**X, "v": "float[5, 2, 4]"}, {"Neg": 1, "Exp": 1}, {"sizes": INTS(3, 2)}, outputs={"y": "float", "w": "float"},
             needs_shapes=True, kept=("c", "a", "b"), name="simplify-concat before a Split"),
]

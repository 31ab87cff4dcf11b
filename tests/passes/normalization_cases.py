import numpy as np

from .rule_case import RuleCase

X = {"x": "float[2, 3, 8]"}
XS = {"x": "float[2, 3, 8]", "skip": "float[2, 3, 8]"}
ROWS = {"gamma": (8,), "beta": (8,)}
NUMBERS = {"two": np.float32(2), "epsilon": np.float32(1e-5)}
LAYER = ("m = ReduceMean<axes = [-1]>(x) d = Sub(x, m) s = Pow(d, two) v = ReduceMean<axes = [-1]>(s) e = Add(v, epsilon) "
         "r = Sqrt(e) n = Div(d, r) z = Mul(n, gamma) ")
RMS = "s = Pow(x, two) v = ReduceMean<axes = [-1]>(s) e = Add(v, epsilon) r = Sqrt(e) "
WIDE = "w = Cast<to = 1>(x) "
HALF_RMS = ("s = Mul(w, w) v = ReduceMean<axes = [2]>(s) e = Add(epsilon, v) r = Sqrt(e) i = Reciprocal(r) n = Mul(w, i) "
            "c = Cast<to = 10>(n) y = Mul(gamma, c)")

CASES = [
    RuleCase("fuse-layer-norm", LAYER + "y = Add(z, beta)", X, {"LayerNormalization": 1}, {**ROWS, **NUMBERS}, too_old=16,
             needs_shapes=True, free=("gamma", "beta"), kept=("z",), terms=8),
    RuleCase("fuse-layer-norm",
             "m = ReduceMean(x, axes) d = Sub(x, m) s = Mul(d, d) v = ReduceMean(s, axes) e = Add(epsilon, v) r = Sqrt(e) "
             "i = Reciprocal(r) n = Mul(d, i) y = Mul(gamma, n)",
             X, {"LayerNormalization": 1}, {"gamma": (3, 8), "epsilon": np.float32(1e-5), "axes": np.array([1, 2])},
             opset=18, needs_shapes=True, free=("gamma",), terms=24, name="fuse-layer-norm over two axes"),
    RuleCase("fuse-rms-norm", RMS + "n = Div(x, r) y = Mul(n, gamma)", X, {"SimplifiedLayerNormalization": 1},
             {"gamma": (8,), **NUMBERS}, needs_shapes=True, free=("gamma",), terms=8),
    RuleCase("fuse-rms-norm", "s = Mul(x, x) v = ReduceMean(s, axes) e = Add(v, epsilon) i = Pow(e, half) n = Mul(x, i) "
             "y = Mul(n, gamma)", X, {"RMSNormalization": 1},
             {"gamma": (8,), "epsilon": np.float32(1e-6), "half": np.float32(-0.5), "axes": np.array([-1])}, opset=23,
             ir_version=10, needs_shapes=True, free=("gamma",), terms=8, name="fuse-rms-norm of ONNX"),
    RuleCase("fuse-rms-norm", WIDE + HALF_RMS, {"x": "float16[2, 3, 8]"}, {"SimplifiedLayerNormalization": 1},
             {"gamma": np.linspace(0.5, 1, 8, dtype=np.float16), "epsilon": np.float32(1e-5)},
             outputs={"y": "float16"}, needs_shapes=True, free=("gamma",), kept=("w",), terms=8,
             name="fuse-rms-norm of 16 bits"),
    RuleCase("fuse-skip-layer-norm", "a = Add(x, skip) y = LayerNormalization(a, gamma, beta)", XS,
             {"com.microsoft.SkipLayerNormalization": 1}, ROWS, needs_shapes=True, free=("gamma", "beta"), kept=("a",),
             terms=8),
    RuleCase("fuse-skip-layer-norm", "b = Add(x, bias) a = Add(skip, b) y = LayerNormalization(a, gamma) z = Neg(a)", XS,
             {"com.microsoft.SkipLayerNormalization": 1, "Neg": 1}, {**ROWS, "bias": (8,)} | {"beta": ()},
             outputs={"y": "float", "z": "float"}, needs_shapes=True, free=("gamma", "beta"), terms=8,
             name="fuse-skip-layer-norm with a bias and a sum that is read"),
    RuleCase("fuse-skip-rms-norm", "a = Add(x, skip) y = RMSNormalization(a, gamma)", XS,
             {"com.microsoft.SkipSimplifiedLayerNormalization": 1}, {"gamma": (8,)}, opset=23, ir_version=10,
             needs_shapes=True, free=("gamma",), kept=("a",), terms=8),
    RuleCase("fuse-bias-softmax", "a = Add(x, bias) y = Softmax<axis = -1>(a)", {"x": "float[2, 3, 8]", "bias": "float[1, 1, 8]"},
             {"com.microsoft.BiasSoftmax": 1}, needs_shapes=True, terms=8, peer_has_it=False),
]

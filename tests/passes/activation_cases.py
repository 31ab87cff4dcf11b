import numpy as np

from .rule_case import RuleCase

X = {"x": "float[2, 3, 4]"}
SCALARS = {"root": np.float32(2**0.5), "one": np.float32(1), "half": np.float32(0.5)}
TANH = {"three": np.float32(3), "cubic": np.float32(0.044715), "scale": np.float32((2 / np.pi) ** 0.5),
        "one": np.float32(1), "half": np.float32(0.5)}
GELU = "d = Div(x, root) e = Erf(d) p = Add(one, e) q = Mul(x, p) y = Mul(q, half)"

CASES = [
    RuleCase("fuse-gelu", GELU, X, {"com.microsoft.Gelu": 1}, SCALARS),
    RuleCase("fuse-gelu", GELU, X, {"Gelu": 1}, SCALARS, opset=20, name="fuse-gelu of ONNX"),
    RuleCase("fuse-gelu",
             "h = Mul(half, x) d = Mul(x, inverse) e = Erf(d) p = Add(e, one) y = Mul(h, p)",
             X, {"com.microsoft.Gelu": 1}, {"half": SCALARS["half"], "one": SCALARS["one"], "inverse": np.float32(0.5**0.5)},
             name="fuse-gelu with products"),
    RuleCase("fuse-gelu-tanh",
             "c = Pow(x, three) s = Mul(cubic, c) a = Add(x, s) t = Mul(a, scale) e = Tanh(t) p = Add(e, one) "
             "q = Mul(x, p) y = Mul(q, half)",
             X, {"com.microsoft.FastGelu": 1}, TANH),
    RuleCase("fuse-gelu-tanh",
             "c = Mul(x, x) s = Mul(c, cubic) a = Add(s, one) u = Mul(x, scale) t = Mul(u, a) e = Tanh(t) "
             "p = Add(one, e) h = Mul(x, half) y = Mul(h, p)",
             X, {"Gelu": 1}, {k: v for k, v in TANH.items() if k != "three"}, opset=20, name="fuse-gelu-tanh factored"),
    RuleCase("fuse-quick-gelu", "a = Mul(x, alpha) s = Sigmoid(a) y = Mul(x, s)", X, {"com.microsoft.QuickGelu": 1},
             {"alpha": np.float32(1.702)}),
    RuleCase("fuse-quick-gelu", "s = Sigmoid(x) y = Mul(x, s)", X, {"Swish": 1}, opset=24, ir_version=10,
             name="fuse-quick-gelu of ONNX"),
    RuleCase("fuse-bias-gelu", "a = Add(x, bias) y = com.microsoft.Gelu(a)", X, {"com.microsoft.BiasGelu": 1},
             {"bias": (4,)}, needs_shapes=True),
    RuleCase("fuse-bias-gelu", 'a = Add(bias, x) y = Gelu<approximate = "tanh">(a)', X, {"com.microsoft.FastGelu": 1},
             {"bias": (4,)}, opset=20, needs_shapes=True, name="fuse-bias-gelu by tanh"),
]

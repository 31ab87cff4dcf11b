"""How far two correct engines may be apart: a first-order bound of the rounding error, from the model and its values.

Each tensor gets one number E, a bound for the error of all its elements. For a node with result y of type t

    E(y) = sum over float inputs of gain(input) * E(input)  +  eps(t) * (ULPS + n) * scale

where n is the number of terms that are added up for one element, scale is max(1, |y|, the sum of the magnitudes that are
added up), and gain is how much the operator can enlarge a change of that input. Operators that only move or select
elements add nothing. 16-bit floats are computed as float32 and rounded once: their second summand is
eps(float32) * (ULPS + n) * scale + eps(t) * max(1, |y|). Two engines may differ by 2 E. Nothing here is adjusted to an
engine: eps, n and the magnitudes come from the types, shapes and values of the graph.
"""

import math

import ml_dtypes
import numpy as np
from onnx import helper

ULPS = 8.0  # what an approximation of a transcendental function may cost
FLOAT32_EPS = 2.0**-23
DEFAULT_GAIN = 1.0  # sums, averages and the activations that are nowhere steeper than 1
STEEP_GAIN = 2.0
STEEP = frozenset("Elu Celu Selu Gelu HardSwish Mish LogSoftmax LRN ReduceLogSumExp DequantizeLinear".split())
MOVES = frozenset(
    "Identity Transpose Reshape Flatten Squeeze Unsqueeze Expand Slice Concat Split Pad Tile DepthToSpace SpaceToDepth Trilu "
    "ReverseSequence Gather GatherElements GatherND ScatterElements Compress Where Neg Abs Relu Max Min Clip "
    "ReduceMax ReduceMin MaxPool GlobalMaxPool TopK SequenceAt ConcatFromSequence".split()
)
SUMS = frozenset("ReduceSum ReduceL1 ReduceL2 CumSum".split())
PRODUCTS = frozenset("MatMul Gemm Conv ConvTranspose Einsum Mul".split())
NORMALIZATIONS = frozenset(
    "LayerNormalization RMSNormalization InstanceNormalization GroupNormalization BatchNormalization".split()
)
RECURRENT = frozenset("LSTM GRU RNN".split())
CONTROL = frozenset("Loop Scan If".split())
CONTROL_GAIN = 16.0  # for one pass through a body


def error_bounds(model, values):
    """{name: E} for every float tensor. `values` holds the arrays of all tensors of the main graph by name."""
    errors = {}
    for node in model.graph.node:
        inputs = [values.get(name) for name in node.input]
        outputs = [values.get(name) for name in node.output]
        errors_in = [errors.get(name, 0.0) for name in node.input]
        errors_in += [errors.get(name, 0.0) for name in captured_names(node)]
        for name, output in zip(node.output, outputs):
            errors[name] = node_error(node, inputs, output, errors_in)
    return errors


def node_error(node, inputs, output, errors_in):
    if not isinstance(output, np.ndarray):
        return max(errors_in, default=0.0)  # a sequence has the errors of its elements
    eps = epsilon(output)
    if eps == 0.0:
        return 0.0
    if node.op_type in MOVES:
        return max(errors_in, default=0.0)
    terms = added_terms(node, inputs, output)
    magnitudes = [magnitude(value) for value in inputs]
    gains = input_gains(node, inputs, output, terms, magnitudes)
    carried = sum(gain * error for gain, error in zip(gains, errors_in))
    result_scale = max(1.0, magnitude(output))
    scale = max(result_scale, summed_magnitude(node, magnitudes, terms))
    if eps <= FLOAT32_EPS:
        return carried + eps * (ULPS + terms) * scale
    return carried + FLOAT32_EPS * (ULPS + terms) * scale + eps * result_scale


def input_gains(node, inputs, output, terms, magnitudes):
    op = node.op_type
    least = [smallest(value) for value in inputs]
    padding = [DEFAULT_GAIN] * 64
    if op in CONTROL:
        return [CONTROL_GAIN * passes(node, inputs, output)] * 64
    if op in PRODUCTS:
        others = [math.prod(m for j, m in enumerate(magnitudes[:2]) if j != i) for i in range(2)]
        return [factor(node) * terms * other for other in others] + padding
    if op in SUMS:
        return [float(terms)] + padding
    if op == "ReduceSumSquare":
        return [2 * terms * magnitudes[0]]
    if op == "ReduceProd":
        return [terms * max(1.0, magnitudes[0]) ** (terms - 1)]
    if op == "Exp":
        return [magnitude(output)]
    if op in ("Log", "ReduceLogSum"):
        return [1.0 / least[0]]
    if op == "Sqrt":
        return [0.5 / math.sqrt(least[0])]
    if op == "Reciprocal":
        return [1.0 / least[0] ** 2]
    if op == "Div":
        return [1.0 / least[1], magnitudes[0] / least[1] ** 2]
    if op == "Pow":
        # Below an exponent of 1 the slope is steepest at the least base, from there on at the largest.
        base, power = (magnitudes[0], least[1] - 1) if least[1] >= 1 else (1.0 / least[0], magnitudes[1] + 1)
        return [magnitudes[1] * max(1.0, base) ** power] + padding
    if op == "LpNormalization":
        return [2.0 / least[0]]
    if op in NORMALIZATIONS:
        spread = math.sqrt(attribute(node, "epsilon", 1e-5) + (least[4] if op == "BatchNormalization" else 0.0))
        return [4.0 * max(1.0, magnitudes[1]) * (1.0 + magnitudes[0]) / spread] * 64
    if op in RECURRENT:
        return [inputs[0].shape[0] * inputs[0].shape[2] * max(1.0, magnitudes[1])] * 64
    if op == "Attention":
        return [2.0 * terms * math.prod(magnitudes[:3])] * 64
    if op in STEEP:
        return [STEEP_GAIN] + padding
    if op == "PRelu":
        return [max(1.0, magnitudes[1]), magnitudes[0]]
    return padding


def added_terms(node, inputs, output):
    """How many terms one element of the result is the sum of."""
    op, x = node.op_type, inputs[0] if inputs else None
    if op in ("MatMul", "Gemm"):
        return x.shape[0] if op == "Gemm" and attribute(node, "transA", 0) else (x.shape[-1] if x.ndim else 1)
    if op == "Conv":
        return int(np.prod(inputs[1].shape[1:]))
    if op == "ConvTranspose":
        return int(np.prod(inputs[1].shape)) // max(1, inputs[1].shape[1])
    if op == "Einsum":
        return int(np.prod([max(value.shape, default=1) for value in inputs]))
    if op.startswith("Reduce"):
        return -(-x.size // max(1, output.size))
    if op in RECURRENT:
        return x.shape[0] * (x.shape[2] + inputs[2].shape[2]) * 4
    if op in CONTROL:
        return 16 * passes(node, inputs, output)
    if op in NORMALIZATIONS or op in ("CumSum", "Softmax", "LogSoftmax", "LpNormalization", "GlobalAveragePool"):
        return max(1, x.size // max(1, x.shape[0])) if x.ndim > 1 else max(1, x.size)
    if op == "Attention":
        return inputs[0].shape[-1] + inputs[1].shape[-2]
    if op == "AveragePool":
        return int(np.prod(attribute(node, "kernel_shape", [1])))
    return max(1, len(inputs)) if op in ("Sum", "Mean") else 1


def summed_magnitude(node, magnitudes, terms):
    if node.op_type in PRODUCTS:
        return factor(node) * terms * math.prod(magnitudes[:2]) + sum(magnitudes[2:])
    if node.op_type in SUMS or node.op_type in ("ReduceMean", "Add", "Sub", "Sum", "Mean"):
        return terms * sum(magnitudes)
    return terms * magnitudes[0] ** 2 if node.op_type == "ReduceSumSquare" else max(magnitudes, default=0.0)


def passes(node, inputs, output):
    if node.op_type == "If":
        return 1
    if node.op_type == "Scan":
        return max((value.shape[0] for value in inputs if value is not None and value.ndim), default=1)
    trips = inputs[0]
    return int(trips.reshape(-1)[0]) + 1 if trips is not None else max(output.shape[:1], default=1) + 1


def factor(node):
    return max(1.0, abs(attribute(node, "alpha", 1.0)), abs(attribute(node, "beta", 1.0)))


def captured_names(node):
    """Names of outer values that the bodies of a node read."""
    graphs = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    return sorted({name for graph in graphs for inner in graph.node for name in [*inner.input, *captured_names(inner)]})


def attribute(node, name, default):
    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), default)


def epsilon(value):
    """The spacing of a float type at 1; 0 for types without rounding."""
    if not is_float(value):
        return 0.0
    return float(ml_dtypes.finfo(value.dtype).eps)


def is_float(value):
    return isinstance(value, np.ndarray) and (value.dtype.kind == "f" or value.dtype.name == "bfloat16")


def magnitude(value):
    if not is_float(value) or value.size == 0:
        return 0.0
    return float(np.abs(np.nan_to_num(value.astype(np.float64), posinf=0.0, neginf=0.0)).max())


def smallest(value):
    """The least magnitude, for slopes of functions with a pole at 0."""
    if not is_float(value) or value.size == 0:
        return 1.0
    return max(float(np.abs(value.astype(np.float64)).min()), 1e-6)

"""Small models, each with a way of using weights that a compile folds and a swap must keep.

A model is a function of a numpy Generator: the same graph for every generator, with other weights."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 21


def weight(name, array):
    return numpy_helper.from_array(np.ascontiguousarray(array), name)


def floats(rng, *shape, scale=0.5):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def positive(rng, *shape):
    return (rng.random(shape) + 0.5).astype(np.float32)


def model(nodes, inputs, outputs, initializers, functions=(), ir_version=10, more_opsets=()):
    """inputs and outputs: (name, element type, shape)."""
    values = [[helper.make_tensor_value_info(*value) for value in side] for side in (inputs, outputs)]
    graph = helper.make_graph(list(nodes), "zoo", *values, initializer=list(initializers))
    opsets = [helper.make_opsetid("", OPSET), *more_opsets]
    made = helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=ir_version)
    made = onnx.shape_inference.infer_shapes(made, data_prop=True)
    del made.graph.value_info[:]
    onnx.checker.check_model(made)
    return made


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, name=f"{op}_{outputs[0]}", **attributes)


FLOAT = TensorProto.FLOAT


def norm_weights(rng, prefix, channels):
    return [weight(f"{prefix}.gamma", positive(rng, channels)), weight(f"{prefix}.beta", floats(rng, channels)),
            weight(f"{prefix}.mean", floats(rng, channels)), weight(f"{prefix}.var", positive(rng, channels))]


def norm(prefix, x, y, **attributes):
    return node("BatchNormalization", [x] + [f"{prefix}.{part}" for part in ("gamma", "beta", "mean", "var")], [y],
                **attributes)


def conv_norm_relu(rng):
    return model(
        [node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]), norm("n", "c", "d"), node("Relu", ["d"], ["y"])],
        [("x", FLOAT, ["batch", 3, "h", "v"])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 20, 3, 3, 3)), weight("b", floats(rng, 20)), *norm_weights(rng, "n", 20)])


def winograd_conv_norm(rng):
    """A 3x3 convolution with enough channels to be computed at the points of tiles."""
    return model(
        [node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]), norm("n", "c", "d"), node("Relu", ["d"], ["y"])],
        [("x", FLOAT, ["batch", 32, 7, "v"])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 40, 32, 3, 3)), weight("b", floats(rng, 40)), *norm_weights(rng, "n", 40)])


def conv_scale_shift_norm(rng):
    """Mul and Add by constants between a convolution and its normalization."""
    return model(
        [node("Conv", ["x", "w"], ["c"], strides=[2, 2], group=2), node("Mul", ["c", "s"], ["d"]),
         node("Add", ["d", "t"], ["e"]), norm("n", "e", "f"), node("Sub", ["f", "u"], ["g"]),
         node("Div", ["g", "v"], ["h"]), node("Clip", ["h", "low", "high"], ["y"])],
        [("x", FLOAT, ["batch", 4, 9, 9])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 6, 2, 3, 3)), weight("s", positive(rng, 1, 6, 1, 1)), weight("t", floats(rng, 6, 1, 1)),
         *norm_weights(rng, "n", 6), weight("u", floats(rng, 1)), weight("v", positive(rng, 6, 1, 1)),
         weight("low", np.float32(-0.5)), weight("high", np.float32(2))])


def depthwise_conv(rng):
    return model(
        [node("Conv", ["x", "w", "b"], ["c"], group=18, pads=[1, 1, 1, 1]), norm("n", "c", "d"),
         node("HardSwish", ["d"], ["y"])],
        [("x", FLOAT, [1, 18, 8, 8])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 18, 1, 3, 3)), weight("b", floats(rng, 18)), *norm_weights(rng, "n", 18)])


def transposed_conv_norm(rng):
    return model(
        [node("ConvTranspose", ["x", "w", "b"], ["c"], group=2, strides=[2, 2]), norm("n", "c", "d"),
         node("Mul", ["d", "s"], ["y"])],
        [("x", FLOAT, ["batch", 4, 5, 5])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 4, 3, 3, 3)), weight("b", floats(rng, 6)), *norm_weights(rng, "n", 6),
         weight("s", positive(rng, 6, 1, 1))])


def transposed_conv_relu(rng):
    """A window that is wider than its steps, and channels that fill no panel."""
    return model(
        [node("ConvTranspose", ["x", "w", "b"], ["c"], strides=[2, 3], pads=[1, 1, 0, 1]), norm("n", "c", "d"),
         node("Relu", ["d"], ["y"])],
        [("x", FLOAT, ["batch", 5, "h", "v"])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 5, 19, 4, 5)), weight("b", floats(rng, 19)), *norm_weights(rng, "n", 19)])


def gemm_norm(rng):
    return model(
        [node("Gemm", ["x", "w", "b"], ["c"], transB=1, alpha=0.5, beta=2.0), norm("n", "c", "d"),
         node("Sigmoid", ["d"], ["y"])],
        [("x", FLOAT, ["batch", 10])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 33, 10)), weight("b", floats(rng, 33)), *norm_weights(rng, "n", 33)])


def matmul_norm(rng):
    return model(
        [node("MatMul", ["x", "w"], ["c"]), node("Add", ["c", "b"], ["d"]), norm("n", "d", "e"),
         node("LeakyRelu", ["e"], ["y"], alpha=0.2)],
        [("x", FLOAT, ["batch", 7])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 7, 19)), weight("b", floats(rng, 1, 19)), *norm_weights(rng, "n", 19)])


def bias_and_scale(rng):
    return model(
        [node("MatMul", ["x", "w"], ["c"]), node("Mul", ["c", "s"], ["d"]), node("Add", ["b", "d"], ["e"]),
         node("Gelu", ["e"], ["y"])],
        [("x", FLOAT, ["batch", "time", 12])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 12, 16)), weight("s", np.float32(rng.random() + 0.5)), weight("b", floats(rng, 16))])


def transposed_and_cast(rng):
    """Weights stored as float16 and bfloat16 and transposed, computed in float."""
    bf16 = helper.make_tensor("v", TensorProto.BFLOAT16, [17, 9], floats(rng, 17, 9).ravel().tolist())
    return model(
        [node("Cast", ["w"], ["wf"], to=FLOAT), node("Transpose", ["wf"], ["wt"], perm=[1, 0]),
         node("MatMul", ["x", "wt"], ["c"]), node("Cast", ["v"], ["vf"], to=FLOAT), node("MatMul", ["c", "vf"], ["y"])],
        [("x", FLOAT, ["batch", 5])], [("y", FLOAT, None)],
        [weight("w", floats(rng, 17, 5).astype(np.float16)), bf16])


def _quantized(rng, name, dtype, code, shape, axis, scale_shape, zero=True, block=0):
    low, high = {"int8": (-128, 128), "uint8": (0, 256), "int4": (-8, 8)}[dtype]
    values = rng.integers(low, high, shape)
    made = [helper.make_tensor(name, code, shape, values.ravel().tolist()),
            weight(f"{name}.scale", positive(rng, *scale_shape) * np.float32(0.02))]
    inputs = [name, f"{name}.scale"]
    if zero:
        points = rng.integers(low // 4, high // 4, scale_shape)
        made.append(helper.make_tensor(f"{name}.zero", code, list(scale_shape), points.ravel().tolist()))
        inputs.append(f"{name}.zero")
    attributes = {"axis": axis} | ({"block_size": block} if block else {})
    return made, node("DequantizeLinear", inputs, [f"{name}.float"], **attributes)


def dequantized(rng):
    """Per tensor, per channel and per block; int8, uint8 and int4."""
    a, dequantize_a = _quantized(rng, "a", "int8", TensorProto.INT8, [8, 16], 1, ())
    b, dequantize_b = _quantized(rng, "b", "uint8", TensorProto.UINT8, [16, 12], 1, (12,))
    c, dequantize_c = _quantized(rng, "c", "int4", TensorProto.INT4, [12, 6], 0, (3, 6), block=4)
    return model(
        [dequantize_a, dequantize_b, dequantize_c, node("MatMul", ["x", "a.float"], ["p"]), node("Relu", ["p"], ["q"]),
         node("MatMul", ["q", "b.float"], ["r"]), node("MatMul", ["r", "c.float"], ["y"])],
        [("x", FLOAT, ["batch", 8])], [("y", FLOAT, None)], [*a, *b, *c])


def attention_projections(rng):
    """Three products of one input, as the projections of an attention."""
    names = "qkv"
    nodes, weights = [], []
    for name in names:
        nodes += [node("MatMul", ["x", f"w{name}"], [f"m{name}"]), node("Add", [f"m{name}", f"b{name}"], [name])]
        weights += [weight(f"w{name}", floats(rng, 24, 24)), weight(f"b{name}", floats(rng, 24))]
    nodes += [node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]), node("MatMul", ["q", "kt"], ["s"]),
              node("Softmax", ["s"], ["p"], axis=-1), node("MatMul", ["p", "v"], ["y"])]
    return model(nodes, [("x", FLOAT, ["batch", "time", 24])], [("y", FLOAT, None)], weights)


def attention_of_heads(rng):
    """Heads that are split, scaled by a weight on both sides, and joined."""
    nodes, weights = [], [weight("scale", positive(rng, 1)), weight("wo", floats(rng, 24, 24)),
                          weight("split", np.array([0, 0, 4, 6])), weight("join", np.array([0, 0, 24]))]
    for name, order in zip("qkv", ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]), strict=True):
        nodes += [node("MatMul", ["x", f"w{name}"], [f"m{name}"]), node("Reshape", [f"m{name}", "split"], [f"r{name}"]),
                  node("Transpose", [f"r{name}"], [f"t{name}"], perm=order)]
        weights.append(weight(f"w{name}", floats(rng, 24, 24)))
    nodes += [node("Mul", ["tq", "scale"], ["q"]), node("Mul", ["tk", "scale"], ["k"]), node("MatMul", ["q", "k"], ["s"]),
              node("Softmax", ["s"], ["p"], axis=-1), node("MatMul", ["p", "tv"], ["o"]),
              node("Transpose", ["o"], ["ot"], perm=[0, 2, 1, 3]), node("Reshape", ["ot", "join"], ["j"]),
              node("MatMul", ["j", "wo"], ["y"])]
    return model(nodes, [("x", FLOAT, ["batch", "time", 24])], [("y", FLOAT, None)], weights)


def tied_embedding(rng):
    return model(
        [node("Gather", ["e", "ids"], ["g"]), node("Transpose", ["e"], ["et"], perm=[1, 0]),
         node("MatMul", ["g", "et"], ["y"])],
        [("ids", TensorProto.INT64, ["batch", "time"])], [("y", FLOAT, None)], [weight("e", floats(rng, 40, 12))])


def weights_in_bodies(rng):
    """Both branches name their weight alike."""

    def branch(name):
        return helper.make_graph([node("MatMul", ["x", "w"], [f"r{name}"])], name, [],
                                 [helper.make_tensor_value_info(f"r{name}", FLOAT, ["n", 6])],
                                 initializer=[weight("w", floats(rng, 6, 6))])

    body = helper.make_graph(
        [node("Identity", ["more"], ["again"]), node("MatMul", ["state", "lw"], ["m"]), node("Add", ["m", "lb"], ["next"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("more", TensorProto.BOOL, []),
         helper.make_tensor_value_info("state", FLOAT, ["n", 6])],
        [helper.make_tensor_value_info("again", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", FLOAT, ["n", 6])],
        initializer=[weight("lw", floats(rng, 6, 6)), weight("lb", floats(rng, 6))])
    return model(
        [node("If", ["c"], ["h"], then_branch=branch("then"), else_branch=branch("other")),
         node("Loop", ["n", "", "h"], ["y"], body=body)],
        [("x", FLOAT, ["batch", 6]), ("c", TensorProto.BOOL, [])], [("y", FLOAT, ["rows", 6])],
        [weight("n", np.int64(3))])


def weights_in_functions(rng):
    """One constant of a function body, called twice."""
    function = helper.make_function(
        "local", "Dense", ["a"], ["b"],
        [helper.make_node("Constant", [], ["fw"], value=numpy_helper.from_array(floats(rng, 8, 8), "fw")),
         helper.make_node("MatMul", ["a", "fw"], ["m"]), helper.make_node("Relu", ["m"], ["b"])],
        [helper.make_opsetid("", OPSET)])
    return model(
        [helper.make_node("Dense", ["x"], ["h"], domain="local", name="first"),
         helper.make_node("Dense", ["h"], ["y"], domain="local", name="second")],
        [("x", FLOAT, ["batch", 8])], [("y", FLOAT, None)], [], functions=[function],
        more_opsets=[helper.make_opsetid("local", 1)])


def weight_is_output(rng):
    return model([node("MatMul", ["x", "w"], ["y"])], [("x", FLOAT, ["batch", 5])],
                 [("y", FLOAT, None), ("w", FLOAT, [5, 18])], [weight("w", floats(rng, 5, 18))])


def weight_is_input(rng):
    """Listed as input before IR version 4: a weight all the same."""
    return model([node("MatMul", ["x", "w"], ["y"])], [("x", FLOAT, ["batch", 5]), ("w", FLOAT, [5, 18])],
                 [("y", FLOAT, None)], [weight("w", floats(rng, 5, 18))], ir_version=3)


def reshaped_by_constants(rng):
    return model(
        [node("Reshape", ["x", "shape"], ["r"]), node("MatMul", ["r", "w"], ["m"]),
         node("Reshape", ["w2", "shape2"], ["v"]), node("MatMul", ["m", "v"], ["y"])],
        [("x", FLOAT, ["batch", 12])], [("y", FLOAT, None)],
        [weight("shape", np.array([-1, 4], np.int64)), weight("w", floats(rng, 4, 20)), weight("w2", floats(rng, 100)),
         weight("shape2", np.array([20, 5], np.int64))])


def weight_norm_conv(rng):
    """g * v / |v|, once with a norm and once with the steps it is made of."""
    return model(
        [node("ReduceL2", ["v", "axes"], ["l"]), node("Div", ["v", "l"], ["u"]), node("Mul", ["u", "g"], ["w"]),
         node("Conv", ["x", "w", "b"], ["c"], pads=[2, 2]), node("Relu", ["c"], ["d"]),
         node("Pow", ["v2", "two"], ["q"]), node("ReduceSum", ["q", "axes"], ["s"]), node("Sqrt", ["s"], ["l2"]),
         node("Div", ["g2", "l2"], ["f"]), node("Mul", ["v2", "f"], ["w2"]), node("Conv", ["d", "w2"], ["y"])],
        [("x", FLOAT, ["batch", 3, "time"])], [("y", FLOAT, None)],
        [weight("v", floats(rng, 20, 3, 5)), weight("g", positive(rng, 20, 1, 1)), weight("b", floats(rng, 20)),
         weight("v2", floats(rng, 4, 20, 1)), weight("g2", positive(rng, 4, 1, 1)),
         weight("axes", np.array([1, 2])), weight("two", np.float32(2))])


def position_bias(rng):
    """A table that constant indices read, for each pair of positions."""
    side = np.arange(7)
    return model(
        [node("Gather", ["table", "index"], ["g"]), node("Transpose", ["g"], ["t"], perm=[2, 0, 1]),
         node("Unsqueeze", ["t", "zero"], ["u"]), node("Add", ["x", "u"], ["s"]), node("Softmax", ["s"], ["y"])],
        [("x", FLOAT, ["batch", 2, 7, 7])], [("y", FLOAT, None)],
        [weight("table", floats(rng, 13, 2)), weight("index", side[:, None] - side + 6), weight("zero", np.array([0]))])


def functions_of_weights(rng):
    """Einsum, exponentials and normalizations of weights, as state-space and gated models have them."""
    return model(
        [node("Einsum", ["a", "b"], ["w"], equation="ir,ro->io"), node("MatMul", ["x", "w"], ["p"]),
         node("Exp", ["log_decay"], ["e"]), node("Neg", ["e"], ["n"]), node("Mul", ["p", "n"], ["q"]),
         node("Softplus", ["step"], ["f"]), node("Add", ["q", "f"], ["r"]),
         node("Sigmoid", ["gate"], ["s"]), node("Mul", ["r", "s"], ["t"]),
         node("LayerNormalization", ["m", "gamma"], ["k"]), node("Softmax", ["k"], ["j"]), node("Gelu", ["j"], ["v"]),
         node("MatMul", ["t", "v"], ["z"]), node("Greater", ["gate", "step"], ["mask"]),
         node("Where", ["mask", "gate", "step"], ["i"]), node("MatMul", ["i", "v"], ["h"]),
         node("Add", ["z", "h"], ["y"])],
        [("x", FLOAT, ["batch", 6])], [("y", FLOAT, None)],
        [weight("a", floats(rng, 6, 9)), weight("b", floats(rng, 9, 8)), weight("log_decay", floats(rng, 8)),
         weight("step", floats(rng, 8)), weight("gate", floats(rng, 8)), weight("m", floats(rng, 8, 5)),
         weight("gamma", positive(rng, 5))])


def _layer(rng, prefix, gates, directions, inputs, hidden):
    return [weight(f"{prefix}.w", floats(rng, directions, gates * hidden, inputs)),
            weight(f"{prefix}.r", floats(rng, directions, gates * hidden, hidden)),
            weight(f"{prefix}.b", floats(rng, directions, 2 * gates * hidden))]


def bidirectional_lstm(rng):
    """Peepholes, a first state that is a weight, and a second layer that reads both directions."""
    return model(
        [node("LSTM", ["x", "a.w", "a.r", "a.b", "", "h", "", "p"], ["s"], hidden_size=18, direction="bidirectional"),
         node("Transpose", ["s"], ["t"], perm=[0, 2, 1, 3]), node("Reshape", ["t", "shape"], ["u"]),
         node("LSTM", ["u", "b.w", "b.r", "b.b"], ["", "y"], hidden_size=5, direction="reverse")],
        [("x", FLOAT, ["time", 1, 6])], [("y", FLOAT, None)],
        [*_layer(rng, "a", 4, 2, 6, 18), weight("h", floats(rng, 2, 1, 18)), weight("p", floats(rng, 2, 54)),
         weight("shape", np.array([0, 0, 36])), *_layer(rng, "b", 4, 1, 36, 5)])


def gru_and_rnn(rng):
    """Both forms of GRU share their weights, one of which is stored as float16."""
    w, r, b = _layer(rng, "g", 3, 1, 6, 17)
    half = weight("g.w16", numpy_helper.to_array(w).astype(np.float16))
    return model(
        [node("Cast", ["g.w16"], ["g.w"], to=FLOAT),
         node("GRU", ["x", "g.w", "g.r", "g.b"], ["s"], hidden_size=17, linear_before_reset=1),
         node("GRU", ["x", "g.w", "g.r"], ["t"], hidden_size=17), node("Add", ["s", "t"], ["u"]),
         node("Squeeze", ["u", "one"], ["v"]),
         node("RNN", ["v", "n.w", "n.r", "n.b"], ["y"], hidden_size=4, activations=["Relu"])],
        [("x", FLOAT, ["time", "batch", 6])], [("y", FLOAT, None)],
        [half, r, b, weight("one", np.array([1])), *_layer(rng, "n", 1, 1, 17, 4)])


ZOO = {f.__name__: f for f in (
    conv_norm_relu, winograd_conv_norm, conv_scale_shift_norm, depthwise_conv, transposed_conv_norm, transposed_conv_relu,
    gemm_norm, matmul_norm, bias_and_scale, transposed_and_cast, dequantized, attention_projections,
    attention_of_heads, tied_embedding,
    weights_in_bodies, weights_in_functions, weight_is_output, weight_is_input, reshaped_by_constants, weight_norm_conv,
    position_bias, functions_of_weights, bidirectional_lstm, gru_and_rnn)}


def feed(made, rng):
    """Inputs for a model of the zoo."""
    initial = {tensor.name for tensor in made.graph.initializer}
    feeds = {}
    for value in made.graph.input:
        if value.name in initial:
            continue
        tensor = value.type.tensor_type
        dims = [d.dim_value or {"batch": 2, "time": 5, "h": 7, "v": 6}[d.dim_param] for d in tensor.shape.dim]
        if tensor.elem_type == TensorProto.INT64:
            feeds[value.name] = rng.integers(0, 40, dims)
        elif tensor.elem_type == TensorProto.BOOL:
            feeds[value.name] = np.array(True)
        else:
            feeds[value.name] = floats(rng, *dims)
    return feeds

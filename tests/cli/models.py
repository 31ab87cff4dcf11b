"""Small models for trying the command line out."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 21


def tensor(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def save(path, nodes, inputs, outputs, weights=None, **options):
    initializers = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", 3)]
    opsets.append(helper.make_opsetid("com.microsoft", 1))
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10, **options), path)
    return path


def linear(path, scale=1.0):
    """y = relu(x @ w + b), x of shape [n, 2]."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], name="multiply"),
        helper.make_node("Add", ["product", "b"], ["sum"], name="shift"),
        helper.make_node("Relu", ["sum"], ["y"], name="cut"),
    ]
    weights = {"w": np.array([[1, 2], [3, 4]], np.float32) * np.float32(scale), "b": np.array([-10, 1], np.float32)}
    return save(path, nodes, [tensor("x", ["n", 2])], [tensor("y", ["n", 2])], weights, producer_name="hand")


def identity(path, dtype=TensorProto.FLOAT, shape=("n",), name="x"):
    nodes = [helper.make_node("Identity", [name], ["y"])]
    return save(path, nodes, [tensor(name, shape, dtype)], [tensor("y", shape, dtype)])


def embedding(path, rows=5):
    """Looks rows of a table up: indices outside it are an error."""
    nodes = [
        helper.make_node("Cast", ["ids"], ["wide"], to=TensorProto.INT64),
        helper.make_node("Sub", ["wide", "one"], ["shifted"]),
        helper.make_node("Gather", ["table", "shifted"], ["y"], name="lookup"),
    ]
    weights = {"table": np.arange(rows, dtype=np.float32), "one": np.array(1, np.int64)}
    return save(path, nodes, [tensor("ids", ["n"], TensorProto.INT32)], [tensor("y", ["n"])], weights)


def sequence(path):
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    values = [helper.make_value_info(name, kind) for name in ("x", "y")]
    return save(path, [helper.make_node("Identity", ["x"], ["y"])], values[:1], values[1:])


def maps(path):
    """A sequence of maps: one per row, from words to numbers."""
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["oak", "elm"])
    element = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    output = helper.make_value_info("y", helper.make_sequence_type_proto(element))
    return save(path, [node], [tensor("x", [None, 2])], [output])


def unknown_op(path):
    nodes = [helper.make_node("NoSuchOp", ["x"], ["y"], name="odd", domain="com.microsoft")]
    return save(path, nodes, [tensor("x", [2])], [tensor("y", [2])])


def artifact(path):
    nodes = [helper.make_node("EPContext", ["x"], ["y"], domain="com.microsoft", source="tenon")]
    return save(path, nodes, [tensor("x", [2])], [tensor("y", [2])])


def weights_of(shapes, seed=0):
    generator = np.random.default_rng(seed)
    return {name: generator.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def convolution(path, seed=0, channels=4):
    """relu(norm(conv(x))): the normalization moves into the weights of the convolution."""
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], ["n"], name="norm"),
        helper.make_node("Relu", ["n"], ["y"], name="cut"),
    ]
    c = channels
    weights = weights_of({"w": (c, 3, 3, 3), "b": c, "scale": c, "shift": c, "mean": c, "variance": c}, seed)
    weights["variance"] = np.abs(weights["variance"]) + np.float32(0.5)
    return save(path, nodes, [tensor("x", ["n", 3, 8, 8])], [tensor("y", ["n", c, 8, 8])], weights)


def head(path, name, backbone_seed=0, width=8):
    """A backbone of two products, and a head of its own."""
    nodes = [
        helper.make_node("MatMul", ["x", "backbone.0"], ["h0"], name="first"),
        helper.make_node("Relu", ["h0"], ["h1"]),
        helper.make_node("MatMul", ["h1", "backbone.1"], ["h2"], name="second"),
        helper.make_node("MatMul", ["h2", f"{name}.w"], ["y"], name=name),
    ]
    weights = weights_of({"backbone.0": (16, width), "backbone.1": (width, width)}, backbone_seed)
    weights |= weights_of({f"{name}.w": (width, 5)}, sum(map(ord, name)))
    return save(path, nodes, [tensor("x", ["n", 16])], [tensor("y", ["n", 5])], weights)


def step(path, length, seed=0):
    """One of several models that differ in the length of their input alone: prefill and decode."""
    nodes = [
        helper.make_node("MatMul", ["x", "up"], ["h"], name="up"),
        helper.make_node("Relu", ["h"], ["a"]),
        helper.make_node("MatMul", ["a", "down"], ["d"], name="down"),
        helper.make_node("Add", ["d", "bias"], ["y"], name="shift"),
    ]
    weights = weights_of({"up": (16, 32), "down": (32, 16), "bias": 16}, seed)
    return save(path, nodes, [tensor("x", [1, length, 16])], [tensor("y", [1, length, 16])], weights)


def external(path, location, shape=(4,)):
    """y = x + w, with w in another file."""
    save(path, [helper.make_node("Add", ["x", "w"], ["y"])], [tensor("x", shape)], [tensor("y", shape)],
         {"w": np.ones(shape, np.float32)})
    onnx.save(onnx.load(path), path, save_as_external_data=True, location=location, size_threshold=0)
    return path

"""Small models for the tests of the Python interface."""

import numpy as np
import onnx
from onnx import TensorProto, helper

FLOAT = TensorProto.FLOAT


def tensor(name, dtype=FLOAT, shape=None):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initializers=(), opset=21, **fields):
    """The bytes of a model. initializers: {name: array}."""
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in dict(initializers).items()]
    graph = helper.make_graph(nodes, "graph", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10, **fields)
    return made.SerializeToString()


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def add(shape=("n", 2)):
    """z = x + y with y of two elements."""
    return model([node("Add", "x y", "z")], [tensor("x", FLOAT, list(shape)), tensor("y", FLOAT, [2])],
                 [tensor("z", FLOAT, list(shape))])


def identity(dtype=FLOAT, shape=("n",)):
    return model([node("Identity", "x", "y")], [tensor("x", dtype, shape)], [tensor("y", dtype, shape)], opset=25)


def weighted(weight=(1.0, 1.0), listed=False):
    """z = x + w; the initializer w is also an input if it is listed."""
    inputs = [tensor("x", FLOAT, [2])] + ([tensor("w", FLOAT, [2])] if listed else [])
    return model([node("Add", "x w", "z")], inputs, [tensor("z", FLOAT, [2])], {"w": np.array(weight, np.float32)})


def two_outputs():
    """s = x + y, r = relu(x)."""
    return model([node("Add", "x y", "s"), node("Relu", "x", "r")],
                 [tensor("x", FLOAT, ["n"]), tensor("y", FLOAT, ["n"])],
                 [tensor("s", FLOAT, ["n"]), tensor("r", FLOAT, ["n"])])


def long_running(steps=400, size=128):
    """A chain of matrix products."""
    nodes = [node("MatMul", f"v{i} w", f"v{i + 1}") for i in range(steps)]
    return model(nodes, [tensor("v0", FLOAT, [size, size])], [tensor(f"v{steps}", FLOAT, [size, size])],
                 {"w": np.eye(size, dtype=np.float32)})


def typed(name, type_proto):
    return helper.make_value_info(name, type_proto)


def sequence_type(dtype=FLOAT, shape=None):
    return helper.make_sequence_type_proto(helper.make_tensor_type_proto(dtype, shape))


def optional_type(dtype=FLOAT, shape=None):
    return helper.make_optional_type_proto(helper.make_tensor_type_proto(dtype, shape))


def passing(type_proto, opset=21):
    """y = x of any type."""
    return model([node("Identity", "x", "y")], [typed("x", type_proto)], [typed("y", type_proto)], opset=opset)


def state(ort):
    """The module with the exceptions."""
    return ort.capi.onnxruntime_pybind11_state

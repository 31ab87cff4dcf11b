"""Models with inputs turned into initializers, and with other values in their initializers."""

import numpy as np
import onnx
from onnx import numpy_helper

RANDOM_OPS = {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}


def inputs_as_initializers(model, feeds):
    """The model with every tensor that is fed but the first as an initializer, and what is still fed.

    The first input is the data of nearly every op, the others are its weights, scales, indices and shapes; a target
    claims a node whose weights are constant."""
    kept = next(iter(feeds), None)
    moved = {n: v for n, v in feeds.items() if n != kept and isinstance(v, np.ndarray) and v.dtype.kind not in "OUS"}
    model = onnx.load_from_string(model)
    declared = {value.name for value in model.graph.input if value.type.HasField("tensor_type")}
    moved = {name: value for name, value in moved.items() if name in declared}
    rest = [value for value in model.graph.input if value.name not in moved]
    del model.graph.input[:]
    model.graph.input.extend(rest)
    replaced = [tensor for tensor in model.graph.initializer if tensor.name not in moved]
    del model.graph.initializer[:]
    model.graph.initializer.extend([*replaced, *(numpy_helper.from_array(v, n) for n, v in moved.items())])
    model.ir_version = max(model.ir_version, 4)  # before, every initializer was an input
    return model.SerializeToString(), {name: value for name, value in feeds.items() if name not in moved}


def swappable(model):
    """The initializers whose values may change: floating-point ones that no caller can override."""
    model = onnx.load_from_string(model)
    inputs = {value.name for value in model.graph.input}
    result = {}
    for tensor in model.graph.initializer:
        if tensor.name not in inputs and tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE,
                                                              onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16):
            result[tensor.name] = numpy_helper.to_array(tensor)
    return result


def with_other_values(model, names):
    """Elements in these initializers differ, types and shapes do not."""
    model = onnx.load_from_string(model)
    for tensor in model.graph.initializer:
        if tensor.name in names:
            values = numpy_helper.to_array(tensor)
            with np.errstate(all="ignore"):
                other = (values.astype(np.float64) * 0.5 + 0.25).astype(values.dtype)
            tensor.CopyFrom(numpy_helper.from_array(other, tensor.name))
    return model.SerializeToString()


def draws_random_numbers(model):
    def in_graph(graph):
        return any(
            node.op_type in RANDOM_OPS or any(in_graph(a.g) for a in node.attribute if a.HasField("g"))
            for node in graph.node
        )

    model = onnx.load_from_string(model)
    return in_graph(model.graph) or any(in_graph(function) for function in model.functions)

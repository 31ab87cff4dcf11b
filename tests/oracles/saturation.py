"""Integer products that onnxruntime may get wrong.

Without VNNI, onnxruntime multiplies u8 by s8 with an instruction (vpmaddubsw) that adds pairs of products in 16 bits
and saturates. Weights in [-64, 63] cannot reach that limit: 2 * 255 * 64 < 2**15.
"""

import numpy as np
import onnx
from onnx import numpy_helper

SAFE_LOW, SAFE_HIGH = -64, 63

# Where an op keeps the operands that may take the signed part. ConvInteger multiplies weights by images, so there it is
# signed images with unsigned weights that saturate; QLinearConv is the other way round.
WEIGHT_INPUTS = {
    "MatMulInteger": (1,), "ConvInteger": (0, 1), "QLinearMatMul": (3,), "QLinearConv": (3,), "QGemm": (3,),
    "MatMulIntegerToFloat": (1,), "DynamicQuantizeMatMul": (1,), "QAttention": (1,), "DynamicQuantizeLSTM": (1, 2),
}  # fmt: skip
GRAPH_TYPES = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS)
# What onnxruntime's optimizer turns into one of these, between DequantizeLinear and QuantizeLinear.
FUSED_PRODUCTS = frozenset("MatMul Gemm Conv".split())


def safe_weights(weights):
    """These weights, halved when they could saturate."""
    return weights // 2 if weights.dtype == np.int8 else weights


def unsafe_products(model, feeds):
    """One line for each node with 8-bit signed weights outside [-64, 63], or of unknown values."""
    known = {name: value for name, value in feeds.items() if hasattr(value, "dtype")}
    nodes = list(all_nodes(model, known))
    found = []
    for node in nodes:
        if node.op_type.startswith("MatMulNBits") and any(a.name == "accuracy_level" and a.i == 4 for a in node.attribute):
            found.append(f"{node.op_type} with accuracy_level 4, which multiplies bytes")
        for index in WEIGHT_INPUTS.get(node.op_type, ()):
            name = node.input[index]
            problem = unsafe_weights(known[name]) if name in known else unsafe_type(model, name)
            if problem:
                found.append(f"{node.op_type} with operand '{name}', {problem}")
    return found


def unsafe_type(model, name):
    inferred = onnx.shape_inference.infer_shapes(model).graph
    values = [*inferred.input, *inferred.value_info, *inferred.output]
    if any(v.name == name and v.type.tensor_type.elem_type == onnx.TensorProto.UINT8 for v in values):
        return None
    return "which are computed, so that their range is not known"


def unsafe_weights(values):
    if values.dtype != "int8" or values.size == 0 or (values.min() >= SAFE_LOW and values.max() <= SAFE_HIGH):
        return None
    return f"which lie in [{values.min()}, {values.max()}] instead of [{SAFE_LOW}, {SAFE_HIGH}]"


def may_be_fused(model):
    """Whether an optimizer could make integer products of float ones."""
    ops = {node.op_type for node in all_nodes(model, {})}
    return "DequantizeLinear" in ops and bool(ops & FUSED_PRODUCTS)


def all_nodes(model, constants):
    """The nodes of every graph and function; fills in the arrays of initializers and Constant nodes by name."""
    for function in model.functions:
        yield from nodes_of(function.node, constants)
    yield from graph_nodes(model.graph, constants)


def graph_nodes(graph, constants):
    for tensor in graph.initializer:
        constants.setdefault(tensor.name, numpy_helper.to_array(tensor))
    yield from nodes_of(graph.node, constants)


def nodes_of(nodes, constants):
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.name == "value":
                constants[node.output[0]] = numpy_helper.to_array(attribute.t)
            for graph in [attribute.g, *attribute.graphs] if attribute.type in GRAPH_TYPES else ():
                yield from graph_nodes(graph, constants)

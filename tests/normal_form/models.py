"""Models for the mutants to come from. Each is (model, data files, capabilities that are switched)."""

import functools
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from differential.generator import generate
from exporters.fixture_case import FIXTURES

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
value = helper.make_tensor_value_info
node = helper.make_node


def tensor(array, name=""):
    return numpy_helper.from_array(np.asarray(array), name)


def floats(*shape):
    count = int(np.prod(shape))
    return (np.arange(count, dtype=np.float32) % 17 - 8).reshape(shape) / 8


def external(name, array, location, offset):
    made = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(array.dtype), dims=array.shape,
                       data_location=TensorProto.EXTERNAL)
    for key, text in (("location", location), ("offset", str(offset)), ("length", str(array.nbytes))):
        made.external_data.add(key=key, value=text)
    return made


def model_of(graph, opset=17, ir=8, functions=(), domains=()):
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir, functions=list(functions))


def everything():
    """A body, structural constants, a sparse weight, shapes from symbols, and aliased weights in a data file."""
    def branch(op):
        own = tensor(floats(6), op + "_w")
        nodes = [node(op, ["r"], [op + "_o"], op), node("Add", [op + "_o", own.name], [op + "_out"])]
        return helper.make_graph(nodes, op, [], [value(op + "_out", FLOAT, None)], [own])

    data = floats(600).tobytes() + np.array([-1, 6], np.int64).tobytes()
    nodes = [
        node("MatMul", ["x", "w"], ["m"], "multiply"), node("Add", ["m", "b"], ["s"], "add"),
        node("Add", ["s", "b2"], ["s2"], "add again"), node("LeakyRelu", ["s2"], ["a"], "bend", alpha=0.25),
        node("Reshape", ["a", "target"], ["r"], "reshape"),
        node("If", ["c"], ["f"], "choose", then_branch=branch("Exp"), else_branch=branch("Neg")),
        node("Add", ["f", "sparse"], ["z"], "add sparse"), node("Clip", ["z", "low", "high"], ["k"], "clip"),
        node("Slice", ["k", "starts", "ends", "axes"], ["y"], "slice"),
    ]
    graph = helper.make_graph(
        nodes, "g", [value("x", FLOAT, ["n", 4]), value("c", TensorProto.BOOL, [])], [value("y", FLOAT, None)],
        [tensor(floats(4, 300)[:, :2], "w"), external("b", floats(2), "w.bin", 0), external("b2", floats(2), "w.bin", 0),
         external("target", np.array([-1, 6]), "w.bin", 2400), tensor(np.float32(-1), "low"), tensor(np.float32(1), "high"),
         tensor(np.array([0]), "starts"), tensor(np.array([1]), "ends"), tensor(np.array([1]), "axes")])
    graph.sparse_initializer.append(helper.make_sparse_tensor(tensor(floats(1) + 3, "sparse"), tensor(np.array([1])), [6]))
    model = model_of(graph)
    model.metadata_props.add(key="author", value="somebody")
    return model, {"w.bin": data, "other.bin": data[::-1]}, {}


def external_everywhere():
    """Constants in data files: in bodies, in attributes, as sparse tensors."""
    target, index = np.array([2, 3]), np.array([1])
    data = target.tobytes() + index.tobytes() + floats(400).tobytes() + np.array(1, np.bool_).tobytes()
    body = helper.make_graph(
        [node("Reshape", ["x", "inner_target"], ["t"]), node("Mul", ["t", "inner_w"], ["then_out"])], "then", [],
        [value("then_out", FLOAT, None)],
        [external("inner_target", target, "d.bin", 0), external("inner_w", floats(2, 3), "d.bin", 24)])
    other = helper.make_graph(
        [node("Constant", [], ["k"], value=external("", target, "d.bin", 0)), node("Reshape", ["x", "k"], ["else_out"])],
        "else", [], [value("else_out", FLOAT, None)])
    nodes = [
        node("If", ["c"], ["f"], "if", then_branch=body, else_branch=other),
        node("ConstantOfShape", ["s"], ["filled"], value=external("", floats(1), "d.bin", 24)),
        node("Add", ["f", "filled"], ["a"]), node("Gather", ["a", "index"], ["g"], axis=1),
        node("Add", ["g", "sparse"], ["h"]), node("MatMul", ["h", "big"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [value("x", FLOAT, [6]), value("c", TensorProto.BOOL, []), value("s", INT64, [2])],
        [value("y", FLOAT, None)],
        [external("index", index, "d.bin", 16), external("big", floats(1, 390), "d.bin", 24)])
    sparse = helper.make_sparse_tensor(external("sparse", floats(1), "d.bin", 24), external("", index, "d.bin", 16), [2, 1])
    graph.sparse_initializer.append(sparse)
    return model_of(graph), {"d.bin": data}, {}


def functions_kept():
    """Calls of functions that call others, with op versions and constants of their own."""
    inner = helper.make_function(
        "local", "Scale", ["v"], ["o"],
        [helper.make_node("Constant", [], ["two"], value=tensor(np.float32([2, 2]))), node("Mul", ["v", "two"], ["o"])],
        [helper.make_opsetid("", 17)])
    outer = helper.make_function(
        "local", "Twice", ["v"], ["o"],
        [node("Scale", ["v"], ["s"], domain="local"), bent_node(), node("Add", ["b", "v"], ["o"])],
        [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)], ["alpha"])
    graph = helper.make_graph(
        [node("Twice", ["x"], ["a"], "first", domain="local", alpha=0.5), node("Relu", ["a"], ["r"]),
         node("Scale", ["r"], ["s"], "second", domain="local"), node("Mul", ["s", "w"], ["y"])],
        "g", [value("x", FLOAT, ["n", 2])], [value("y", FLOAT, ["n", 2])], [tensor(floats(2), "w")])
    return model_of(graph, functions=[outer, inner], domains=["local"]), {}, {"inline_functions": False}


def bent_node():
    made = node("LeakyRelu", ["s"], ["b"])
    attribute = made.attribute.add(name="alpha", type=onnx.AttributeProto.FLOAT)
    attribute.ref_attr_name = "alpha"
    return made


def quantized():
    """QuantizeLinear and DequantizeLinear, quantized layers and weights of four bits."""
    four = helper.make_tensor("four", TensorProto.INT4, [4, 4], np.arange(16) % 8 - 4)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["xq"], "quantize"), node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
        node("DequantizeLinear", ["wq", "ws", "wz"], ["wd"], axis=0), node("MatMul", ["xd", "wd"], ["m"]),
        node("DequantizeLinear", ["four", "fs"], ["fd"], axis=1), node("MatMul", ["m", "fd"], ["n"]),
        node("QLinearMatMul", ["xq", "s", "z", "wq8", "s", "z", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["qd"]), node("Add", ["n", "qd"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [value("x", FLOAT, ["n", 4])], [value("y", FLOAT, ["n", 4])],
        [tensor(np.float32(0.05), "s"), tensor(np.uint8(128), "z"), tensor(np.arange(16, dtype=np.int8).reshape(4, 4), "wq"),
         tensor(np.float32([0.1] * 4), "ws"), tensor(np.zeros(4, np.int8), "wz"), four, tensor(np.float32([0.1] * 4), "fs"),
         tensor(np.arange(16, dtype=np.uint8).reshape(4, 4), "wq8")])
    return model_of(graph, opset=21, ir=10), {}, {}


def loops():
    """Loop and Scan with bodies in bodies, sequences, and constants of every scope."""
    inner = helper.make_graph(
        [node("Add", ["state", "step"], ["more"]), node("Mul", ["more", "inner_w"], ["then_out"])], "then", [],
        [value("then_out", FLOAT, None)], [tensor(floats(2), "inner_w")])
    other = helper.make_graph([node("Neg", ["state"], ["else_out"])], "else", [], [value("else_out", FLOAT, None)])
    body = helper.make_graph(
        [node("Less", ["i", "limit"], ["small"]), node("If", ["small"], ["next"], then_branch=inner, else_branch=other),
         node("Not", ["never"], ["go"])],
        "body", [value("i", INT64, []), value("cond", TensorProto.BOOL, []), value("state", FLOAT, [2])],
        [value("go", TensorProto.BOOL, []), value("next", FLOAT, [2])], [tensor(np.int64(3), "limit")])
    scan = helper.make_graph([node("Add", ["sum", "row"], ["sum_out"]), node("Mul", ["row", "step"], ["row_out"])], "scan",
                             [value("sum", FLOAT, [2]), value("row", FLOAT, [2])],
                             [value("sum_out", FLOAT, [2]), value("row_out", FLOAT, [2])])
    nodes = [
        node("Loop", ["count", "", "x"], ["l"], body=body), node("Scan", ["l", "rows"], ["t", "u"], body=scan, num_scan_inputs=1),
        node("SequenceConstruct", ["t", "l"], ["q"]), node("SequenceAt", ["q", "count"], ["e"]),
        node("Shape", ["u"], ["shape"]), node("Gather", ["shape", "zero"], ["n"]), node("Range", ["zero", "n", "one"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes, "g", [value("x", FLOAT, [2]), value("rows", FLOAT, ["n", 2]), value("never", TensorProto.BOOL, [])],
        [value("y", INT64, None), value("e", FLOAT, None)],
        [tensor(np.int64(1), "count"), tensor(floats(2), "step"), tensor(np.int64(0), "zero"), tensor(np.int64(1), "one")])
    return model_of(graph), {}, {}


def old_format():
    """IR version 3: initializers are inputs, opset 7: attributes that became inputs, and large Constant nodes."""
    nodes = [node("Constant", [], ["table"], value=tensor(floats(1, 300))), node("Mul", ["x", "table"], ["t"]),
             node("Unsqueeze", ["t"], ["u"], axes=[0]), node("Pad", ["u"], ["p"], pads=[0, 0, 1, 0, 0, 1]),
             node("Upsample", ["p"], ["v"], scales=[1.0, 1.0, 2.0]), node("Add", ["v", "b"], ["y"])]
    graph = helper.make_graph(nodes, "g", [value("x", FLOAT, [2, 300]), value("b", FLOAT, [1])], [value("y", FLOAT, None)],
                              [tensor(floats(1), "b")])
    return model_of(graph, opset=7, ir=3), {}, {}


def overridable():
    """Initializers that callers may replace, outputs that are inputs, and two names of one value."""
    nodes = [node("Reshape", ["x", "shape"], ["r"]), node("Mul", ["r", "w"], ["m"]), node("Identity", ["m"], ["second"]),
             node("Constant", [], ["k"], value_floats=[1.0, 2.0]), node("Add", ["m", "k"], ["y"])]
    graph = helper.make_graph(
        nodes, "g", [value("x", FLOAT, [4]), value("shape", INT64, [2]), value("w", FLOAT, [2])],
        [value("y", FLOAT, None), value("second", FLOAT, None), value("m", FLOAT, None), value("w", FLOAT, [2])],
        [tensor(np.array([2, 2]), "shape"), tensor(floats(2), "w")])
    return model_of(graph), {}, {}


BY_HAND = (everything, external_everywhere, functions_kept, quantized, loops, old_format, overridable)
EXPORTED = (
    "keras/while_loop", "keras/cond_true", "keras/where", "keras/fake_quant", "keras/activations", "keras/string_lookup",
    "torch/quantized_decomposed_dynamo", "torch/scan_dynamo", "torch/pooling_dynamo", "torch/scripted_loop_torchscript",
    "torch/float16_dynamo", "torch/normalizations_opset_21_dynamo", "torch/sorting_and_scattering_dynamo",
    "sklearn/decision_tree_classifier", "sklearn/logistic_regression_zipmap", "sklearn/pipeline_text_classifier",
)
RANDOM_MODELS = 200


def exported(name):
    return onnx.load(FIXTURES / name / "model.onnx"), {}, {}


@functools.cache
def load(name):
    for build in BY_HAND:
        if build.__name__ == name:
            return build()
    if name.startswith("random"):
        return onnx.load_from_string(generate(int(name.split()[1])).model), {}, {}
    return exported(name)


def draw_name(seed):
    """The model that the mutant of a seed comes from."""
    source = random.Random(f"model {seed}")
    kind = source.random()
    if kind < 0.5:
        return source.choice(BY_HAND).__name__
    if kind < 0.75:
        return source.choice(EXPORTED)
    return f"random {source.randrange(RANDOM_MODELS)}"

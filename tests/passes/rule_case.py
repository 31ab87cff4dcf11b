"""One case of a rewriting rule: a model in which it fires, and models made from it in which it must not."""

import math
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
import onnx
import tenon
from onnx import TensorProto, helper, numpy_helper
from oracles.peer import load_in_peer

MICROSOFT = "com.microsoft"


@dataclass
class RuleCase:
    """`nodes` is in ONNX's text form; without annotations its inputs and weights are float32."""

    capability: str
    nodes: str
    inputs: dict  # name: "float[2, 3]", as the text form has types
    expects: dict  # ops of the result and how many there are of each: {"com.microsoft.Gelu": 1}
    weights: dict = field(default_factory=dict)  # name: a shape, to be filled, or the array itself
    outputs: dict = field(default_factory=lambda: {"y": "float"})
    opset: int = 17
    name: str = ""
    also: tuple = ()  # capabilities that are switched on with it
    too_old: int | None = None  # a version of the default domain that cannot express the result
    needs_shapes: bool = False  # it must not fire where the inputs' shapes are not known
    kept: tuple = ()  # inner values that may be read elsewhere, because the result has them as well
    free: tuple = ()  # weights that may as well be inputs of the model
    feeds: dict = field(default_factory=dict)  # name: the array to run with
    terms: int = 1  # of the longest sum
    ir_version: int = 8
    peer_has_it: bool = True  # False: onnxruntime has no kernel for CPUs; the results are compared by Tenon's own

    def __str__(self):
        return self.name or self.capability


def arrays_of(case):
    rng = np.random.default_rng(0)
    for name, given in case.weights.items():
        yield name, rng.uniform(0.5, 1.5, given).astype(np.float32) if isinstance(given, tuple) else np.asarray(given)


def model_of(case, opset=None):
    def declared(types):
        return ", ".join(f"{type_text} {name}" for name, type_text in types.items())

    imports = [f'"" : {opset or case.opset}']
    if MICROSOFT in case.nodes:
        imports.append(f'"{MICROSOFT}" : 1')
    text = (f"<ir_version: {case.ir_version}, opset_import: [{', '.join(imports)}]>\n"
            f"g ({declared(case.inputs)}) => ({declared(case.outputs)}) {{ {case.nodes} }}")
    model = onnx.parser.parse_model(text)
    for value in model.graph.output:  # only their names are given
        value.type.tensor_type.ClearField("shape")
    for name, array in arrays_of(case):
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    return model


def optimized(case, model):
    """The model after the case's capabilities, and the changes by rules of the one that is tested."""
    switched = {name.replace("-", "_"): True for name in (case.capability, *case.also)}
    after, report = tenon.Model.load(model.SerializeToString()).optimized(**switched)
    rules = next(c["rules"] for c in tenon.capabilities() if c["name"] == case.capability)
    return after, [change for change in report["changes"] if change["rule"] in rules]


def ops_of(model):
    """How many nodes there are of each op but Constant, those of bodies too."""
    counts = {}
    for node in nodes_of(model.graph):
        if node.op_type == "Constant":
            continue
        name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        counts[name] = counts.get(name, 0) + 1
    return counts


def nodes_of(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from nodes_of(attribute.g)


def feeds_of(case):
    rng = np.random.default_rng(1)
    feeds = {}
    for name, text in case.inputs.items():
        if name in case.feeds:
            feeds[name] = np.asarray(case.feeds[name])
            continue
        element, _, dims = text.partition("[")
        shape = [int(d) if d.strip().isdigit() else 3 for d in dims.rstrip("]").split(",") if d.strip()]
        dtype = helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(element.strip().upper()))
        whole = np.issubdtype(dtype, np.integer) or dtype == np.bool_
        feeds[name] = (rng.integers(0, 2, shape) if whole else rng.normal(0, 1, shape)).astype(dtype)
    return feeds


def assert_same_results(case, before, after, feeds=None):
    """Both models (bytes) give the same in onnxruntime, within one rounding of every node for every term of its sums."""
    feeds = feeds_of(case) | (feeds or {})
    expected = load_in_peer(before, optimize=False).run(None, feeds)
    judge = load_in_peer(after, optimize=False) if case.peer_has_it else tenon.InferenceSession(after)
    actual = judge.run(None, feeds)
    steps = sum(1 for _ in nodes_of(onnx.load_from_string(before).graph)) * math.sqrt(case.terms)
    for one, other in zip(expected, actual, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        if np.issubdtype(one.dtype, np.floating):
            room = float(ml_dtypes.finfo(one.dtype).eps) * steps * max(1.0, float(np.abs(one).max(initial=0)))
            np.testing.assert_allclose(other, one, rtol=0, atol=room)
        else:
            np.testing.assert_array_equal(other, one)


def in_bodies(model):
    """The same in both branches of an If."""

    def branch(prefix):
        nodes, own = [], {name for node in model.graph.node for name in node.output if name}
        for node in model.graph.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            for names in (copy.input, copy.output):
                names[:] = [f"{prefix} {name}" if name in own else name for name in names]
            nodes.append(copy)
        outputs = [onnx.ValueInfoProto(name=f"{prefix} {value.name}", type=value.type) for value in model.graph.output]
        return helper.make_graph(nodes, prefix, [], outputs)

    whole = copy_of(model)
    del whole.graph.node[:]
    whole.graph.input.append(helper.make_tensor_value_info("which", TensorProto.BOOL, []))
    whole.graph.node.append(helper.make_node("If", ["which"], [value.name for value in model.graph.output],
                                             then_branch=branch("one"), else_branch=branch("other")))
    return whole


# --- models in which the rule must not fire ---------------------------------------------------------------------------


def inner_values(case, model, after):
    """The values that the rule makes superfluous."""
    left = {name for node in after.graph.node for name in node.output}
    return [name for node in model.graph.node for name in node.output if name and name not in left | set(case.kept)]


def lost_weights(case, model, after):
    """The weights that are not in the result any more, or only in another form."""
    left = {tensor.name for tensor in after.graph.initializer}
    return [tensor.name for tensor in model.graph.initializer if tensor.name not in left | set(case.free)]


def copy_of(model):
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    return copy


def read_elsewhere(model, value):
    model = copy_of(model)
    model.graph.node.append(helper.make_node("Equal", [value, value], ["read elsewhere"]))
    model.graph.output.append(helper.make_tensor_value_info("read elsewhere", TensorProto.BOOL, None))
    return model


def leaving(model, value):
    model = copy_of(model)
    known = {v.name: v for v in onnx.shape_inference.infer_shapes(model).graph.value_info}
    inferred = known[value].type.tensor_type.elem_type if value in known else TensorProto.FLOAT
    model.graph.output.append(helper.make_tensor_value_info(value, inferred, None))
    return model


def captured(model, value):
    model = copy_of(model)

    def branch(name, op):
        nodes = [helper.make_node("Equal", [value, value], [f"{name} is"]), helper.make_node(op, [f"{name} is"], [name])]
        return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(name, TensorProto.BOOL, None)])

    model.graph.input.append(helper.make_tensor_value_info("which", TensorProto.BOOL, []))
    model.graph.node.append(helper.make_node("If", ["which"], ["chosen"], then_branch=branch("one", "Not"),
                                             else_branch=branch("other", "Identity")))
    model.graph.output.append(helper.make_tensor_value_info("chosen", TensorProto.BOOL, None))
    return model


def overridable(model, weight):
    model = copy_of(model)
    tensor = next(t for t in model.graph.initializer if t.name == weight)
    model.graph.input.append(helper.make_tensor_value_info(weight, tensor.data_type, tensor.dims))
    return model


def without_shapes(model):
    model = copy_of(model)
    for value in model.graph.input:
        value.type.tensor_type.ClearField("shape")
    return model


def with_functions(model, ops):
    """The names of these ops mean functions in the model."""
    model = copy_of(model)
    for op in ops:
        domain, _, name = op.rpartition(".")
        body = [helper.make_node("Identity", ["a"], ["b"])]
        model.functions.append(
            helper.make_function(domain, name, ["a"], ["b"], body, [helper.make_opsetid("", model.opset_import[0].version)]))
        if all(opset.domain != domain for opset in model.opset_import):
            model.opset_import.append(helper.make_opsetid(domain, 1))
    # A function that nothing calls is removed, so that its name would be free.
    model.graph.node.append(helper.make_node(name, [model.graph.input[0].name], ["of function"], domain=domain))
    first = model.graph.input[0].type.tensor_type.elem_type
    model.graph.output.append(helper.make_tensor_value_info("of function", first, None))
    return model

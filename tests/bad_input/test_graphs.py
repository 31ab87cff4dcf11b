"""Graphs that contradict themselves: cycles, names, nesting, functions, types."""

import numpy as np
import onnx
import pytest
import tenon
from bad_input.refusals import floats, model_of, refused, run, session
from onnx import TensorProto, helper

X = floats(2, 3)
FLOAT_INPUT = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])


def node(op_type, inputs, outputs, name="", **attributes):
    return helper.make_node(op_type, inputs, outputs, name=name, **attributes)


def test_cycles():
    circle = [node("Add", ["x", "b"], ["a"], "first"), node("Neg", ["a"], ["b"], "second")]
    refused(model_of(circle, [FLOAT_INPUT], ["b"]), says="cycle", place="first")
    refused(model_of([node("Add", ["x", "a"], ["a"], "itself")], [FLOAT_INPUT], ["a"]), says="cycle", place="itself")
    after = [*circle, node("Relu", ["x"], ["fine"], "outside")]
    refused(model_of(after, [FLOAT_INPUT], ["fine"]), says="cycle", place="first")


def test_a_cycle_through_a_body():
    body = helper.make_graph([node("Neg", ["b"], ["inner"])], "body", [], [helper.make_empty_tensor_value_info("inner")])
    nodes = [node("If", ["go"], ["a"], "branch", then_branch=body, else_branch=body), node("Neg", ["a"], ["b"], "back")]
    refused(model_of(nodes, [], ["b"], {"go": np.array(True)}), says="cycle", place="branch")


def test_names_defined_twice():
    twice = [node("Neg", ["x"], ["same"]), node("Relu", ["x"], ["same"], "culprit")]
    refused(model_of(twice, [FLOAT_INPUT], ["same"]), says="defined twice", place="same")
    refused(model_of([node("Neg", ["x"], ["x"], "culprit")], [FLOAT_INPUT], ["x"]), place="x")
    refused(model_of([node("Split", ["x"], ["a", "a"], num_outputs=2)], [FLOAT_INPUT], ["a"]), says="twice", place="'a'")
    refused(model_of([], [FLOAT_INPUT, FLOAT_INPUT], ["x"]), says="twice", place="'x'")
    model = model_of([], [], ["w"], {"w": X})
    model.graph.initializer.append(model.graph.initializer[0])
    refused(model, says="twice", place="'w'")
    model = model_of([node("Neg", ["x"], ["w"])], [FLOAT_INPUT], ["w"], {"w": X})
    refused(model, says="twice", place="'w'")


def test_initializers_that_are_inputs_twice():
    model = model_of([node("Neg", ["x"], ["y"])], [FLOAT_INPUT], ["y"], {"x": X})
    model.graph.initializer.append(model.graph.initializer[0])
    refused(model, says="twice", place="'x'")


def test_undefined_names():
    refused(model_of([node("Neg", ["ghost"], ["y"], "culprit")], [], ["y"]), says="'ghost'.*not defined")
    refused(model_of([], [FLOAT_INPUT], ["ghost"]), says="not produced", place="'ghost'")
    body = helper.make_graph([node("Neg", ["ghost"], ["r"], "inside")], "b", [], [helper.make_empty_tensor_value_info("r")])
    branch = node("If", ["go"], ["y"], "culprit", then_branch=body, else_branch=body)
    message = refused(model_of([branch], [], ["y"], {"go": np.array(True)}), says="'ghost'")
    assert "inside" in message and "then_branch" in message


def test_what_a_body_defines_is_not_visible_outside():
    body = helper.make_graph([node("Neg", ["x"], ["r"])], "b", [], [helper.make_empty_tensor_value_info("r")])
    nodes = [
        node("If", ["go"], ["y"], then_branch=body, else_branch=body),
        node("Neg", ["r"], ["z"], "culprit"),
    ]
    refused(model_of(nodes, [FLOAT_INPUT], ["z"], {"go": np.array(True)}), {"x": X}, says="'r'.*not defined")


def test_functions_do_not_see_the_graph_that_calls_them():
    call = helper.make_node("F", ["x"], ["y"], name="culprit", domain="own")
    function = helper.make_function(
        "own", "F", ["a"], ["b"], [node("Add", ["a", "x"], ["b"])], [helper.make_opsetid("", 21)]
    )
    refused(model_of([call], [FLOAT_INPUT], ["y"], functions=[function], opsets=[("own", 1)]), {"x": X}, says="'x'.*not")


# Numbers of protobuf fields: what is too deep is written by hand, because the protobuf library refuses to.
NAME, TYPE, SEQUENCE_TYPE, ELEMENT_TYPE, GRAPH, GRAPH_INPUT, GRAPH_NODE, NODE_ATTRIBUTE, BODY = 1, 2, 4, 1, 7, 11, 1, 5, 6


def field(number, message):
    """A field of protobuf that holds bytes."""
    length, size = len(message), b""
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + message


def with_graph(model, graph):
    model.ClearField("graph")
    return model.SerializeToString() + field(GRAPH, graph)


def nested_branches(depth):
    value = helper.make_empty_tensor_value_info("r")
    leaf = helper.make_graph([node("Neg", ["x"], ["r"])], "b", [], [value])
    no_nodes = helper.make_graph([], "b", [], [value]).SerializeToString()
    body = leaf.SerializeToString()
    for level in range(depth):
        branch = node("If", ["go"], ["r"], f"level{level}", else_branch=leaf).SerializeToString()
        deeper = onnx.AttributeProto(name="then_branch", type=onnx.AttributeProto.GRAPH).SerializeToString()
        branch += field(NODE_ATTRIBUTE, deeper + field(BODY, body))
        body = no_nodes + field(GRAPH_NODE, branch)
    model = model_of([], [FLOAT_INPUT], ["r"], {"go": np.array(True)})
    return with_graph(model, model.graph.SerializeToString() + field(GRAPH_NODE, branch))


def test_deep_bodies():
    np.testing.assert_array_equal(run(nested_branches(10), {"x": X})[0], -X)
    refused(nested_branches(90), {"x": X}, says="nested", place="node[0]", code="resource limit")


def test_what_is_not_too_deep_to_load_is_not_too_deep_to_run():
    assert np.array_equal(run(nested_branches(63), {"x": X})[0], -X)
    refused(nested_branches(64), {"x": X}, says="nested more than 64", place="node[0]", code="resource limit")


def test_deep_types():
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [1]).SerializeToString()
    for _ in range(90):
        kind = field(SEQUENCE_TYPE, field(ELEMENT_TYPE, kind))
    model = model_of([], [], ["deep"])
    graph = model.graph.SerializeToString() + field(GRAPH_INPUT, field(NAME, b"deep") + field(TYPE, kind))
    refused(with_graph(model, graph), says="nested", place="input", code="resource limit")


def test_types_that_grow_with_every_node():
    nodes = [node("SequenceConstruct", [f"v{i}"], [f"v{i + 1}"], f"wrap{i}") for i in range(5000)]
    refused(model_of(nodes, [], ["v5000"], {"v0": X}), place="wrap")
    nodes = [node("Optional", [f"v{i}"], [f"v{i + 1}"], f"wrap{i}") for i in range(5000)]
    refused(model_of(nodes, [], ["v5000"], {"v0": X}), place="wrap")


def calls(name, callee, count):
    nodes = [helper.make_node(callee, [f"v{i}"], [f"v{i + 1}"], domain="own") for i in range(count)]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, ["v0"], [f"v{count}"], nodes, opsets)


def test_recursive_functions():
    call = helper.make_node("F", ["x"], ["y"], name="culprit", domain="own")
    opsets = [("own", 1)]
    refused(model_of([call], [FLOAT_INPUT], ["y"], functions=[calls("F", "F", 1)], opsets=opsets), says="recursive")
    both = [calls("F", "G", 1), calls("G", "F", 1)]
    message = refused(model_of([call], [FLOAT_INPUT], ["y"], functions=both, opsets=opsets), says="recursive")
    assert message.count("called by") == 3


def test_functions_that_multiply():
    chain = [calls(f"F{i}", f"F{i + 1}", 10) for i in range(20)]
    end = helper.make_function("own", "F20", ["a"], ["b"], [node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 21)])
    call = helper.make_node("F0", ["x"], ["y"], name="culprit", domain="own")
    model = model_of([call], [FLOAT_INPUT], ["y"], functions=[*chain, end], opsets=[("own", 1)])
    with pytest.raises(tenon.Error, match="culprit.*more than 1000 nodes") as caught:
        tenon.Model.load(model.SerializeToString(), max_nodes=1000)
    assert caught.value.code == "resource limit"


def test_small_files_that_become_large_graphs():
    chain = [calls(f"F{i}", f"F{i + 1}", 2) for i in range(18)]
    end = helper.make_function("own", "F18", ["a"], ["b"], [node("Neg", ["a"], ["b"])], [helper.make_opsetid("", 21)])
    call = helper.make_node("F0", ["x"], ["y"], name="culprit", domain="own")
    model = model_of([call], [FLOAT_INPUT], ["y"], functions=[*chain, end], opsets=[("own", 1)])
    refused(model, {"x": X}, says="more than 100000 nodes.*max_nodes", code="resource limit")
    assert len(tenon.Model.load(model.SerializeToString(), max_nodes=300_000).describe("graph")["graph"]["nodes"]) == 1 << 18


def test_shapes_whose_formula_multiplies():
    declared = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "m"])
    nodes = [node("Shape", ["x"], ["s0"]), node("ReduceSum", ["s0"], ["d0"], keepdims=0)]
    for i in range(60):
        nodes.append(node("Mul", [f"d{i}", f"d{i}"], [f"e{i}"]))
        nodes.append(node("Div", [f"e{i}", "two"], [f"f{i}"]))
        nodes.append(node("Add", [f"f{i}", f"d{i}"], [f"d{i + 1}"]))
    nodes.append(node("ConstantOfShape", ["shape"], ["y"]))
    nodes.append(node("Reshape", ["d60", "one"], ["shape"]))
    model = model_of(nodes, [declared], ["y"], {"two": np.array(2), "one": np.array([1])})
    assert session(model).get_outputs()[0].type == "tensor(float)"


def test_unknown_ops_and_attributes():
    refused(model_of([node("Frobnicate", ["x"], ["y"], "culprit")], [FLOAT_INPUT], ["y"]), {"x": X}, says="Frobnicate")
    refused(model_of([node("Neg", ["x"], ["y"], "culprit", size=3)], [FLOAT_INPUT], ["y"]), says="no attribute 'size'")
    refused(model_of([node("Softmax", ["x"], ["y"], "culprit", axis=0.5)], [FLOAT_INPUT], ["y"]), says="'axis'.*float")
    domain = helper.make_node("Neg", ["x"], ["y"], name="culprit", domain="nowhere")
    refused(model_of([domain], [FLOAT_INPUT], ["y"], opsets=[("nowhere", 1)]), {"x": X}, says="nowhere")


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs"),
    [("Neg", [], ["y"]), ("Neg", ["x", "x"], ["y"]), ("Neg", ["x"], ["y", "z"]), ("Add", ["x"], ["y"]),
     ("Add", ["", "x"], ["y"]), ("Where", ["x", "x"], ["y"]), ("Concat", [], ["y"])],
)  # fmt: skip
def test_wrong_numbers_of_inputs_and_outputs(op_type, inputs, outputs):
    attributes = {"axis": 0} if op_type == "Concat" else {}
    refused(model_of([node(op_type, inputs, outputs, "culprit", **attributes)], [FLOAT_INPUT], ["y"]), {"x": X})


def test_types_that_do_not_fit():
    text = np.array(["a", "b"], object)
    refused(model_of([node("Neg", ["t"], ["y"], "culprit")], [], ["y"], {"t": text}), says="string")
    mixed = node("Add", ["x", "i"], ["y"], "culprit")
    refused(model_of([mixed], [FLOAT_INPUT], ["y"], {"i": np.array([1])}), {"x": X}, says="int64")
    sequence = [node("SequenceConstruct", ["x"], ["s"]), node("Neg", ["s"], ["y"], "culprit")]
    refused(model_of(sequence, [FLOAT_INPUT], ["y"]), {"x": X}, says="seq")


def test_conditions_that_are_no_conditions():
    value = helper.make_empty_tensor_value_info("r")
    body = helper.make_graph([node("Identity", ["x"], ["r"])], "b", [], [value])
    untyped = onnx.ValueInfoProto(name="go")
    for condition in (np.array([True, False]), np.array(1.0, np.float32), np.array([], bool)):
        branch = node("If", ["go"], ["y"], "culprit", then_branch=body, else_branch=body)
        refused(model_of([branch], [FLOAT_INPUT, untyped], ["y"]), {"x": X, "go": condition}, says="condition|bool")


def test_models_without_what_a_model_needs():
    refused(b"", says="the bytes are empty", place="ONNX")
    for data in (b"\x08\x0a", onnx.ModelProto(ir_version=10).SerializeToString()):
        refused(data, says="no graph", place="ONNX")
    no_opset = model_of([node("Neg", ["x"], ["y"])], [FLOAT_INPUT], ["y"])
    del no_opset.opset_import[:]
    assert np.array_equal(run(no_opset, {"x": X})[0], -X)


@pytest.mark.parametrize("op_type", ["Add", "Mul", "Equal", "PRelu", "Pow", "Reshape", "Tile"])
def test_too_many_inputs(op_type):
    second = np.array([2, 3], np.int64) if op_type in ("Reshape", "Tile") else X
    extra = model_of([node(op_type, ["x", "w", "w"], ["y"], "culprit")], [FLOAT_INPUT], ["y"], {"w": second})
    refused(extra, {"x": X}, says="takes at most 2 inputs, but 3 are given")


def test_a_tree_node_that_leads_to_itself():
    tree = helper.make_node(
        "TreeEnsembleRegressor", ["x"], ["y"], "culprit", domain="ai.onnx.ml", n_targets=1,
        nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0], nodes_values=[0.5, 0.0, 0.0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[0, 0, 0], nodes_falsenodeids=[2, 0, 0],
        target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.0, 2.0],
    )  # fmt: skip
    refused(model_of([tree], [FLOAT_INPUT], ["y"], opsets=[("ai.onnx.ml", 3)]), {"x": X}, says="cycle")


@pytest.mark.parametrize("leaf", [[], [helper.make_node("Identity", ["a"], ["b"])]], ids=["no nodes", "a node"])
def test_functions_that_multiply_calls_are_counted_before_they_are_made(leaf):
    """Each calls the next one twice: 2^40 calls, whether they leave nodes behind or not."""
    depth = 40
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    functions = [
        helper.make_function(
            "local",
            f"f{i}",
            ["a"],
            ["b"] if leaf else ["a"],
            [helper.make_node(f"f{i + 1}", ["a"], ["b" if leaf else "c"], domain="local"),
             helper.make_node(f"f{i + 1}", ["a"], ["d"], domain="local")]
            if i < depth
            else leaf,
            opsets,
        )
        for i in range(depth + 1)
    ]  # fmt: skip
    call = helper.make_node("f0", ["x"], ["y"], domain="local", name="culprit")
    model = model_of([call], [], ["y"], {"x": floats(2)}, functions=functions, opsets=[("local", 1)])
    refused(model, says="with its functions expanded, the graph has more than .* nodes", code="resource limit")


@pytest.mark.parametrize("kind", ["sequence_type", "optional_type", "map_type"])
def test_inputs_of_lists_that_do_not_say_of_what(kind):
    value = onnx.ValueInfoProto(name="x")
    getattr(value.type, kind).SetInParent()
    refused(model_of([node("Identity", ["x"], ["y"])], [value], ["y"]), says="does not say what its elements are", place="'x'")
    value.type.Clear()
    value.type.sequence_type.elem_type.optional_type.SetInParent()
    refused(model_of([node("Identity", ["x"], ["y"])], [value], ["y"]), says="does not say what its elements are", place="'x'")


def message(field, content):
    """A message or text in another message, as bytes; onnx's own reader takes no more than a hundred levels."""
    length, size = b"", len(content)
    while size > 127:
        length, size = length + bytes([size & 127 | 128]), size >> 7
    return bytes([field << 3 | 2]) + length + bytes([size]) + content


@pytest.mark.parametrize("depth", [64, 90, 20_000])
@pytest.mark.parametrize("field", [4, 9], ids=["sequences", "optionals"])
def test_types_that_nest_without_end(depth, field):
    float_type = message(1, b"\x08\x01")
    kinds = float_type
    for _ in range(depth):
        kinds = message(field, message(1, kinds))
    model = model_of([node("Identity", ["x"], ["y"])], [], ["y"])
    graph = model.graph.SerializeToString() + message(11, message(1, b"x") + message(2, kinds))
    model.ClearField("graph")
    data = model.SerializeToString() + message(7, graph)
    refused(data, says="nested more than 64", place="graph.input[0].type")


def forget_sequence_types(graph):
    for value in (*graph.input, *graph.output):
        if value.type.HasField("sequence_type"):
            value.type.Clear()
    for inner in graph.node:
        for attribute in inner.attribute:
            if attribute.HasField("g"):
                forget_sequence_types(attribute.g)


@pytest.mark.parametrize("elements", ["x", "x, x"], ids=["one", "two"])
def test_sequences_of_sequences_that_grow(elements):
    """A body whose result is the whole list makes a list of lists, one level deeper each time. With two elements each
    level holds the one below it twice."""
    from onnx import parser

    model = parser.parse_model("""
    <ir_version: 9, opset_import: ["" : 19]>
    g (bool go, float[1] x) => (seq(float[M]) last) {
      first = SequenceConstruct (%s)
      [culprit] last = Loop ("", go, first) <body = b (int64 i, bool c, seq(float[M]) n) => (bool again, seq(float[M]) next) {
        again = Identity (c)
        [deeper] next = SequenceMap (n) <body = m (float[M] e) => (seq(float[M]) whole) { whole = Identity (n) }>
      }>
    }""" % elements)
    forget_sequence_types(model.graph)
    feeds = {"go": np.array(True), "x": np.ones(1, np.float32)}
    refused(model, feeds, says="nested more than 64 levels deep", code="resource limit")


@pytest.mark.parametrize("leaf", ["SequenceEmpty ()", "SequenceConstruct (x)"])
def test_lists_that_stand_for_more_than_there_is(leaf):
    """Forty levels, each with the one below it twice: few lists, until everybody who gets the result may change it."""
    from onnx import parser

    model = parser.parse_model("""
    <ir_version: 9, opset_import: ["" : 19]>
    g (float[1] x) => (seq(float[M]) last) {
      times = Constant <value_int = 40> ()
      two = SequenceConstruct (x, x)
      first = %s
      [culprit] last = Loop (times, "", first) <body = b (int64 i, bool c, seq(float[M]) n) => (bool again, seq(float[M]) next) {
        again = Identity (c)
        next = SequenceMap (two) <body = m (float[M] e) => (seq(float[M]) whole) { whole = Identity (n) }>
      }>
    }""" % leaf)
    forget_sequence_types(model.graph)
    refused(model, {"x": np.ones(1, np.float32)}, says="memory_limit", place="'last'", code="resource limit")

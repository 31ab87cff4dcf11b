"""What docs/normal_form.md says of a model in normal form, invariant by invariant."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

import tenon

HEADER = '<ir_version: 10, opset_import: ["" : 21, "com.microsoft" : 1, "local" : 1]>\n'


def parsed(text):
    return parser.parse_model(HEADER + text)


def normal(model, **capabilities):
    """The model after one run; a second one must leave it as it is."""
    made, _ = tenon.Model.load(model.SerializeToString()).optimized(**capabilities)
    again, report = tenon.Model.load(made).optimized(**capabilities)
    assert again == made and report["changes"] == []
    onnx.checker.check_model(onnx.load_from_string(made), full_check=True)
    return onnx.load_from_string(made)


def ops(graph):
    return [node.op_type for node in graph.node]


def weight(name, *shape):
    return numpy_helper.from_array(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), name)


# A model, and the ops that are left of it.
NODES = {
    "a node that no output needs": ("g (float[2] x) => (float[2] y) { u = Exp(x) y = Relu(x) }", ["Relu"]),
    "an Identity": ("g (float[2] x) => (float[2] y) { i = Identity(x) y = Relu(i) }", ["Relu"]),
    "an Identity that is an input's second name": ("g (float[2] x) => (float[2] y) { y = Identity(x) }", ["Identity"]),
    "an Identity that is an output's second name": (
        "g (float[2] x) => (float[2] y, float[2] z) { y = Relu(x) z = Identity(y) }", ["Relu", "Identity"]),
    "a Reshape to the shape that is there": (
        "g (float[2,3] x) => (float[2,3] y) <int64[2] s = {2, -1}> { r = Reshape(x, s) y = Relu(r) }", ["Relu"]),
    "a Reshape to a symbolic shape that is there": (
        "g (float[n,3] x) => (float[n,3] y) <int64[2] s = {-1, 3}> { r = Reshape(x, s) y = Relu(r) }", ["Relu"]),
    "a Reshape to another shape": (
        "g (float[2,3] x) => (float[3,2] y) <int64[2] s = {3, 2}> { r = Reshape(x, s) y = Relu(r) }", ["Reshape", "Relu"]),
    "a Flatten of a matrix": ("g (float[2,3] x) => (float[2,3] y) { f = Flatten(x) y = Relu(f) }", ["Relu"]),
    "a Transpose in order": ("g (float[2,3] x) => (float[2,3] y) { t = Transpose <perm = [0, 1]> (x) y = Relu(t) }", ["Relu"]),
    "a Transpose": ("g (float[2,3] x) => (float[3,2] y) { t = Transpose(x) y = Relu(t) }", ["Transpose", "Relu"]),
    "a Transpose of a vector": ("g (float[2] x) => (float[2] y) { t = Transpose(x) y = Relu(t) }", ["Relu"]),
    "a Cast to the type that is there": ("g (float[2] x) => (float[2] y) { c = Cast <to = 1> (x) y = Relu(c) }", ["Relu"]),
    "a Cast to another type": ("g (float[2] x) => (double[2] y) { c = Cast <to = 11> (x) y = Relu(c) }", ["Cast", "Relu"]),
    "a CastLike of the same type": ("g (float[2] x, float k) => (float[2] y) { c = CastLike(x, k) y = Relu(c) }", ["Relu"]),
    "a CastLike whose example needs a node": (
        "g (float[2] x, float[2] k) => (double[2] y) { e = Exp(k) d = Cast <to = 11> (e) c = CastLike(x, d) y = Relu(c) }",
        ["Cast", "Relu"]),
    "a Slice of everything": (
        "g (float[4] x) => (float[4] y) <int64[1] s = {0}, int64[1] e = {99}> { c = Slice(x, s, e) y = Relu(c) }", ["Relu"]),
    "a Slice of everything, backwards": (
        "g (float[4] x) => (float[4] y) <int64[1] s = {-1}, int64[1] e = {-9}, int64[1] a = {0}, int64[1] t = {-1}>"
        "{ c = Slice(x, s, e, a, t) y = Relu(c) }", ["Slice", "Relu"]),
    "a Slice of a part": (
        "g (float[4] x) => (float[3] y) <int64[1] s = {1}, int64[1] e = {99}> { c = Slice(x, s, e) y = Relu(c) }",
        ["Slice", "Relu"]),
    "an Expand to the shape that is there": (
        "g (float[2,3] x) => (float[2,3] y) <int64[2] s = {1, 3}> { e = Expand(x, s) y = Relu(e) }", ["Relu"]),
    "an Expand": (
        "g (float[1,3] x) => (float[2,3] y) <int64[2] s = {2, 3}> { e = Expand(x, s) y = Relu(e) }", ["Expand", "Relu"]),
    "a Tile of one": ("g (float[2] x) => (float[2] y) <int64[1] r = {1}> { t = Tile(x, r) y = Relu(t) }", ["Relu"]),
    "a Pad by nothing": ("g (float[2] x) => (float[2] y) <int64[2] p = {0, 0}> { q = Pad(x, p) y = Relu(q) }", ["Relu"]),
    "a Pad": ("g (float[2] x) => (float[3] y) <int64[2] p = {1, 0}> { q = Pad(x, p) y = Relu(q) }", ["Pad", "Relu"]),
    "a Pad that cuts": ("g (float[3] x) => (float[3] y) <int64[2] p = {1, -1}> { q = Pad(x, p) y = Relu(q) }", ["Pad", "Relu"]),
    "a Dropout": ("g (float[2] x) => (float[2] y) { d = Dropout(x) y = Relu(d) }", ["Relu"]),
    "a Dropout whose mask is read": (
        "g (float[2] x) => (float[2] y, bool[2] m) { d, m = Dropout(x) y = Relu(d) }", ["Dropout", "Relu"]),
    "a Dropout in training": (
        "g (float[2] x) => (float[2] y) <float r = {0.5}, bool t = {1}> { d = Dropout(x, r, t) y = Relu(d) }",
        ["Dropout", "Relu"]),
    "a Concat of one": ("g (float[2] x) => (float[2] y) { c = Concat <axis = 0> (x) y = Relu(c) }", ["Relu"]),
    "a Sum, Mean, Max and Min of one": (
        "g (float[2] x) => (float[2] y) { a = Sum(x) b = Mean(a) c = Max(b) d = Min(c) y = Relu(d) }", ["Relu"]),
    "shapes that are known": (
        "g (float[2,3] x) => (float[6] y) { s = Shape(x) p = ReduceProd <keepdims = 1> (s) r = Reshape(x, p) y = Relu(r) }",
        ["Constant", "Reshape", "Relu"]),
    "an integer expression": (
        "g (float[2] x) => (float[2] y) <int64 a = {1}, int64 b = {2}> { c = Add(a, b) f = Cast <to = 1> (c) y = Mul(x, f) }",
        ["Constant", "Mul"]),
    "an expression of a Constant node": (
        "g (float[2] x) => (float[2] y) { k = Constant <value_floats = [1.0, 4.0]> () s = Sqrt(k) y = Mul(x, s) }",
        ["Constant", "Mul"]),
    "an expression of a weight": (
        "g (float[2] x) => (float[2] y) <float[2] w = {1.0, 4.0}> { s = Sqrt(w) y = Mul(x, s) }", ["Sqrt", "Mul"]),
    "an expression of a weight of one element": (
        "g (float[2] x) => (float[2] y) <float w = {4.0}> { s = Sqrt(w) y = Mul(x, s) }", ["Sqrt", "Mul"]),
    "a random node": (
        "g (float[2] x) => (float[2] y) { r = RandomNormal <shape = [2], seed = 1.0> () y = Mul(x, r) }", ["RandomNormal", "Mul"]),
    "equal nodes": (
        "g (float[2] x) => (float[2] y) { a = Exp(x) b = Exp(x) c = Neg(a) d = Neg(b) y = Mul(c, d) }", ["Exp", "Neg", "Mul"]),
    "nodes that differ in a default that is spelled out": (
        "g (float[2] x) => (float[2] y) { a = Softmax(x) b = Softmax <axis = -1> (x) y = Mul(a, b) }", ["Softmax", "Mul"]),
    "equal random nodes": (
        "g (float[2] x) => (float[2] y) { a = RandomNormalLike(x) b = RandomNormalLike(x) y = Mul(a, b) }",
        ["RandomNormalLike", "RandomNormalLike", "Mul"]),
    "equal weights under two names": (
        "g (float[2] x) => (float[2] y) <float[2] v = {1.0, 2.0}, float[2] w = {1.0, 2.0}> { a = Mul(x, v) b = Mul(x, w) y = Add(a, b) }",
        ["Mul", "Mul", "Add"]),
    "a constant If": (
        "g (float[2] x) => (float[2] y) <bool c = {1}> { f = If(c) <then_branch = t () => (float[2] a) { a = Exp(x) }, "
        "else_branch = e () => (float[2] b) { b = Neg(x) }> y = Relu(f) }", ["Exp", "Relu"]),
    "an If": (
        "g (float[2] x, bool c) => (float[2] y) { y = If(c) <then_branch = t () => (float[2] a) { i = Identity(x) a = Exp(i) }, "
        "else_branch = e () => (float[2] b) { b = Neg(x) }> }", ["If"]),
    "an op that nobody knows": ("g (float[2] x) => (float[2] y) { i = Identity(x) y = local.Strange(i) }", ["Strange"]),
    "an op of another domain": (
        "g (float[2] x) => (float[2] y) { i = Identity(x) g = com.microsoft.QuickGelu <alpha = 1.0> (i) y = Relu(g) }",
        ["QuickGelu", "Relu"]),
}


@pytest.mark.parametrize("what", NODES)
def test_nodes_that_are_left(what):
    text, expected = NODES[what]
    try:
        model = normal(parsed(text))
    except onnx.checker.ValidationError:
        assert what in ("an op that nobody knows", "an op of another domain")  # which onnx does not know either
        model = onnx.load_from_string(tenon.Model.load(parsed(text).SerializeToString()).optimized()[0])
    assert sorted(ops(model.graph)) == sorted(expected)
    assert [o.name for o in model.graph.output] == [o.name for o in parsed(text).graph.output]
    assert [i.name for i in model.graph.input] == [i.name for i in parsed(text).graph.input]


def test_initializers_and_declarations_that_nothing_reads_are_dropped():
    model = parsed("g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}, float[2] unread = {1.0, 2.0}, float[2] gone> "
                   "{ gone = Mul(x, w) y = Relu(x) }")
    graph = normal(model).graph
    assert [list(graph.initializer), list(graph.value_info), ops(graph)] == [[], [], ["Relu"]]


def test_equal_shapes_are_one_initializer():
    graph = normal(parsed("g (float[6] x) => (float[2,3] y) <int64[2] s = {2, 3}, int64[2] t = {2, 3}> "
                          "{ a = Reshape(x, s) b = Exp(x) c = Reshape(b, t) y = Add(a, c) }")).graph
    assert [t.name for t in graph.initializer] == ["s"]
    assert [list(n.input) for n in graph.node if n.op_type == "Reshape"] == [["x", "s"], ["b", "s"]]


@pytest.mark.parametrize("of, values", [("int64[2]", "{2, 3}"), ("int32[2]", "{2, 3}"), ("float[2]", "{2.0, 3.0}")])
def test_equal_weights_stay_apart(of, values):
    graph = normal(parsed(f"g ({of} x) => ({of} y) <{of} v = {values}, {of} w = {values}> "
                          "{ a = Mul(x, v) b = Add(a, w) y = Mul(b, v) }")).graph
    assert [t.name for t in graph.initializer] == ["v", "w"]


def test_a_shape_that_a_body_reads_too_stays_for_the_body():
    graph = normal(parsed("""g (float[6] x, bool p) => (float[2,3] y) <int64[2] s = {2, 3}, int64[2] t = {2, 3}> {
        a = Reshape(x, s)
        b = Exp(x)
        c = Reshape(b, t)
        d = If(p) <then_branch = u () => (float[2,3] e) { e = Reshape(x, t) },
                   else_branch = v () => (float[2,3] f) { g = Neg(x) f = Reshape(g, s) }>
        k = Add(a, c)
        y = Add(k, d) }""")).graph
    assert [t.name for t in graph.initializer] == ["s", "t"]
    assert [list(n.input) for n in graph.node if n.op_type == "Reshape"] == [["x", "s"], ["b", "s"]]


def test_an_initializer_that_is_an_output_stays():
    model = parsed("g (float[2] x) => (float[2] y, float[2] w) <float[2] w = {1.0, 2.0}> { y = Relu(x) }")
    assert [t.name for t in normal(model).graph.initializer] == ["w"]


def constant_model(elements):
    value = numpy_helper.from_array(np.arange(elements, dtype=np.float32))
    nodes = [helper.make_node("Constant", [], ["table"], value=value), helper.make_node("Add", ["x", "table"], ["y"])]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [elements]) for name in ("x", "y")]
    return helper.make_model(helper.make_graph(nodes, "g", infos[:1], infos[1:]), ir_version=10,
                             opset_imports=[helper.make_opsetid("", 21)])


@pytest.mark.parametrize("elements, becomes", [(256, "node"), (257, "initializer")])
def test_constant_nodes_hold_a_kilobyte(elements, becomes):
    graph = normal(constant_model(elements)).graph
    if becomes == "node":
        assert ops(graph) == ["Constant", "Add"] and not graph.initializer
    else:
        assert ops(graph) == ["Add"] and [t.name for t in graph.initializer] == ["table"]
        np.testing.assert_array_equal(numpy_helper.to_array(graph.initializer[0]), np.arange(elements))


def test_types_are_declared_and_open_extents_stay_open():
    model = parsed("g (float[n,3] x, float[m,3] z) => (float[n,3] y) "
                   "{ a = Exp(x) k = NonZero(z) b = Gather <axis = 0> (z, k) c = ReduceSum <keepdims = 0> (b) y = Mul(a, c) }")
    infos = {info.name: info.type.tensor_type for info in normal(model).graph.value_info}
    assert set(infos) == {"a", "k", "b", "c"}
    assert [(d.dim_param, d.dim_value) for d in infos["a"].shape.dim] == [("n", 0), ("", 3)]
    assert [d.WhichOneof("value") for d in infos["k"].shape.dim] == ["dim_value", None]
    assert infos["c"].elem_type == TensorProto.FLOAT


def test_nothing_of_a_wrong_declaration_stays():
    model = normal(parsed("g (float[n,4] x) => (float[n,4] y) <float[2,2] a> { a = Exp(x) y = Neg(a) }"))
    assert [d.dim_param or d.dim_value for d in model.graph.value_info[0].type.tensor_type.shape.dim] == ["n", 4]


def test_nodes_that_nothing_was_done_to_keep_their_spelling():
    text = "g (float[2] x) => (float[2] y) { i = Identity(x) s = Softmax <axis = -1> (i) y = LeakyRelu(s) }"
    model = normal(parsed(text))
    assert [[a.name for a in node.attribute] for node in model.graph.node] == [["axis"], []]


FUNCTIONS = """g (float[2] x) => (float[2] y) { a = local.Twice(x) y = Relu(a) }
<opset_import: ["" : 21], domain: "local"> Twice (v) => (w) { w = Add(v, v) }
<opset_import: ["" : 21], domain: "local"> Unused (v) => (w) { w = Neg(v) }"""


@pytest.mark.parametrize("inlined", [True, False])
def test_functions_are_inlined_or_kept(inlined):
    model = normal(parsed(FUNCTIONS), inline_functions=inlined)
    assert ops(model.graph) == (["Add", "Relu"] if inlined else ["Twice", "Relu"])
    assert [f.name for f in model.functions] == ([] if inlined else ["Twice"])


def test_a_kept_call_loses_arguments_that_its_function_does_not_read():
    model = normal(parsed("""g (float[2] x) => (float[2] y) { e = Exp(x) y = local.First(x, e) }
        <opset_import: ["" : 21], domain: "local"> First (v, unread) => (w) { w = Neg(v) }"""), inline_functions=False)
    assert [(n.op_type, list(n.input)) for n in model.graph.node] == [("First", ["x", ""])]


def test_names_differ_and_those_that_users_know_stay():
    model = normal(parsed("""g (float[2] x) => (float[2] y) <bool c = {1}, float[2] w = {1.0, 2.0}> {
        a = Mul(x, w)
        f = If(c) <then_branch = t () => (float[2] b) { k = Constant <value_floats = [3.0, 4.0]> () m = Mul(a, k) b = Add(m, w) },
                   else_branch = e () => (float[2] d) { m = Neg(a) d = Exp(m) }>
        y = Relu(f) }"""))
    made = [name for node in model.graph.node for name in node.output]
    assert len(made) == len(set(made)) and {"a", "y"} <= set(made)
    assert [t.name for t in model.graph.initializer] == ["w"]


def test_a_weight_that_a_branch_reads_stays_a_weight():
    model = normal(parsed("""g (float[2] x) => (float[2] y) <bool c = {1}, float[2] w = {1.0, 2.0}> {
        y = If(c) <then_branch = t () => (float[2] b) { b = Mul(w, w) }, else_branch = e () => (float[2] d) { d = Neg(x) }> }"""))
    assert [t.name for t in model.graph.initializer] == ["w"]
    assert [(n.op_type, list(n.input)) for n in model.graph.node] == [("Mul", ["w", "w"])]


def test_a_branch_with_weights_of_its_own_stays():
    text = """g (float[2] x) => (float[%s] y) <bool c = {1}> {
        y = If(c) <then_branch = t () => (float[%s] b) <%s> { b = %s(x, own) },
                   else_branch = e () => (float[%s] d) { d = %s(x) }> }"""
    weights = parsed(text % (2, 2, "float[2] own = {1.0, 2.0}", "Mul", 2, "Neg"))
    assert ops(normal(weights).graph) == ["If"]
    # Shapes and indices have no names that matter to checkpoints.
    structural = parsed(text % ("1, 2", "1, 2", "int64[2] own = {1, 2}", "Reshape", "1, 2", "Flatten <axis = 0>"))
    assert ops(normal(structural).graph) == ["Constant", "Reshape"]


def test_constants_of_an_inlined_branch_reach_the_bodies_inside():
    model = parsed("""g (float[2] x, bool p) => (float[2] y) <bool c = {1}> {
        y = If(c) <then_branch = t () => (float[2] b) {
                k = Constant <value_floats = [3.0, 4.0]> ()
                b = If(p) <then_branch = tt () => (float[2] i) { i = Mul(x, k) },
                           else_branch = te () => (float[2] j) { j = Add(x, k) }> },
            else_branch = e () => (float[2] d) { d = Neg(x) }> }""")
    run = tenon.InferenceSession(normal(model).SerializeToString()).run
    for p, expected in ((True, [3, 8]), (False, [4, 6])):
        np.testing.assert_array_equal(run(None, {"x": np.float32([1, 2]), "p": np.array(p)})[0], expected)


def test_what_is_folded_outside_is_folded_inside_of_bodies():
    model = parsed("""g (float[2] x, bool p) => (float[2] y) {
        k = Constant <value_floats = [1.0, 4.0]> ()
        s = Sqrt(k)
        y = If(p) <then_branch = t () => (float[2] a) { n = Neg(s) a = Mul(x, n) },
                   else_branch = e () => (float[2] b) { b = Mul(x, s) }> }""")
    branches = {a.name: a.g for node in normal(model).graph.node for a in node.attribute if a.HasField("g")}
    assert sorted(ops(branches["then_branch"])) == ["Constant", "Mul"]

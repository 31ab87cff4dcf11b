"""Results belong to whoever asked for them: writing to one changes no weight, no input, no other result and no later
run, wherever the value came from."""

import gc

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
W = np.array([1.5, -2.0, 3.25, 4.0], np.float32)
V = np.array([10.0, 20.0, 30.0, 40.0], np.float32)
X = np.array([5.0, 6.0, 7.0, 8.0], np.float32)

VECTOR = helper.make_tensor_type_proto(FLOAT, [4])
LIST = helper.make_sequence_type_proto(VECTOR)
MAYBE = helper.make_optional_type_proto(VECTOR)


def tensor(name, element=FLOAT, shape=(4,)):
    return helper.make_tensor_value_info(name, element, list(shape))


def typed(name, type_proto):
    return helper.make_value_info(name, type_proto)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f"{op}_{outputs}", **attributes)


def body(nodes, inputs, outputs):
    return helper.make_graph(nodes, "body", inputs, outputs)


def model(nodes, outputs, inputs=(), listed=()):
    scalars = {"yes": np.array(True), "no": np.array(False), "zero": np.array(0, np.int64),
               "none": np.array(0, np.int64), "two": np.array(2, np.int64)}
    used = {name for n in nodes for name in n.input} | {"W", "V"}
    initializers = [numpy_helper.from_array(array, name)
                    for name, array in {"W": W, "V": V, **scalars}.items() if name in used]
    graph = helper.make_graph(nodes, "results", [*inputs, *listed], outputs, initializer=initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


def branch(name):
    """A branch whose result is what the graph around it has."""
    return body([], [], [tensor(name)])


def identity_branch(name):
    return body([node("Identity", name, f"{name}_again")], [], [tensor(f"{name}_again")])


def kept_loop():
    """Carries a value on as it is."""
    return body([node("Identity", "go", "go_on")], [tensor("i", INT64, ()), tensor("go", BOOL, ()), tensor("kept")],
                [tensor("go_on", BOOL, ()), tensor("kept")])


def captured_loop():
    """Forgets what it carries for a weight."""
    return body([node("Identity", "go", "go_on")], [tensor("i", INT64, ()), tensor("go", BOOL, ()), tensor("carried")],
                [tensor("go_on", BOOL, ()), tensor("W")])


def scan_body():
    return body([node("Identity", "x", "y")], [tensor("state"), tensor("x", FLOAT, ())],
                [tensor("state"), tensor("y", FLOAT, ())])


Y = [tensor("y")]
YZ = [tensor("y"), tensor("z")]
COND = [tensor("c", BOOL, ())]
XIN = [tensor("x")]
# name: (model, feeds)
CASES = {
    "weight": (model([], [tensor("W")]), {}),
    "identity chain": (model([node("Identity", "W", "a"), node("Identity", "a", "y")], Y), {}),
    "weight twice": (model([node("Identity", "W", "y"), node("Identity", "W", "z")], YZ), {}),
    "if": (model([node("If", "c", "y", then_branch=branch("W"), else_branch=branch("V"))], Y, COND),
           {"c": np.array(True)}),
    "if not": (model([node("If", "c", "y", then_branch=branch("W"), else_branch=branch("V"))], Y, COND),
               {"c": np.array(False)}),
    "if identity": (model([node("If", "c", "y", then_branch=identity_branch("W"), else_branch=identity_branch("V"))],
                          Y, COND), {"c": np.array(True)}),
    "if input": (model([node("If", "c", "y", then_branch=branch("x"), else_branch=branch("V"))], Y, COND + XIN),
                 {"c": np.array(True), "x": X}),
    "if twice": (model([node("If", "c", "y z", then_branch=body([], [], [tensor("W"), tensor("W")]),
                             else_branch=body([], [], [tensor("V"), tensor("V")]))], YZ, COND), {"c": np.array(True)}),
    "if in if": (model([node("If", "c", "y", then_branch=body(
        [node("If", "c", "inner", then_branch=branch("W"), else_branch=branch("V"))], [], [tensor("inner")]),
                             else_branch=branch("V"))], Y, COND), {"c": np.array(True)}),
    "sequence at": (model([node("SequenceConstruct", "W V", "s"), node("SequenceAt", "s zero", "y")], Y), {}),
    "sequence": (model([node("SequenceConstruct", "W W", "y")], [typed("y", LIST)]), {}),
    "sequence twice": (model([node("SequenceConstruct", "W V", "y"), node("Identity", "y", "z")],
                             [typed("y", LIST), typed("z", LIST)]), {}),
    "sequence and item": (model([node("Relu", "x", "r"), node("SequenceConstruct", "r r", "y"),
                                 node("SequenceAt", "y zero", "z")], [typed("y", LIST), tensor("z")], XIN),
                          {"x": X}),
    "sequence insert": (model([node("SequenceEmpty", "", "e"), node("SequenceInsert", "e W", "y")],
                              [typed("y", LIST)]), {}),
    "sequence input": (model([node("SequenceInsert", "x W", "y")], [typed("y", LIST)], [typed("x", LIST)]),
                       {"x": [X, X]}),
    "sequence map": (model([node("SequenceConstruct", "V V", "s"), node(
        "SequenceMap", "s", "y", body=body([], [tensor("item")], [tensor("W")]))], [typed("y", LIST)]), {}),
    "sequence map kept": (model([node("SequenceConstruct", "W V", "s"), node(
        "SequenceMap", "s", "y", body=body([], [tensor("item")], [tensor("item")]))], [typed("y", LIST)]), {}),
    "optional": (model([node("Optional", "W", "y")], [typed("y", MAYBE)]), {}),
    "optional element": (model([node("Optional", "W", "o"), node("OptionalGetElement", "o", "y")], Y), {}),
    "loop of no trips": (model([node("Loop", "none yes W", "y", body=kept_loop())], Y), {}),
    "loop that stops": (model([node("Loop", "two no W", "y", body=kept_loop())], Y), {}),
    "loop that keeps": (model([node("Loop", "two yes W", "y", body=kept_loop())], Y), {}),
    "loop that captures": (model([node("Loop", "two yes V", "y", body=captured_loop())], Y), {}),
    "scan state": (model([node("Scan", "W x", "y z", body=scan_body(), num_scan_inputs=1)], YZ, XIN), {"x": X}),
    "input": (model([], [tensor("x")], XIN), {"x": X}),
    "input identity": (model([node("Identity", "x", "y"), node("Identity", "x", "z")], YZ, XIN), {"x": X}),
    "input default": (model([node("Identity", "W", "y")], Y, listed=[tensor("W")]), {}),
    "result twice": (model([node("Relu", "x", "y"), node("Identity", "y", "z")], YZ, XIN), {"x": X}),
}


def arrays(value):
    """The arrays a result is made of."""
    if isinstance(value, (list, tuple)):
        return [array for item in value for array in arrays(item)]
    return [value]


def copies(values):
    return [array.copy() for array in arrays(values)]


def same(left, right):
    assert len(left) == len(right)
    for a, b in zip(left, right):
        assert a.tobytes() == b.tobytes()


def check(session, feeds):
    given = {name: copies([value]) for name, value in feeds.items()}
    first = session.run(None, feeds)
    expected = copies(first)
    assert expected
    # Each result in turn: nothing else may follow it.
    for i, array in enumerate(arrays(first)):
        array *= 2
        left = copies(first)
        for k, other in enumerate(left):
            same([other], [expected[k] * 2 if k <= i else expected[k]])
    same(copies(session.run(None, feeds)), expected)
    for name, value in feeds.items():
        same(copies([value]), given[name])


@pytest.mark.parametrize("provider", ["cpu", "reference"])
@pytest.mark.parametrize("name", CASES)
class TestResultsAreFree:
    def test_of_a_model(self, name, provider):
        made, feeds = CASES[name]
        options = tenon.SessionOptions()
        options.add_session_config_entry("tenon.provider", provider)
        check(tenon.InferenceSession(made, options), feeds)

    @pytest.mark.parametrize("map", [True, False], ids=["mapped", "read"])
    def test_of_a_compiled_model(self, name, provider, map, tmp_path):
        made, feeds = CASES[name]
        path = tenon.compile(made, provider=provider).save(tmp_path)[0]
        check(tenon.Artifact.load(path, map=map).session(), feeds)

    def test_after_a_swap(self, name, provider):
        made, feeds = CASES[name]
        session = tenon.compile(made, provider=provider).session()
        new = {key: value for key, value in {"W": V + 1, "V": W - 1}.items()}
        session.set_weights(new, partial=True)
        check(session, feeds)
        same([new["W"], new["V"]], [V + 1, W - 1])


def test_results_outlive_weights_and_session():
    made, feeds = CASES["if"]
    session = tenon.compile(made).session()
    (y,) = session.run(None, feeds)
    session.set_weights({"W": V}, partial=True)
    del session
    gc.collect()
    filler = [np.zeros(4, np.float32) for _ in range(100)]
    assert y.tolist() == W.tolist() and len(filler) == 100

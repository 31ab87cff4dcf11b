"""What a model declares before it computes: versions, functions, attributes, types, names."""

import numpy as np
import onnx
import pytest
import tenon
from bad_input.refusals import floats, model_of, refused, run
from onnx import TensorProto, helper

X = floats(2, 3)
FLOAT_INPUT = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
NEWEST = onnx.defs.onnx_opset_version()


def one_node(op_type="Neg", inputs=("x",), outputs=("y",), **settings):
    node = helper.make_node(op_type, list(inputs), list(outputs), name="culprit")
    return model_of([node], [FLOAT_INPUT], outputs[:1], **settings)


def imports(*versions):
    model = one_node()
    del model.opset_import[:]
    model.opset_import.extend(onnx.OperatorSetIdProto(domain=domain, version=version) for domain, version in versions)
    return model


def warnings_of(model):
    return tenon.Model.load(model.SerializeToString()).warnings


@pytest.mark.parametrize("version", [-1, -5, -(1 << 63)])
def test_versions_of_operators_that_never_were(version):
    for domain, shown in [("", "ai.onnx"), ("ai.onnx", "ai.onnx"), ("ai.onnx.ml", "ai.onnx.ml")]:
        refused(imports((domain, version)), {"x": X}, says=f"version {version} ", place=shown, code="invalid model")


@pytest.mark.parametrize(
    ("domain", "newest"), [("", NEWEST), ("ai.onnx", NEWEST), ("ai.onnx.ml", 5), ("com.microsoft", 1)]
)
def test_versions_of_operators_from_the_future(domain, newest):
    for version in (newest + 1, 999):
        model = imports(*{("", 21), (domain, version)} if domain not in ("", "ai.onnx") else [(domain, version)])
        refused(model, {"x": X}, says=f"version {version} .*versions up to.* {newest} ", place=domain or "ai.onnx",
                code="unsupported")


def test_versions_of_operators_that_are_fine():
    for versions in ([("", NEWEST)], [("", 1)], [("ai.onnx", 21)], [("", 21), ("ai.onnx", 21)], [("own", 0)],
                     [("", 21), ("own", 1 << 40)], [("", 21), ("", 21)], []):  # fmt: skip
        assert np.array_equal(run(imports(*versions), {"x": X})[0], -X)


def test_the_last_import_of_a_domain_counts():
    """As in onnxruntime. The default axis of Softmax shows the version: 1 and what follows it before 13, the last since."""
    x = floats(2, 3, 4)
    last = np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
    flat = x.reshape(2, 12)
    rows = np.exp(flat - flat.max(-1, keepdims=True)) / np.exp(flat - flat.max(-1, keepdims=True)).sum(-1, keepdims=True)
    for domain in ("", "ai.onnx"):
        for versions, expected in [((11, 13), last), ((13, 11), rows.reshape(x.shape))]:
            node = helper.make_node("Softmax", ["x"], ["y"])
            model = model_of([node], [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)], ["y"])
            del model.opset_import[:]
            model.opset_import.extend([helper.make_opsetid("", versions[0]), helper.make_opsetid(domain, versions[1])])
            np.testing.assert_allclose(run(model, {"x": x})[0], expected, rtol=1e-5)
            (warning,) = warnings_of(model)
            assert f"imports versions {versions[0]} and {versions[1]} of the operators of ai.onnx" in warning
    model = imports(("", 21), ("own", 1), ("own", 2))
    assert np.array_equal(run(model, {"x": X})[0], -X)
    (warning,) = warnings_of(model)
    assert "imports versions 1 and 2 of the operators of own" in warning


def test_version_0_is_a_version_that_was_not_written_down():
    for domain in ("", "ai.onnx", "ai.onnx.ml", "com.microsoft"):
        model = imports((domain, 0))
        assert np.array_equal(run(model, {"x": X})[0], -X)
        (warning,) = warnings_of(model)
        assert f"imports version 0 of the operators of {domain or 'ai.onnx'}" in warning
    model = imports(("", 0), ("", 21))
    assert np.array_equal(run(model, {"x": X})[0], -X)


def test_functions_import_versions_too():
    call = helper.make_node("F", ["x"], ["y"], name="culprit", domain="own")
    for version, code in [(-1, "invalid model"), (999, "unsupported")]:
        body = [helper.make_node("Neg", ["a"], ["b"])]
        function = helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", version)])
        model = model_of([call], [FLOAT_INPUT], ["y"], functions=[function], opsets=[("own", 1)])
        refused(model, {"x": X}, says=f"'F'.*{version}", code=code)


def test_versions_of_the_file_format():
    model = one_node()
    for version, code in [(0, "invalid model"), (-1, "invalid model"), (999, "unsupported")]:
        model.ir_version = version
        refused(model, {"x": X}, says=str(version), place="IR version", code=code)
    model.ir_version = onnx.IR_VERSION + 1
    refused(model, {"x": X}, says=f"versions up to.* {onnx.IR_VERSION} ", place="IR version", code="unsupported")
    for version in (1, 2):  # they know no versions of operators
        old = imports()
        old.ir_version = version
        assert np.array_equal(run(old, {"x": X})[0], -X)


def test_ops_before_their_time():
    refused(one_node("Gelu", version=13), says="Gelu.*version 20 .*ai.onnx, but the model imports version 13", code="invalid model")
    refused(one_node("Mish", version=17), says="18", code="invalid model")
    assert run(one_node("Gelu", version=20), {"x": X})[0].shape == X.shape
    trees = helper.make_node("TreeEnsemble", ["x"], ["y"], name="culprit", domain="ai.onnx.ml")
    refused(model_of([trees], [FLOAT_INPUT], ["y"], opsets=[("ai.onnx.ml", 3)]), says="version 5 .*of ai.onnx.ml")


def test_ops_before_their_time_in_functions():
    body = [helper.make_node("Gelu", ["a"], ["b"], name="culprit")]
    call = helper.make_node("F", ["x"], ["y"], domain="own")
    for version in (13, 20):
        function = helper.make_function("own", "F", ["a"], ["b"], body, [helper.make_opsetid("", version)])
        model = model_of([call], [FLOAT_INPUT], ["y"], functions=[function], opsets=[("own", 1)])
        if version == 13:
            refused(model, {"x": X}, says="version 20")
        else:
            assert run(model, {"x": X})[0].shape == X.shape


def test_ops_that_existed_before_their_schema():
    for op_type in ("ThresholdedRelu", "MeanVarianceNormalization"):
        node = helper.make_node(op_type, ["x"], ["y"])
        image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 2, 2])
        assert run(model_of([node], [image], ["y"], version=7), {"x": floats(1, 2, 2, 2)})[0].shape == (1, 2, 2, 2)


def test_deprecated_ops_get_one_warning():
    scales = np.array([1, 2], np.float32)
    nodes = [helper.make_node("Upsample", [name, "s"], [out]) for name, out in [("x", "t"), ("t", "y")]]
    loaded = tenon.Model.load(model_of(nodes, [FLOAT_INPUT], ["y"], {"s": scales}, 13).SerializeToString())
    assert [w for w in loaded.warnings if "deprecated" in w] == ["Upsample is deprecated in version 13 of ai.onnx"]
    assert not tenon.Model.load(model_of(nodes, [FLOAT_INPUT], ["y"], {"s": scales}, 9).SerializeToString()).warnings


def function(name="F", inputs=("a",), outputs=("b",), overload=""):
    nodes = [helper.make_node("Neg", ["a"], [output]) for output in outputs]
    made = helper.make_function("own", name, list(inputs), list(outputs), nodes, [helper.make_opsetid("", 21)])
    made.overload = overload
    return made


def calling(functions, inputs=("x",), outputs=("y",), **attributes):
    node = helper.make_node("F", list(inputs), list(outputs), name="culprit", domain="own", **attributes)
    return model_of([node], [FLOAT_INPUT], outputs[:1], functions=functions, opsets=[("own", 1)])


def test_functions_defined_twice():
    refused(calling([function(), function()]), {"x": X}, says="own.*defined twice", place="'F'", code="invalid model")
    different = [function(), function(overload="other"), function(name="G")]
    assert np.array_equal(run(calling(different), {"x": X})[0], -X)


def test_functions_called_with_more_than_they_declare():
    refused(calling([function()], ["x", "x"]), {"x": X}, says="at most 1 inputs, but 2", code="invalid model")
    refused(calling([function()], outputs=["y", "z"]), {"x": X}, says="has 1 outputs, but 2", code="invalid model")
    for inputs, outputs in [(["x", ""], ["y"]), (["x"], ["y", ""]), (["x", "", ""], ["y", "", ""])]:
        assert np.array_equal(run(calling([function()], inputs, outputs), {"x": X})[0], -X)


@pytest.mark.parametrize("op_type", ["Softmax", "Frobnicate", "F"])
def test_attributes_given_twice(op_type):
    model = calling([function()])
    node = model.graph.node[0]
    node.op_type, node.domain = op_type, "own" if op_type == "F" else ""
    node.attribute.extend([helper.make_attribute("axis", 1), helper.make_attribute("axis", 0)])
    refused(model, {"x": X}, says="'axis'.*twice", code="invalid model")


def typed(name, number):
    info = helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3])
    info.type.tensor_type.elem_type = number
    return info


def test_unknown_element_types():
    says = "unknown element type 99"
    refused(model_of([], [typed("x", 99)], ["x"]), {"x": X}, says, place="'x'", code="invalid model")
    model = one_node()
    model.graph.value_info.append(typed("y", 99))
    refused(model, {"x": X}, says, place="'y'", code="invalid model")
    model = one_node()
    model.graph.output[0].CopyFrom(typed("y", 99))
    refused(model, {"x": X}, says, place="'y'", code="invalid model")
    sequence = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, None)
    sequence.type.sequence_type.elem_type.tensor_type.elem_type = 99
    refused(model_of([], [sequence], ["s"]), {"s": [X]}, says, place="'s'", code="invalid model")
    model = one_node()
    model.graph.output[0].CopyFrom(typed("y", 0))  # says nothing
    assert np.array_equal(run(model, {"x": X})[0], -X)


def declaring_output(data_type, shape):
    model = one_node()
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", data_type, shape))
    return model


def test_outputs_of_another_type_than_declared():
    for shape in ([2, 3], None, ["n", "m"], [7]):
        refused(declaring_output(TensorProto.INT64, shape), {"x": X}, "int64.* it is float", "'y'", "invalid model")
    sequence = one_node()
    sequence.graph.output[0].CopyFrom(helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, None))
    refused(sequence, {"x": X}, "seq.* it is float", "'y'", "invalid model")


def test_other_contradictions_are_warnings():
    """What callers do not get, or can see for themselves."""
    inner = one_node(outputs=["y"])
    inner.graph.value_info.append(helper.make_tensor_value_info("y", TensorProto.INT64, [2, 3]))
    for model in (declaring_output(TensorProto.FLOAT, [2, 4]), declaring_output(TensorProto.FLOAT, [6]), inner):
        assert np.array_equal(run(model, {"x": X})[0], -X)
        assert any("'y' is declared as" in w for w in tenon.Model.load(model.SerializeToString()).warnings)


def if_model(declared):
    """If whose branches say this of their output."""
    branches = [
        helper.make_graph([helper.make_node(op, ["x"], [name])], name, [], [declared(name)])
        for op, name in [("Neg", "then"), ("Abs", "else")]
    ]
    node = helper.make_node("If", ["c"], ["y"], name="choice", then_branch=branches[0], else_branch=branches[1])
    condition = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    return model_of([node], [FLOAT_INPUT, condition], ["y"])


def test_outputs_of_sub_graphs_of_another_type_than_declared():
    """Nobody but the model itself relies on them, and what they are is clear."""
    for data_type, shape in [(TensorProto.INT64, [2, 3]), (TensorProto.FLOAT, [7]), (TensorProto.INT64, None)]:
        model = if_model(lambda name: helper.make_tensor_value_info(name, data_type, shape))
        assert np.array_equal(run(model, {"x": X, "c": np.array(True)})[0], -X)
        assert np.array_equal(run(model, {"x": X, "c": np.array(False)})[0], X)
        warnings = warnings_of(model)
        assert [w.split(" is declared")[0] for w in warnings] == [
            f"output '{name}' of the sub-graph '{name}'" for name in ("then", "else")
        ]
    model = if_model(lambda name: helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, None))
    assert np.array_equal(run(model, {"x": X, "c": np.array(True)})[0], -X)


def scan_model(declared_input, declared_output):
    """Negates the rows of x."""
    body = helper.make_graph([helper.make_node("Neg", ["row"], ["negative"])], "body", [declared_input], [declared_output])
    node = helper.make_node("Scan", ["x"], ["y"], name="rows", num_scan_inputs=1, body=body)
    return model_of([node], [FLOAT_INPUT], ["y"])


def test_inputs_of_sub_graphs_of_another_type_than_declared():
    for data_type, shape in [(TensorProto.INT64, [3]), (TensorProto.FLOAT, [5]), (TensorProto.FLOAT, [2, 3])]:
        info = helper.make_tensor_value_info("row", data_type, shape)
        model = scan_model(info, helper.make_empty_tensor_value_info("negative"))
        assert np.array_equal(run(model, {"x": X})[0], -X)
        (warning,) = warnings_of(model)
        assert "input 'row' of the sub-graph 'body' is declared as" in warning


def loop_model(shape):
    """Doubles x by joining it to itself, three times; the body declares this shape for what it carries."""
    inputs = [
        helper.make_tensor_value_info("i", TensorProto.INT64, []),
        helper.make_tensor_value_info("go", TensorProto.BOOL, []),
        helper.make_tensor_value_info("carried", TensorProto.FLOAT, shape),
    ]
    outputs = [
        helper.make_tensor_value_info("on", TensorProto.BOOL, []),
        helper.make_tensor_value_info("next", TensorProto.FLOAT, shape),
    ]
    nodes = [
        helper.make_node("Identity", ["go"], ["on"]),
        helper.make_node("Concat", ["carried", "carried"], ["next"], axis=0),
    ]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    node = helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=body)
    return model_of([node], [FLOAT_INPUT], ["y"], {"n": np.array(3)})


def test_carried_values_of_another_shape_than_declared():
    for shape in ([2, 3], [7, 3], [6]):
        np.testing.assert_array_equal(run(loop_model(shape), {"x": X})[0], np.tile(X, (8, 1)))


def sequence_info(name, shape):
    return helper.make_tensor_sequence_value_info(name, TensorProto.FLOAT, shape)


def test_elements_of_sequences_of_another_shape_than_declared():
    """Sequences hold elements of any shapes; what is declared of them is what somebody expected."""
    length, at = helper.make_node("SequenceLength", ["s"], ["n"]), helper.make_node("SequenceAt", ["s", "i"], ["y"])
    for elements in ([X], [X, X[0]], []):
        model = model_of([length], [sequence_info("s", [7])], ["n"])
        assert run(model, {"s": elements})[0] == len(elements)
    model = model_of([at], [sequence_info("s", [7])], ["y"], {"i": np.array(1)})
    np.testing.assert_array_equal(run(model, {"s": [X, X[0]]})[0], X[0])
    made = model_of([helper.make_node("SequenceConstruct", ["x", "x"], ["s"])], [FLOAT_INPUT], ["s"])
    made.graph.output[0].CopyFrom(sequence_info("s", [7]))
    np.testing.assert_array_equal(run(made, {"x": X})[0], [X, X])
    made.graph.output[0].CopyFrom(helper.make_empty_tensor_value_info("s"))
    made.graph.value_info.append(sequence_info("s", [7]))
    np.testing.assert_array_equal(run(made, {"x": X})[0], [X, X])
    with pytest.raises(Exception, match="'s'"):
        run(model, {"s": [X.astype(np.int64)]})


def replaced(model, text, by):
    data = model.SerializeToString()
    assert text in data and len(text) == len(by)
    return data.replace(text, by)


@pytest.mark.parametrize(
    ("by", "shown", "reason"),
    [(b"n\0me", r"n\x00me", "zero byte"), (b"n\xffme", r"n\xffme", "UTF-8"), (b"\xc0\x80me", r"\xc0\x80me", "UTF-8")],
)
def test_names_that_are_no_text(by, shown, reason):
    def with_name(**fields):
        settings = {"input": "x", "output": "y", "node": "culprit", "op": "Neg", "dim": "n", "key": "k", **fields}
        node = helper.make_node(settings["op"], [settings["input"]], [settings["output"]], name=settings["node"])
        declared = helper.make_tensor_value_info(settings["input"], TensorProto.FLOAT, [settings["dim"]])
        model = model_of([node], [declared], [settings["output"]])
        helper.set_model_props(model, {settings["key"]: "value"})
        return model

    for field in ("input", "output", "node", "op", "dim", "key"):
        data = replaced(with_name(**{field: "name"}), b"name", by)
        refused(data, says=reason, place=f"'{shown}'", code="invalid model")


def test_names_in_any_language():
    node = helper.make_node("Neg", ["вход"], ["出力"], name="knoten é 😀")
    declared = helper.make_tensor_value_info("вход", TensorProto.FLOAT, [2, 3])
    assert np.array_equal(run(model_of([node], [declared], ["出力"]), {"вход": X})[0], -X)

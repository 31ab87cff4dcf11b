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


@pytest.mark.parametrize("version", [0, -5, -(1 << 63)])
def test_versions_of_operators_that_never_were(version):
    for domain, shown in [("", "ai.onnx"), ("ai.onnx", "ai.onnx"), ("ai.onnx.ml", "ai.onnx.ml")]:
        refused(imports((domain, version)), {"x": X}, says=f"version {version} ", place=shown, code="invalid model")


@pytest.mark.parametrize(
    ("domain", "newest"), [("", NEWEST), ("ai.onnx", NEWEST), ("ai.onnx.ml", 5), ("com.microsoft", 1)]
)
def test_versions_of_operators_from_the_future(domain, newest):
    for version in (newest + 1, 999):
        model = imports(*{("", 21), (domain, version)} if domain not in ("", "ai.onnx") else [(domain, version)])
        refused(model, {"x": X}, says=f"version {version} .*newest.* {newest} ", place=domain or "ai.onnx", code="unsupported")


def test_versions_of_operators_that_are_fine():
    for versions in ([("", NEWEST)], [("", 1)], [("ai.onnx", 21)], [("", 21), ("ai.onnx", 21)], [("own", 0)],
                     [("", 21), ("own", 1 << 40)], [("", 21), ("", 21)], []):  # fmt: skip
        assert np.array_equal(run(imports(*versions), {"x": X})[0], -X)


def test_a_domain_imported_in_two_versions():
    for versions in ([("", 21), ("", 13)], [("", 21), ("ai.onnx", 13)], [("", 21), ("own", 1), ("own", 2)]):
        domain = versions[-1][0].replace("ai.onnx", "") or "ai.onnx"
        refused(imports(*versions), {"x": X}, says="only one", place=domain, code="invalid model")


def test_functions_import_versions_too():
    call = helper.make_node("F", ["x"], ["y"], name="culprit", domain="own")
    for version, code in [(0, "invalid model"), (999, "unsupported")]:
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
    refused(model, {"x": X}, says=f"newest.* {onnx.IR_VERSION} ", place="IR version", code="unsupported")
    for version in (1, 2):  # they know no versions of operators
        old = imports()
        old.ir_version = version
        assert np.array_equal(run(old, {"x": X})[0], -X)


def test_ops_before_their_time():
    refused(one_node("Gelu", version=13), says="Gelu.*version 20 .*ai.onnx, version 13 is imported", code="invalid model")
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
    refused(calling([function()], ["x", "x"]), {"x": X}, says="at most 1 inputs, 2", code="invalid model")
    refused(calling([function()], outputs=["y", "z"]), {"x": X}, says="has 1 outputs, 2", code="invalid model")
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

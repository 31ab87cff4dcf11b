"""tenon verify."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from . import models
from .conftest import CANNOT_LOAD, DONE, FAILED, USAGE


@pytest.fixture
def changed(tmp_path):
    """The linear model with another shift, so that its second node is the first to differ."""
    path = models.linear(tmp_path / "changed.onnx")
    model = onnx.load(path)
    model.graph.initializer[1].CopyFrom(numpy_helper.from_array(np.array([-10, 1.5], np.float32), "b"))
    onnx.save(model, path)
    return path


def test_a_model_agrees_with_its_reference_form(tenon, linear):
    result = tenon("verify", linear)
    assert result.code == DONE, result.err
    assert "same" in result.out and "its reference form" in result.out
    document = tenon("verify", linear, "--format", "json", "--samples", "5", "--seed", "7").json
    assert document["same"] and document["other"] is None
    assert (document["samples"], document["seed"]) == (5, 7)
    (row,) = document["outputs"]
    assert (row["name"], row["max_abs"], row["max_rel"]) == ("y", 0, 0)
    assert row["cosine"] == pytest.approx(1)
    # Batches of one and of two, in turns.
    assert row["elements"] == (1 + 2 + 1 + 2 + 1) * 2
    assert document["verdict"] == "same"


def test_two_models_that_differ(tenon, linear, changed):
    result = tenon("verify", linear, changed, "--dim", "n=4", "--format", "json")
    assert result.code == FAILED
    document = result.json
    assert not document["same"] and "first_difference" not in document
    assert 0 < document["outputs"][0]["max_abs"] <= 0.5 + 1e-6
    text = tenon("verify", linear, changed)
    assert text.code == FAILED and "different" in text.out


def test_bisect_names_the_first_node(tenon, linear, changed):
    result = tenon("verify", linear, changed, "--dim", "n=4", "--bisect", "--format", "json")
    assert result.code == FAILED
    first = result.json["first_difference"]
    assert (first["node"], first["value"]) == ("shift", "sum")
    assert first["comparison"]["max_abs"] == pytest.approx(0.5, abs=1e-6)
    assert "node 'shift', value 'sum'" in tenon("verify", linear, changed, "--bisect").out


def test_bisect_of_equal_models_finds_nothing(tenon, linear):
    document = tenon("verify", linear, linear, "--bisect", "--format", "json").json
    assert document["same"] and document["first_difference"] is None


def test_bisect_when_the_output_is_the_first_difference(tenon, tmp_path):
    paths = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for path, op in zip(paths, ["Relu", "Identity"]):
        nodes = [models.helper.make_node(op, ["x"], ["y"], name=op)]
        models.save(path, nodes, [models.tensor("x", [64])], [models.tensor("y", [64])])
    first = tenon("verify", *paths, "--bisect", "--format", "json").json["first_difference"]
    assert (first["node"], first["value"]) == ("Relu", "y")


def test_tolerances(tenon, linear, changed):
    assert tenon("verify", linear, changed, "--atol", "0.6").code == DONE
    assert tenon("verify", linear, changed, "--atol", "0.4").code == FAILED
    assert tenon("verify", linear, changed, "--rtol", "100", "--atol", "0.6").code == DONE
    document = tenon("verify", linear, changed, "--rtol", "1e-3", "--atol", "0.6", "--format", "json").json
    assert (document["rtol"], document["atol"]) == (1e-3, 0.6)


def test_shapes(tenon, linear):
    document = tenon("verify", linear, "--shape", "x=3,2", "--samples", "1", "--format", "json").json
    assert document["outputs"][0]["elements"] == 6
    assert tenon("verify", linear, "--dim", "m=3").code == USAGE


def test_models_with_other_inputs_or_outputs(tenon, linear, tmp_path):
    other = models.identity(tmp_path / "other.onnx", name="z", shape=("n", 2))
    result = tenon("verify", linear, other)
    assert (result.code, result.out) == (FAILED, "")
    assert f"{other} has no input 'x', but {linear} has one (float[n, 2])" in result.err
    model = onnx.load(linear)
    model.graph.output.append(models.tensor("sum", ["n", 2]))
    onnx.save(model, tmp_path / "two.onnx")
    for pair in ([linear, "two.onnx"], ["two.onnx", linear]):
        result = tenon("verify", *pair)
        assert result.code == FAILED and "the output 'sum'" in result.err


def relu(path, shape, dtype=TensorProto.FLOAT):
    return models.save(path, [models.helper.make_node("Relu", ["x"], ["y"])], [models.tensor("x", shape, dtype)],
                       [models.tensor("y", shape, dtype)])


@pytest.mark.parametrize("shape, dtype", [(["n", 3], TensorProto.FLOAT), (["n"], TensorProto.FLOAT),
                                          (["n", 2], TensorProto.DOUBLE)])
def test_inputs_of_other_types_are_told_apart(tenon, linear, tmp_path, shape, dtype):
    other = relu(tmp_path / "other.onnx", shape, dtype)
    result = tenon("verify", linear, other)
    assert (result.code, result.out) == (FAILED, "")
    name = "double" if dtype == TensorProto.DOUBLE else "float"
    told = f"'x' is float[n, 2] in {linear} but {name}[{', '.join(map(str, shape))}] in {other}"
    assert f"the models have different inputs: {told}" in result.err


def test_dimensions_that_only_one_model_fixes(tenon, tmp_path):
    free, fixed = relu(tmp_path / "free.onnx", ["n", 2]), relu(tmp_path / "fixed.onnx", [5, 2])
    for pair in ([free, fixed], [fixed, free]):
        document = tenon("verify", *pair, "--samples", "1", "--format", "json").json
        assert document["same"] and document["outputs"][0]["elements"] == 10
    result = tenon("verify", free, fixed, "--dim", "n=4")
    assert result.code == FAILED and "different inputs" in result.err
    unnamed = relu(tmp_path / "unnamed.onnx", [None, 2])
    result = tenon("verify", unnamed, fixed)
    assert result.code == FAILED and "--shape x=" in result.err
    assert tenon("verify", unnamed, fixed, "--shape", "x=5,2").code == DONE


def test_dimensions_of_one_model_only(tenon, tmp_path):
    first, second = relu(tmp_path / "a.onnx", ["n", 2]), relu(tmp_path / "b.onnx", ["m", 2])
    assert tenon("verify", first, second, "--dim", "n=3").code == DONE


def test_other_element_type_is_a_difference(tenon, tmp_path):
    paths = []
    for name, to in [("a", TensorProto.FLOAT), ("b", TensorProto.DOUBLE)]:
        nodes = [models.helper.make_node("Cast", ["x"], ["y"], to=to)]
        paths.append(models.save(tmp_path / name, nodes, [models.tensor("x", [2])], [models.tensor("y", [2], to)]))
    result = tenon("verify", *paths)
    assert result.code == FAILED and "different type or shape" in result.out


def test_folders_without_compiled_models_and_damaged_ones(tenon, linear, tmp_path):
    result = tenon("verify", tmp_path)
    assert result.code == CANNOT_LOAD and "no compiled model" in result.err
    result = tenon("verify", tmp_path, linear)
    assert result.code == CANNOT_LOAD and "is a folder" in result.err
    result = tenon("verify", models.artifact(tmp_path / "m_ctx.onnx"))
    assert result.code == CANNOT_LOAD and "m_ctx.onnx" in result.err


def test_nan_in_both_counts_as_equal_and_is_mentioned(tenon, tmp_path):
    nodes = [models.helper.make_node("Add", ["x", "c"], ["y"])]
    weights = {"c": np.array([np.nan, 1], np.float32)}
    path = models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [2])], [models.tensor("y", [2])], weights)
    result = tenon("verify", path, "--samples", "2")
    assert result.code == DONE
    assert "2 elements are NaN in both" in result.err and "inconclusive:" in result.out
    assert tenon("verify", path, "--format", "json").json["verdict"] == "inconclusive"

"""What comparisons with the reference are tried with, and by which measure they judge."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from . import models
from .conftest import CANNOT_RUN, DONE, FAILED, USAGE


def image(path, flat=None):
    """An image of any size through a strided convolution; `flat` features must be left of it."""
    nodes = [helper.make_node("Conv", ["x", "filter"], ["c"], name="conv", strides=[2, 2])]
    weights = models.weights_of({"filter": (4, 3, 3, 3)})
    if flat is None:
        nodes.append(helper.make_node("GlobalAveragePool", ["c"], ["y"]))
        return models.save(path, nodes, [models.tensor("x", ["n", 3, "h", "w"])], [models.tensor("y", None)], weights)
    nodes += [helper.make_node("Flatten", ["c"], ["f"]), helper.make_node("MatMul", ["f", "w"], ["y"])]
    weights |= models.weights_of({"w": (flat, 2)})
    return models.save(path, nodes, [models.tensor("x", ["n", 3, "h", "w"])], [models.tensor("y", ["n", 2])], weights)


def shapes_of(tried):
    return [entry["inputs"] for entry in tried if "refused" not in entry]


def large_sums(path):
    """Sums of thousands whose result may be near zero: rounding is a share of the terms, not of the result."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    weights = {"w": models.weights_of({"w": (512, 64)})["w"] * np.float32(1000)}
    return models.save(path, nodes, [models.tensor("x", ["n", 512])], [models.tensor("y", ["n", 64])], weights)


def test_one_verdict_by_one_measure(tenon, tmp_path):
    large_sums(tmp_path / "m.onnx")
    size = ["--dim", "n=64", "--format", "json"]
    compiled = tenon("compile", "-m", "m.onnx", *size).json["models"][0]["validation"]
    alone = tenon("verify", "m.onnx", *size).json
    artifact = tenon("verify", "m_ctx.onnx", *size).json["groups"][0]["numbers"][0]
    pair = tenon("verify", "m_ctx.onnx", "m.onnx", *size).json
    assert [v["verdict"] for v in (compiled, alone, artifact, pair)] == ["same"] * 4
    # The same kernels on the same inputs.
    (a,), (b,) = alone["outputs"], artifact["outputs"]
    assert a["max_abs"] == b["max_abs"] and a["allowed_abs"] == b["allowed_abs"] > a["max_abs"]
    # What is allowed is a share of the largest number: of each number it would be too little.
    assert tenon("verify", "m.onnx", *size, "--rtol", str(2**-13), "--atol", str(2**-13)).code == FAILED


def test_a_real_difference_stays_one(tenon, tmp_path):
    path = large_sums(tmp_path / "m.onnx")
    model = onnx.load(path)
    weight = onnx.numpy_helper.to_array(model.graph.initializer[0]).copy()
    weight[0, 0] += 100
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weight, "w"))
    onnx.save(model, tmp_path / "other.onnx")
    result = tenon("verify", "other.onnx", "m.onnx", "--format", "json")
    assert result.code == FAILED and result.json["verdict"] == "different"
    assert 0 < result.json["outputs"][0]["mismatches"] <= 3 * 2


class TestShapes:
    def test_images_of_two_shapes(self, tenon, tmp_path):
        image(tmp_path / "m.onnx")
        document = tenon("verify", "m.onnx", "--format", "json").json
        assert shapes_of(document["tried"]) == [{"x": "float[1, 3, 64, 64]"}, {"x": "float[2, 3, 32, 64]"}]
        assert [entry["sets"] for entry in document["tried"]] == [2, 1]
        assert "tested with x float[1, 3, 64, 64]; x float[2, 3, 32, 64]" in tenon("verify", "m.onnx").out
        result = tenon("compile", "-m", "m.onnx", "--report", "r.html")
        assert "m was tested with x float[1, 3, 64, 64]; x float[2, 3, 32, 64]" in result.out
        assert "tested with x float[1, 3, 64, 64]; x float[2, 3, 32, 64]" in (tmp_path / "r.html").read_text()

    def test_extents_that_follow_from_weights(self, tenon, tmp_path):
        image(tmp_path / "m.onnx", flat=900)
        validation = tenon("compile", "-m", "m.onnx", "--format", "json").json["models"][0]["validation"]
        assert validation["verdict"] == "same"
        assert shapes_of(validation["tried"]) == [{"x": "float[1, 3, 32, 32]"}, {"x": "float[2, 3, 31, 31]"}]

    def test_fixed_shapes_are_tried_once(self, tenon, tmp_path):
        models.identity(tmp_path / "m.onnx", shape=(3,))
        validation = tenon("compile", "-m", "m.onnx", "--format", "json").json["models"][0]["validation"]
        assert validation["tried"] == [{"inputs": {"x": "float[3]"}, "sets": 1}]

    def test_sets_that_show_nothing_give_way_to_others(self, tenon, tmp_path):
        # Nothing is left of 100 numbers or fewer.
        nodes = [helper.make_node("Slice", ["x", "from", "to"], ["y"])]
        weights = {"from": np.array([0, 100]), "to": np.array([2**40, 2**40])}
        models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", ["n", "k"])], [models.tensor("y", None)], weights)
        document = tenon("verify", "m.onnx", "--samples", "1", "--format", "json").json
        assert document["verdict"] == "same" and document["outputs"][0]["elements"] > 0

    def test_numbers_that_are_nan_for_short_inputs(self, tenon, tmp_path):
        # 0 / 0 for up to 12 numbers, which no rule can tell.
        nodes = [helper.make_node("Size", ["x"], ["size"]), helper.make_node("Cast", ["size"], ["count"], to=1),
                 helper.make_node("Sub", ["count", "few"], ["rest"]), helper.make_node("Relu", ["rest"], ["left"]),
                 helper.make_node("Div", ["left", "left"], ["one"]), helper.make_node("Mul", ["x", "one"], ["y"])]
        models.save(tmp_path / "m.onnx", nodes, [models.tensor("x", [1, "k"])], [models.tensor("y", [1, "k"])],
                    {"few": np.array(12, np.float32)})
        document = tenon("verify", "m.onnx", "--format", "json").json
        assert document["verdict"] == "same" and document["outputs"][0]["nan"] == 0
        assert [e.get("shows_nothing") for e in document["tried"]] == ["the reference gives NaN"] * 2 + [None]

    def test_branches_that_need_two_extents(self, tenon, tmp_path):
        """Extents that only the nodes inside a branch tell, and no single one of which helps alone."""
        def branch(name):
            nodes = [helper.make_node("MatMul", ["x", "w"], [f"{name}.p"]),
                     helper.make_node("MatMul", ["v", f"{name}.p"], [name])]
            return helper.make_graph(nodes, name, [], [models.tensor(name, None)])

        nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branch("a"), else_branch=branch("b"))]
        inputs = [models.tensor("c", [], TensorProto.BOOL), models.tensor("x", [7, "k"]), models.tensor("v", [3, "m"])]
        models.save(tmp_path / "m.onnx", nodes, inputs, [models.tensor("y", None)], models.weights_of({"w": (48, 5)}))
        validation = tenon("compile", "-m", "m.onnx", "--format", "json").json["models"][0]["validation"]
        assert validation["verdict"] == "same"
        assert shapes_of(validation["tried"])[0] == {"c": "bool[]", "x": "float[7, 48]", "v": "float[3, 7]"}

    def test_what_no_size_helps(self, tenon, tmp_path):
        # The flattened image would have to be of a size that no image has.
        image(tmp_path / "m.onnx", flat=901)
        result = tenon("compile", "-m", "m.onnx", "--format", "json")
        validation = result.json["models"][0]["validation"]
        assert result.code == DONE and validation["verdict"] == "inconclusive"
        assert all("refused" in entry for entry in validation["tried"]) and len(validation["tried"]) > 1
        # All commands say so.
        (number,) = tenon("verify", "m_ctx.onnx", "--format", "json").json["groups"][0]["numbers"]
        result = tenon("verify", "m.onnx", "--format", "json")
        for entry in (number, result.json):
            assert entry["verdict"] == "inconclusive" and "the reference cannot run it" in entry["message"]
            assert [e["inputs"] for e in entry["tried"]] == [e["inputs"] for e in validation["tried"]]
        assert result.code == CANNOT_RUN
        result = tenon("verify", "m.onnx")
        assert result.code == CANNOT_RUN and result.out.startswith("inconclusive: m.onnx") and "--shape" in result.err


class TestFlags:
    @pytest.fixture
    def compiled(self, tenon, linear):
        assert tenon("compile", "-m", linear).code == DONE
        return "linear_ctx.onnx"

    def test_dimensions_and_shapes(self, tenon, linear):
        result = tenon("compile", "-m", linear, "--dim", "n=5", "--format", "json")
        assert shapes_of(result.json["models"][0]["validation"]["tried"]) == [{"x": "float[5, 2]"}]
        # What is up to date is tried again when somebody says with what.
        result = tenon("compile", "-m", linear, "--shape", "x=7,2", "--format", "json").json["models"][0]
        assert result["status"] == "up to date"
        assert shapes_of(result["validation"]["tried"]) == [{"x": "float[7, 2]"}]

    def test_inputs(self, tenon, linear, tmp_path):
        np.save(tmp_path / "x.npy", np.full((3, 2), np.nan, np.float32))
        result = tenon("compile", "-m", linear, "--input", "x=x.npy", "--format", "json").json["models"][0]
        assert result["validation"]["verdict"] == "inconclusive" and result["validation"]["outputs"][0]["nan"] == 6
        assert result["validation"]["tried"] == [
            {"inputs": {"x": "float[3, 2]"}, "sets": 1, "shows_nothing": "the reference gives NaN"}]

    def test_compiled_models(self, tenon, compiled):
        document = tenon("verify", compiled, "--dim", "n=6", "--samples", "2", "--format", "json").json
        (number,) = document["groups"][0]["numbers"]
        assert number["tried"] == [{"inputs": {"x": "float[6, 2]"}, "sets": 2}]
        assert "tested with x float[4, 2]" in tenon("verify", compiled, "--shape", "x=4,2").out
        result = tenon("verify", compiled, "--input", "x=[[1, 2]]", "--format", "json")
        assert result.json["groups"][0]["numbers"][0]["outputs"][0]["elements"] == 2

    def test_names_that_nothing_has(self, tenon, linear, compiled, tmp_path):
        for flag in ["--dim=m=3", "--shape=z=1", "--input=z=1"]:
            for command in (["compile", "-m", linear], ["verify", compiled]):
                result = tenon(*command, flag)
                assert result.code == USAGE and flag[2:].split("=")[0] in result.err, (command, flag)
        models.identity(tmp_path / "other.onnx", name="z", shape=("m",))
        group = ["compile", "-m", linear, "-m", "other.onnx", "--output-dir", "out", "--format", "json"]
        result = tenon(*group, "--dim", "m=3", "--dim", "n=4")
        assert [shapes_of(m["validation"]["tried"]) for m in result.json["models"]] == [
            [{"x": "float[4, 2]"}], [{"z": "float[3]"}]]
        result = tenon(*group, "--dim", "k=3", "--overwrite")
        assert result.code == USAGE and "no model has an open dimension of this name: 'k=3'" in result.err

    def test_without_validation_they_mean_nothing(self, tenon, linear):
        result = tenon("compile", "-m", linear, "--no-validate", "--dim", "n=3")
        assert result.code == USAGE and "--no-validate" in result.err


class TestUpToDate:
    def test_never_validated(self, tenon, linear):
        tenon("compile", "-m", linear, "--no-validate")
        result = tenon("compile", "-m", linear)
        assert result.code == DONE and "never validated" in result.out and "--validate" in result.err
        report = tenon("compile", "-m", linear, "--validate", "--format", "json").json["models"][0]
        assert (report["status"], report["validation"]["verdict"]) == ("up to date", "same")
        # That is known from then on.
        result = tenon("compile", "-m", linear)
        assert "same when it was compiled" in result.out and "never" not in result.out + result.err

    def test_the_verdict_is_kept(self, tenon, linear, tmp_path):
        tenon("compile", "-m", linear)
        assert "same when it was compiled" in tenon("compile", "-m", linear).out
        image(tmp_path / "odd.onnx", flat=901)
        tenon("compile", "-m", "odd.onnx")
        report = tenon("compile", "-m", "odd.onnx", "--format", "json").json["models"][0]
        assert (report["status"], report["validation"]["verdict"]) == ("up to date", "inconclusive")

    def test_other_weights_are_not_validated_by_it(self, tenon, linear, tmp_path):
        tenon("compile", "-m", linear)
        models.linear(tmp_path / "tuned.onnx", scale=2)
        assert tenon("weights", "set", "linear_ctx.onnx", "--from", "tuned.onnx", "-o", "t_ctx.onnx").code == DONE
        noted = {p: {e.key: e.value for e in onnx.load(tmp_path / p).metadata_props}
                 for p in ("linear_ctx.onnx", "t_ctx.onnx")}
        assert noted == {"linear_ctx.onnx": {"tenon.validation": "same"}, "t_ctx.onnx": {}}


def tied(path):
    """A table that is looked up and multiplied with."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["h"]),
        helper.make_node("Transpose", ["table"], ["t"], perm=[1, 0]),
        helper.make_node("MatMul", ["h", "t"], ["y"]),
    ]
    weights = models.weights_of({"table": (32, 16)})
    return models.save(path, nodes, [models.tensor("ids", [1, "n"], TensorProto.INT64)],
                       [models.tensor("y", [1, "n", 32])], weights)


class TestReport:
    def test_files_that_were_written(self, tenon, linear, tmp_path):
        report = tenon("compile", "-m", linear, "--output-dir", "out", "--format", "json").json
        (weights,) = (tmp_path / "out").glob("*.bin")
        assert report["written"] == ["out/linear_ctx.onnx", f"out/{weights.name}"]
        assert tenon("compile", "-m", linear, "--output-dir", "out", "--format", "json").json["written"] == []
        text = tenon("compile", "-m", linear, "--output-dir", "again").out
        assert "wrote again/linear_ctx.onnx\n" in text and f"wrote again/{weights.name}\n" in text

    def test_weights_in_two_forms(self, tenon, tmp_path):
        tied(tmp_path / "m.onnx")
        report = tenon("compile", "-m", "m.onnx", "--format", "json", "--report", "r.html").json
        (weight,) = report["group"]["stored_twice"]
        assert weight["weight"] == "table"
        assert sorted(form["bytes"] for form in weight["forms"]) == [32 * 16 * 4] * 2
        assert len({form["layout"] for form in weight["forms"]}) == 2
        assert "several forms" in (tmp_path / "r.html").read_text()
        text = tenon("compile", "-m", "m.onnx", "--output-dir", "out").out
        # In the order of their keys.
        (line,) = [line for line in text.splitlines() if line.startswith("stored in 2 forms: table: ")]
        assert "2.0 KiB as rows" in line and "2.0 KiB as panels16" in line

    def test_what_is_folded_into_another_weight_is_not_stored_with_it(self, tenon, tmp_path):
        def conv(path, scale):
            norm = ["gamma", "beta", "mean", "variance"]
            nodes = [helper.make_node("Conv", ["x", "filter"], ["c"]),
                     helper.make_node("BatchNormalization", ["c", *norm], ["y"])]
            weights = models.weights_of({"filter": (4, 3, 3, 3)}) | {name: np.ones(4, np.float32) for name in norm}
            weights["filter"] *= np.float32(scale)
            models.save(path, nodes, [models.tensor("x", ["n", 3, 8, 8])], [models.tensor("y", None)], weights)

        conv(tmp_path / "a.onnx", 1)
        assert tenon("compile", "-m", "a.onnx", "--format", "json").json["group"]["stored_twice"] == []
        # Two weights of one name are not one weight in two forms.
        conv(tmp_path / "b.onnx", 2)
        both = ["compile", "-m", "a.onnx", "-m", "b.onnx", "--output-dir", "out", "--format", "json"]
        assert tenon(*both).json["group"]["stored_twice"] == []

    def test_threads_of_the_command_line_beat_the_configuration(self, tenon, linear, tmp_path):
        (tmp_path / "c.json").write_text(json.dumps({"compile": {"threads": 1}}))
        command = ["compile", "-m", linear, "--config", "c.json", "--overwrite", "--format", "json"]
        assert tenon(*command).json["threads"] == 1
        assert tenon(*command, "--threads", "2").json["threads"] == 2
        assert tenon(*command, "--threads", "0").json["threads"] == 0

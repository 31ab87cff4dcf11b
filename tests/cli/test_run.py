"""tenon run."""

import json
import os
import stat

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from . import models
from .conftest import CANNOT_RUN, DONE, FAILED, USAGE


def output(result, index=0):
    assert result.code == DONE, result.err
    return result.json["outputs"][index]


@pytest.mark.parametrize("value", ["[[1, 1], [4, 4]]", "[[1.0,1],[4e0,4]]"])
def test_input_as_list(tenon, linear, value):
    result = output(tenon("run", linear, "--input", f"x={value}", "--format", "json"))
    assert result["name"] == "y"
    assert (result["dtype"], result["shape"], result["type"]) == ("float", [2, 2], "float[2, 2]")
    assert result["elements"] == [0, 7, 6, 25]
    assert (result["min"], result["max"], result["mean"]) == (0, 25, 9.5)


def test_text_for_people(tenon, linear):
    result = tenon("run", linear, "-i", "x=[[1, 1]]")
    assert result.out == "y  float[1, 2]\n  min 0  max 7  mean 3.5\n  [0, 7]\n"


def test_one_element_fills_the_shape(tenon, linear):
    for flags in (["--dim", "n=3"], ["--shape", "x=3,2"]):
        assert output(tenon("run", linear, "-i", "x=1", *flags, "--format", "json"))["elements"] == [0, 7] * 3
    result = tenon("run", linear, "-i", "x=1")
    assert result.code == USAGE and "--shape or --dim" in result.err


def test_list_takes_another_shape(tenon, linear):
    assert output(tenon("run", linear, "-i", "x=1,1,4,4", "--shape", "x=2,2", "--format", "json"))["shape"] == [2, 2]


def test_input_from_npy(tenon, linear, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 2), np.float32))
    before = (tmp_path / "x.npy").read_bytes()
    assert output(tenon("run", linear, "-i", "x=x.npy", "--format", "json"))["elements"] == [0, 7]
    assert (tmp_path / "x.npy").read_bytes() == before


def test_inputs_from_npz_and_outputs_to_npz(tenon, linear, tmp_path):
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "in.npz", x=np.ones((3, 2), np.float32))
        result = tenon("run", linear, "--inputs", "in.npz", "-o", "out.npz", "--overwrite")
        assert result.code == DONE, result.err
        with np.load(tmp_path / "out.npz") as arrays:
            assert arrays.files == ["y"]
            np.testing.assert_array_equal(arrays["y"], np.array([[0, 7]] * 3, np.float32))


@pytest.mark.parametrize(
    "dtype, value, elements",
    [
        (TensorProto.INT64, "9223372036854775807,-1", [9223372036854775807, -1]),
        (TensorProto.UINT64, "[18446744073709551615]", [18446744073709551615]),
        (TensorProto.UINT8, "0,255", [0, 255]),
        (TensorProto.BOOL, "true,false", [True, False]),
        (TensorProto.STRING, '["oak", "elm"]', ["oak", "elm"]),
        (TensorProto.STRING, '["nan"]', ["nan"]),
        (TensorProto.FLOAT16, "0.1,2", [0.09997559, 2]),
        (TensorProto.BFLOAT16, "1,-2", [1, -2]),
        (TensorProto.DOUBLE, "[0.1]", [0.1]),
        (TensorProto.FLOAT, '["nan", "inf", "-inf", 1]', ["nan", "inf", "-inf", 1]),
        (TensorProto.INT4, "-8,7", [-8, 7]),
        (TensorProto.FLOAT8E4M3FN, "1,-0.5", [1, -0.5]),
    ],
)
def test_element_types(tenon, tmp_path, dtype, value, elements):
    path = models.identity(tmp_path / "m.onnx", dtype)
    result = output(tenon("run", path, "-i", f"x={value}", "--format", "json"))
    assert result["elements"] == (pytest.approx(elements) if dtype == TensorProto.FLOAT16 else elements)
    assert all(isinstance(element, bool) == (dtype == TensorProto.BOOL) for element in result["elements"])


@pytest.mark.parametrize(
    "dtype, value",
    [
        (TensorProto.UINT8, "256,0"),
        (TensorProto.UINT8, "-1,0"),
        (TensorProto.INT64, "1.5,0"),
        (TensorProto.INT64, "9223372036854775808,0"),
        (TensorProto.BOOL, "2,0"),
        (TensorProto.FLOAT, "[one]"),
        (TensorProto.FLOAT, "[[1],[2,3]]"),
        (TensorProto.FLOAT, "[1,[2]]"),
        (TensorProto.FLOAT, "[[1],2]"),
        (TensorProto.FLOAT, "[null]"),
        (TensorProto.FLOAT, "["),
        (TensorProto.STRING, "[1]"),
        (TensorProto.INT4, "8,0"),
    ],
)
def test_values_the_type_cannot_hold(tenon, tmp_path, dtype, value):
    result = tenon("run", models.identity(tmp_path / "m.onnx", dtype), "-i", f"x={value}")
    assert (result.code, result.out) == (USAGE, ""), result.err
    assert "'x'" in result.err


def test_words_need_no_quotes(tenon, tmp_path):
    path = models.identity(tmp_path / "m.onnx", TensorProto.STRING, shape=())
    assert output(tenon("run", path, "-i", "x=hello, world", "--format", "json"))["elements"] == ["hello, world"]


def test_random_is_seeded(tenon, linear):
    def values(*flags):
        return output(tenon("run", linear, "--random", "--format", "json", *flags))["elements"]

    assert values() == values("--seed", "0") == values("--seed", "0")
    assert values("--seed", "-5", "--dim", "n=4") == values("--seed", "-5", "--dim", "n=4")
    assert values("--seed", "1", "--dim", "n=4") != values("--seed", "2", "--dim", "n=4")


def test_random_indices_stay_inside_the_table(tenon, tmp_path):
    path = models.embedding(tmp_path / "m.onnx", rows=5)
    seen = set()
    for seed in range(20):
        result = output(tenon("run", path, "--random", "--seed", seed, "--dim", "n=8", "--format", "json"))
        seen.update(result["elements"])
    assert seen == {0, 1, 2, 3, 4}


def test_dimensions_without_a_name_are_given_by_shape(tenon, tmp_path):
    path = models.identity(tmp_path / "m.onnx", shape=(None, 3))
    shown = tenon("inspect", path).out
    assert "float[?0, 3]" in shown
    for name in ("?0", "n"):
        result = tenon("run", path, "--random", "--dim", f"{name}=4")
        assert result.code == USAGE and "--shape" in result.err
    assert output(tenon("run", path, "--random", "--shape", "x=4,3", "--format", "json"))["shape"] == [4, 3]


def test_random_shape(tenon, linear):
    assert output(tenon("run", linear, "--random", "--shape", "x=7,2", "--format", "json"))["shape"] == [7, 2]
    for shape, message in [("x=7,3", "cannot have the shape"), ("x=7", "cannot have the shape"), ("z=1", "no input named 'z'")]:
        result = tenon("run", linear, "--random", "--shape", shape)
        assert result.code == USAGE and message in result.err


@pytest.mark.parametrize(
    "flags, message",
    [
        ([], "no value is given for 'x' float[n, 2]"),
        (["-i", "y=1"], "no input named 'y'"),
        (["-i", "x"], "NAME=VALUE"),
        (["-i", "=1"], "NAME=VALUE"),
        (["-i", "x=[[1,1]]", "-i", "x=[[2,2]]"], "given twice"),
        (["-i", "x=1", "-i", "x=2"], "'x' is given twice"),
        (["-i", "x=foo"], "'foo' is not a number, not a list such as [1, 2], and not the name of a file"),
        (["-i", "x="], "the value is empty"),
        (["-i", "x=1.5.2"], "'x' (float[n, 2])"),
        (["-i", "x=linear.onnx"], "'linear.onnx' is a file, but only NumPy files (.npy) can be read"),
        (["-i", "x=[[1,1]]", "--dim", "n=3"], "--input: dimension 'n' of input 'x' is 1, but --dim says 3"),
        (["--random", "--shape", "x=4,2", "--dim", "n=3"], "--shape: dimension 'n' of input 'x' is 4, but --dim says 3"),
        (["--random", "--dim", "m=2"], "dimension named 'm'"),
        (["--random", "--dim", "n"], "NAME=4"),
        (["--random", "--dim", "n=-1"], "whole number"),
        (["--random", "--dim", "n=x"], "whole number"),
        (["--random", "--dim", "n=1", "--dim", "n=2"], "given twice"),
        (["--random", "--shape", "x=1,,2"], "whole numbers"),
        (["--random", "--shape", "x=1,2,"], "whole numbers"),
        (["--random", "--shape", "x=1,2", "--shape", "x=1,2"], "given twice"),
        (["-i", "x=a.npy", "--shape", "x=1,2"], "gets its shape from"),
        (["-i", "x=[[1,1]]", "--overwrite"], "--overwrite needs"),
    ],
)
def test_wrong_inputs(tenon, linear, flags, message):
    result = tenon("run", linear, *flags)
    assert (result.code, result.out) == (USAGE, ""), result.err
    assert message in result.err


def test_archive_with_something_else_inside(tenon, linear, tmp_path):
    np.savez(tmp_path / "in.npz", x=np.ones((1, 2), np.float32), w=np.ones(1))
    result = tenon("run", linear, "--inputs", "in.npz")
    assert result.code == USAGE and "array 'w'" in result.err
    np.savez(tmp_path / "in.npz", x=np.ones((1, 2), np.float32))
    result = tenon("run", linear, "--inputs", "in.npz", "-i", "x=[[1,1]]")
    assert result.code == USAGE and "by both --input and --inputs" in result.err


def test_input_files_that_cannot_be_read(tenon, linear, tmp_path):
    (tmp_path / "bad.npy").write_bytes(b"nonsense")
    (tmp_path / "bad.npz").write_bytes(b"PK nonsense")
    for flags in (["-i", "x=none.npy"], ["-i", "x=bad.npy"], ["--inputs", "none.npz"], ["--inputs", "bad.npz"]):
        result = tenon("run", linear, *flags)
        assert (result.code, result.out) == (FAILED, ""), result.err
        assert flags[1].removeprefix("x=") in result.err
        assert flags[0] != "-i" or "--input: 'x': " in result.err


def test_inputs_the_model_does_not_take(tenon, linear, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 2), np.float64))
    result = tenon("run", linear, "-i", "x=x.npy")
    assert result.code == CANNOT_RUN and "expects element type float" in result.err
    result = tenon("run", linear, "-i", "x=[[1, 2, 3]]")
    assert result.code == CANNOT_RUN and "input 'x'" in result.err


def test_errors_name_the_node(tenon, tmp_path):
    path = models.embedding(tmp_path / "m.onnx")
    result = tenon("run", path, "-i", "ids=[77]")
    assert result.code == CANNOT_RUN
    assert result.err.startswith(f"tenon: {path}: node 'lookup' (Gather): ")


def test_output_is_not_overwritten(tenon, linear, tmp_path):
    for flag, name in (("-o", "out.npz"), ("--profile", "steps.json")):
        (tmp_path / name).write_text("precious")
        result = tenon("run", linear, "--random", flag, name)
        assert (result.code, result.out) == (FAILED, "")
        assert "--overwrite" in result.err
        assert (tmp_path / name).read_text() == "precious"
        assert tenon("run", linear, "--random", flag, name, "--overwrite").code == DONE
        assert (tmp_path / name).read_bytes() != b"precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["linear.onnx", "out.npz", "steps.json"]


def test_inputs_are_never_overwritten(tenon, linear, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((1, 2), np.float32))
    (tmp_path / "link.npz").symlink_to(linear)
    for target in [linear, "x.npy", "./x.npy", "link.npz"]:
        result = tenon("run", linear, "-i", "x=x.npy", "-o", target, "--overwrite")
        assert result.code == USAGE, target
        assert "already used" in result.err
    result = tenon("run", linear, "-i", "x=x.npy", "-o", "a", "--profile", "a")
    assert result.code == USAGE
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), 1)


def test_output_that_cannot_be_written(tenon, linear, tmp_path):
    (tmp_path / "folder").mkdir()
    for target in ["none/out.npz", "folder"]:
        result = tenon("run", linear, "--random", "-o", target, "--overwrite")
        assert (result.code, result.out) == (FAILED, ""), target


def test_profile(tenon, tmp_path):
    model = models.head(tmp_path / "cat.onnx", "cat")
    assert tenon("run", model, "--random", "--profile", "steps.json").code == DONE
    events = json.loads((tmp_path / "steps.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == ["first + Relu->h1", "second", "cat"]
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)


def test_sequences(tenon, tmp_path):
    path = models.sequence(tmp_path / "m.onnx")
    np.savez(tmp_path / "in.npz", **{"x/0": np.ones(2, np.float32), "x/1": np.zeros((1, 1), np.float32)})
    result = tenon("run", path, "--inputs", "in.npz", "-o", "out.npz")
    assert result.code == DONE, result.err
    assert "[0] float[2]" in result.out and "[1] float[1, 1]" in result.out
    with np.load(tmp_path / "out.npz") as arrays:
        assert arrays.files == ["y/0", "y/1"]
        np.testing.assert_array_equal(arrays["y/0"], np.ones(2, np.float32))
    described = output(tenon("run", path, "--random", "--format", "json"))
    assert (described["kind"], described["count"]) == ("sequence", 3)
    result = tenon("run", path, "-i", "x=1")
    assert result.code == USAGE and "x/0" in result.err


def test_maps(tenon, tmp_path):
    path = models.maps(tmp_path / "m.onnx")
    result = tenon("run", path, "-i", "x=[[0.25, 0.75]]", "-o", "out.npz")
    assert result.code == DONE, result.err
    assert '"oak": 0.25' in result.out and '"elm": 0.75' in result.out
    with np.load(tmp_path / "out.npz") as arrays:
        assert sorted(arrays.files) == ["y/0/keys", "y/0/values"]
        assert dict(zip(arrays["y/0/keys"], arrays["y/0/values"])) == {"oak": 0.25, "elm": 0.75}


def test_npz_takes_part_in_random_shapes(tenon, tmp_path):
    nodes = [models.helper.make_node("Add", ["a", "b"], ["y"])]
    path = models.save(
        tmp_path / "m.onnx", nodes, [models.tensor("a", ["n"]), models.tensor("b", ["n"])], [models.tensor("y", ["n"])]
    )
    assert output(tenon("run", path, "-i", "a=[1, 2, 3]", "--random", "--format", "json"))["shape"] == [3]


def test_outputs_replace_regular_files_only(tenon, linear, tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "link.npz").symlink_to("elsewhere.npz")
    for name in ("pipe.npz", "link.npz"):
        result = tenon("run", linear, "--random", "-o", name, "--overwrite")
        assert result.code == FAILED and "not a regular file" in result.err
    assert stat.S_ISFIFO((tmp_path / "pipe.npz").stat().st_mode) and (tmp_path / "link.npz").is_symlink()


def test_random_sequences_inside_sequences_stay_small(tenon, tmp_path):
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, [2])
    for _ in range(40):
        kind = helper.make_sequence_type_proto(kind)
    deep = helper.make_value_info("x", kind)
    graph = helper.make_graph(
        [helper.make_node("SequenceLength", ["x"], ["n"])], "deep", [deep],
        [helper.make_tensor_value_info("n", TensorProto.INT64, [])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]), tmp_path / "deep.onnx")
    assert tenon("run", "deep.onnx", "--random").code == DONE

"""The commands of docs/weights.md, in order and as they are written there."""

import json
import pathlib
import re
import shlex

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .conftest import DONE

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "weights.md").read_text()
ROWS = {"prefill": 12, "decode": 1}


def stage(path, rows, weights):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Add", ["a", "b"], ["y"])], "stage",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [rows, 16])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [rows, 8])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def safetensors(path, weights):
    header, body = {}, b""
    for name, array in weights.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(body), len(body) + array.nbytes]}
        body += array.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


def weights_of(seed):
    rng = np.random.default_rng(seed)
    return {"w": rng.standard_normal((16, 8), np.float32), "b": rng.standard_normal(8, np.float32)}


def commands():
    """Lines of the page that are commands."""
    return [shlex.split(line)[1:] for line in re.findall(r"^\$ (tenon .*)$", PAGE, re.M)]


def test_the_commands_work_as_written(tenon, tmp_path):
    for name, rows in ROWS.items():
        stage(tmp_path / f"{name}.onnx", rows, weights_of(1))
    safetensors(tmp_path / "tuned.safetensors", weights_of(2))
    names = [" ".join(command[:2]) if command[0] == "weights" else command[0] for command in commands()]
    assert names == ["compile", "run", "perf", "weights list", "weights set", "weights set", "weights strip",
                     "weights set", "weights export", "weights set"]
    printed = {}
    for name, command in zip(names, commands()):
        result = tenon(*command)
        assert result.code == DONE, (command, result.err)
        printed[name] = result.out
    assert "wrote compiled/decode_ctx.onnx" in printed["compile"] and "was tested with" in printed["compile"]
    # `export` takes out what `compile` put in, and `weights set --in-place` puts other weights in.
    assert (tmp_path / "weights.safetensors").read_bytes().endswith(weights_of(1)["w"].tobytes())
    assert tenon("weights", "export", "compiled/decode_ctx.onnx", "--source-dir", ".", "-o", "w.safetensors").code == DONE
    assert (tmp_path / "w.safetensors").read_bytes().endswith(weights_of(2)["w"].tobytes())
    assert tenon("verify", "compiled", "--source-dir", ".").code == DONE


def test_what_is_missing_says_where_it_is_looked_for(tenon, tmp_path):
    stage(tmp_path / "decode.onnx", 1, weights_of(1))
    assert tenon("compile", "-m", "decode.onnx", "--output-dir", "out").code == DONE
    refused = tenon("weights", "export", "out/decode_ctx.onnx", "-o", "w.safetensors")
    assert refused.code != DONE and "'w': the source 'w' was not found" in refused.err and "--source-dir" in refused.err
    shown = tenon("verify", "out")
    assert "'decode.onnx' was not found; name its folder with --source-dir" in shown.out
    assert "no guards to check" in shown.out

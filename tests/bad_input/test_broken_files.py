"""Files that end too early or have some bits wrong: refused or run, never a crash."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
import tenon
from bad_input.refusals import floats, ints, model_of, run
from onnx import TensorProto, helper, parser

WORKER = Path(__file__).with_name("broken_file_worker.py")
X = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 4])


def chain(*nodes, weights=None, inputs=(X,), **settings):
    return model_of(list(nodes), list(inputs), ["y"], weights or {}, **settings)


def node(op_type, inputs, outputs=("y",), **attributes):
    return helper.make_node(op_type, inputs, list(outputs), **attributes)


IMAGE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 4, 4])
SEQUENCE = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 1, 3])
MODELS = {
    "matmul": chain(node("MatMul", ["x", "w"]), weights={"w": floats(4, 2)}),
    "convolution": chain(
        node("Conv", ["x", "w"], pads=[1, 1, 1, 1], strides=[2, 1]), weights={"w": floats(3, 2, 3, 3)}, inputs=[IMAGE]
    ),
    "pooling": chain(node("MaxPool", ["x"], kernel_shape=[2, 2], ceil_mode=1, strides=[1, 2]), inputs=[IMAGE]),
    "gather": chain(node("Gather", ["x", "i"], axis=1), weights={"i": ints(3, -1, 0)}),
    "scatter": chain(node("ScatterND", ["x", "i", "u"]), weights={"i": ints(1, 0).reshape(2, 1), "u": floats(2, 4)}),
    "slice": chain(node("Slice", ["x", "a", "b", "c", "d"]), weights={"a": ints(3), "b": ints(-9), "c": ints(1), "d": ints(-2)}),
    "reshape": chain(node("Reshape", ["x", "s"]), weights={"s": ints(0, -1, 2)}),
    "resize": chain(node("Resize", ["x", "", "s"], mode="cubic"), weights={"s": np.array([2, 1.5], np.float32)}),
    "recurrent": chain(
        node("GRU", ["x", "w", "r"], ["", "y"], hidden_size=2),
        weights={"w": floats(1, 6, 3), "r": floats(1, 6, 2)},
        inputs=[SEQUENCE],
    ),
    "normalization": chain(node("LayerNormalization", ["x", "w", "b"], axis=-1), weights={"w": floats(4), "b": floats(4)}),
    "trees": chain(
        node("TreeEnsembleRegressor", ["x"], domain="ai.onnx.ml", n_targets=1, nodes_treeids=[0, 0, 0],
             nodes_nodeids=[0, 1, 2], nodes_featureids=[2, 0, 0], nodes_values=[0.5, 0.0, 0.0],
             nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
             target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.0, 2.0]),
        opsets=[("ai.onnx.ml", 3)],
    ),
    "loop": parser.parse_model("""<ir_version: 9, opset_import: ["" : 19]>
    g (float[2, 4] x) => (float[2, 4] y, float[K, 2, 4] all) {
      trips = Constant <value_int = 3> ()
      go = Constant <value = bool {1}> ()
      y, all = Loop (trips, go, x) <body = b (int64 i, bool c, float[2, 4] v) => (bool c2, float[2, 4] w, float[2, 4] s) {
        c2 = Identity (c)
        w = Add (v, x)
        s = Neg (w)
      }>
    }"""),
    "function": parser.parse_model("""<ir_version: 9, opset_import: ["" : 19, "own" : 1]>
    g (float[2, 4] x) => (float[2, 4] y) { y = own.twice <by = 2.0> (x) }
    <domain: "own", opset_import: ["" : 19]>
    twice <by> (a) => (b) { f = Constant <value_float: float = @by> ()
      b = Mul (a, f) }"""),
}  # fmt: skip


@pytest.mark.parametrize("damage", ["truncate", "flip"])
@pytest.mark.parametrize("name", MODELS)
def test_damaged_models(name, damage, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(MODELS[name].SerializeToString())
    assert run(path.read_bytes(), {"x": np.ones([d.dim_value for d in MODELS[name].graph.input[0].type.tensor_type.shape.dim], np.float32)})
    done = subprocess.run([sys.executable, WORKER, path, damage], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr[-2000:]}"
    # Few damaged models still run, so that nearly all of the damage must have been noticed.
    assert int(done.stdout) < {"truncate": path.stat().st_size, "flip": 400}[damage]


def test_the_file_is_named(tmp_path):
    path = tmp_path / "half.onnx"
    path.write_bytes(MODELS["matmul"].SerializeToString()[:-9])
    with pytest.raises(tenon.Error, match="half.onnx"):
        tenon.InferenceSession(str(path))
    path.write_bytes(b"GIF89a, not a model")
    with pytest.raises(tenon.Error, match="half.onnx"):
        tenon.InferenceSession(str(path))
    with pytest.raises(tenon.Error, match="missing.onnx"):
        tenon.InferenceSession(str(tmp_path / "missing.onnx"))
    with pytest.raises(tenon.Error, match=str(tmp_path)):
        tenon.InferenceSession(str(tmp_path))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"location": "nothing.bin"}, "nothing.bin"),
        ({"location": "../outside.bin"}, "outside.bin"),
        ({"location": "/etc/passwd"}, "passwd"),
        ({"offset": "24"}, "weights.bin"),
        ({"offset": "-8"}, "offset"),
        ({"offset": "9223372036854775807"}, "weights.bin"),
        ({"offset": "some"}, "offset"),
        ({"length": "99"}, "weights.bin|length"),
        ({"length": "-1"}, "length"),
        ({"length": "8"}, "bytes"),
    ],
)
def test_external_data(change, says, tmp_path):
    (tmp_path / "outside.bin").write_bytes(bytes(32))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(bytes(32))
    model = chain(node("MatMul", ["x", "w"]))
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 2], data_location=TensorProto.EXTERNAL)
    for key, value in ({"location": "weights.bin"} | change).items():
        tensor.external_data.add(key=key, value=value)
    model.graph.initializer.append(tensor)
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(tenon.Error, match=f"'w'.*({says})"):
        tenon.InferenceSession(str(folder / "model.onnx")).run(None, {"x": floats(2, 4)})

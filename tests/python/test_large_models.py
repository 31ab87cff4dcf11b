"""A model whose weights take more than 2 GB, most of them a hole in a sparse file."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import tenon
from tenon.capi.onnxruntime_pybind11_state import InvalidGraph

TABLE_ROWS, ROW_BYTES = 2_300_000, 1000
TABLE_BYTES = TABLE_ROWS * ROW_BYTES
SCALE_OFFSET = TABLE_BYTES + 4096


def external(name, dtype, dims, offset, length):
    tensor = TensorProto(name=name, data_type=dtype, dims=dims, data_location=TensorProto.EXTERNAL)
    for key, value in {"location": "weights.bin", "offset": offset, "length": length}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


@pytest.fixture
def model(tmp_path):
    scale = np.arange(ROW_BYTES, dtype=np.float32)
    with open(tmp_path / "weights.bin", "wb") as file:
        file.seek(TABLE_BYTES - ROW_BYTES)  # the last row
        file.write(bytes(range(250)) * 4)
        file.seek(SCALE_OFFSET)
        file.write(scale.tobytes())
    assert (tmp_path / "weights.bin").stat().st_blocks * 512 < 1 << 20, "the file should be sparse"
    nodes = [
        helper.make_node("Gather", ["table", "row"], ["bytes"], axis=0),
        helper.make_node("Cast", ["bytes"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["numbers", "scale"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("row", TensorProto.INT64, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [ROW_BYTES])],
        [
            external("table", TensorProto.UINT8, [TABLE_ROWS, ROW_BYTES], 0, TABLE_BYTES),
            external("scale", TensorProto.FLOAT, [ROW_BYTES], SCALE_OFFSET, 4 * ROW_BYTES),
        ],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_rows_beyond_two_gigabytes(model):
    session = tenon.InferenceSession(model)
    (last,) = session.run(None, {"row": np.array(TABLE_ROWS - 1, np.int64)})
    assert last.tolist() == [(i % 250) * i for i in range(ROW_BYTES)]
    (first,) = session.run(None, {"row": np.array(0, np.int64)})
    assert not first.any()


def test_a_file_that_ends_too_early_is_refused(model):
    with open(model.with_name("weights.bin"), "r+b") as file:
        file.truncate(SCALE_OFFSET + 100)
    with pytest.raises(InvalidGraph, match="scale.*weights.bin"):
        tenon.InferenceSession(model)

"""docs/artifact.md says enough to read a weights file: a reader made from it finds what was written."""

import struct
from pathlib import Path

import onnx
import pytest

from .reader import WeightsFile, names_needed, stored_strings

FOLDER = Path(__file__).parent
ABSENT, IN_FILE, PACKED, EMBEDDED = range(4)


@pytest.fixture(scope="module")
def weights():
    return WeightsFile((FOLDER / "sample.bin").read_bytes())


@pytest.fixture(scope="module")
def context():
    return onnx.load(FOLDER / "sample_ctx.onnx")


def test_models_share_their_program_and_weights(weights):
    assert weights.made_by == "tenon test"
    prefill, decode = weights.models
    assert (prefill["name"], decode["name"]) == ("prefill", "decode")
    assert prefill["plan_key"] == decode["plan_key"]
    assert prefill["program"] == decode["program"] == 0 and len(weights.programs) == 1
    assert prefill["slots"] == [0, 1, 3] and decode["slots"] == [0, 2, 3]
    assert prefill["sources"] == [0, 1, 3] and decode["sources"] == [0, 2, 3]


def test_program(weights):
    program = weights.programs[0]
    plan = program.plan
    assert [name for _, _, name in plan["inputs"]] == ["c", "data", "list"]
    assert [default for _, default, _ in plan["inputs"]] == [-1, 0, -1]
    assert [name for _, name in plan["outputs"]] == ["z", "t", "t again", "back"]
    assert [step["op"] for step in plan["steps"]] == ["Relu", "If", "Clip", "Reshape", "Reorder", "Reorder"]
    assert [step["family"] for step in plan["steps"]] == [
        "reference/Relu", "control/If", "reference/Clip", "reference/Reshape", "cpu/Reorder", "cpu/Reorder",
    ]  # fmt: skip
    assert {step["version"] for step in plan["steps"]} == {1}
    assert plan["late_dims"] == [("batch", "quarters")]
    assert plan["values"][8][3] == (1, [24, 16])
    assert plan["steps"][2]["inputs"] == [3, -1, 4]
    assert plan["values"][1][0] == ("tensor", "float", ["batch", 2], None)
    assert plan["values"][2][0] == ("sequence", "undefined", None, ("tensor", "int64", None, None))
    assert plan["values"][4] == (("tensor", "float16", [2], None), 1, 1, None)
    assert plan["values"][5][0][2] == ["batch", "floor(2*batch + 1, 3)"]
    then, otherwise = plan["steps"][1]["bodies"]
    assert then["captures"] == otherwise["captures"] == [(3, 0)]
    assert otherwise["steps"][0]["op"] == "Mul"


def test_weight_program(weights):
    program = weights.programs[0]
    assert [source["name"] for source in program.sources] == ["w", "scope/s", "words"]
    assert [slot["sources"] for slot in program.slots] == [[0], [1], [2]]
    assert [slot["layout"] for slot in program.slots] == ["", "halves", ""]
    assert program.slots[0]["expression"] is None
    steps = program.slots[1]["expression"]["steps"]
    assert [step["op"] for step in steps] == ["Add", "Cast"]
    assert struct.unpack_from("<q", steps[1]["params"])[0] == onnx.TensorProto.FLOAT16
    assert program.guards == [(0, "fuse_scale", "all positive", "no"), (2, "fold_labels", "elements", "a b c")]


def test_debug_maps_name_every_value_and_step(weights):
    program = weights.programs[0]
    needed = names_needed(program.plan)
    needed += sum(names_needed(slot["expression"], True) for slot in program.slots if slot["expression"])
    first, second = (weights.debug_maps[model["debug_map"]] for model in weights.models)
    assert len(first) == len(second) == needed
    assert first[:10] == ["c", "data", "list", "hidden", "scale", "z", "t", "image", "blocks", "back"]
    assert (first[10], second[10]) == ("first", "other origin")
    assert first[11] == "choose" and first[-1] == "packed"


def test_packed_tensors(weights):
    assert all(record["offset"] % 64 == 0 and record["file"] == "0" * 32 for record in weights.packed)
    assert [record["dtype"] for record in weights.packed] == ["float", "float16", "float16", "string"]
    assert [record["users"] for record in weights.packed] == [[0, 1], [0], [1], [0, 1]]
    assert struct.unpack("<2f", weights.stored(weights.packed[0])) == (1.0, 2.0)
    assert struct.unpack("<2e", weights.stored(weights.packed[1])) == (2.0, 6.0)
    assert stored_strings(weights.stored(weights.packed[3]), 3) == ["a", "", "ccc"]
    # Zeros between entries.
    offset, length = weights.sections["packed"]
    rest = bytearray(weights.data[offset : offset + length])
    for record in weights.packed:
        begin = record["offset"] - offset
        rest[begin : begin + record["bytes"]] = bytes(record["bytes"])
    assert not any(rest)


def test_sources(weights):
    assert [source["place"] for source in weights.sources] == [PACKED, EMBEDDED, IN_FILE, ABSENT]
    assert weights.sources[0]["packed"] == 0
    assert weights.sources[0]["content"] == weights.packed[0]["content"]
    assert weights.sources[3]["content"] == weights.packed[3]["content"]
    assert struct.unpack("<2f", weights.stored(weights.sources[1])) == (1.0, 3.0)
    assert (weights.sources[2]["file"], weights.sources[2]["file_offset"]) == ("weights.bin", 12)


def test_context_model_is_valid(context):
    onnx.checker.check_model(context, full_check=True)
    assert [value.name for value in context.graph.input] == ["c", "data", "list"]
    assert [value.name for value in context.graph.output] == ["z", "data"]
    assert context.graph.input[1].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert {entry.key: entry.value for entry in context.metadata_props} == {"license": "none"}
    assert context.graph.doc_string == "documentation"
    assert {entry.domain: entry.version for entry in context.opset_import} == {"": 21, "com.microsoft": 1}


def test_context_model_leads_to_its_weights(weights, context):
    (node,) = context.graph.node
    assert (node.domain, node.op_type) == ("com.microsoft", "EPContext")
    assert list(node.input) == ["c", "data", "list"] and list(node.output) == ["z"]
    attributes = {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
    assert attributes == {
        "source": b"tenon", "main_context": 1, "embed_mode": 0, "ep_cache_context": b"sample.bin",
        "partition_name": weights.models[0]["plan_key"].encode(), "ep_sdk_version": b"1.2.3",
        "hardware_architecture": b"little-endian", "onnx_model_filename": b"prefill.onnx",
        "notes": weights.content_id.encode(),
    }  # fmt: skip

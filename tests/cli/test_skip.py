"""When `tenon optimize` may say that a model is done: whatever another tool did to a stamped model, a skip is right
only if a full run would write the same."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from .conftest import DONE

STAMP = "tenon.normal_form"


def stamped_model(tmp_path):
    """A model in normal form with everything that a stamp covers: a body, structural constants, declarations, weights
    inside and outside of the file, two of which lie in one region."""
    def branch(op):
        return helper.make_graph([helper.make_node(op, ["r"], [op + "_out"], op)], op,
                                 [], [helper.make_tensor_value_info(op + "_out", TensorProto.FLOAT, None)])

    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"], "multiply"),
        helper.make_node("Add", ["m", "b"], ["s"], "add"),
        helper.make_node("Add", ["s", "b2"], ["s2"], "add again"),
        helper.make_node("LeakyRelu", ["s2"], ["a"], "bend", alpha=0.25),
        helper.make_node("Reshape", ["a", "target"], ["r"], "reshape"),
        helper.make_node("If", ["c"], ["f"], "choose", then_branch=branch("Exp"), else_branch=branch("Neg")),
        helper.make_node("Add", ["f", "sparse"], ["y"], "add sparse"),
    ]
    w = np.arange(8, dtype=np.float32).reshape(4, 2)
    sparse = helper.make_sparse_tensor(numpy_helper.from_array(np.array([3.0], np.float32), "sparse"),
                                       numpy_helper.from_array(np.array([1], np.int64), "sparse_indices"), [6])
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 4]),
         helper.make_tensor_value_info("c", TensorProto.BOOL, [])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(np.array([1, 2], np.float32), "b"),
         numpy_helper.from_array(np.array([1, 2], np.float32), "b2"),
         numpy_helper.from_array(np.array([-1, 6], np.int64), "target")])
    graph.sparse_initializer.append(sparse)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = bytearray(64)
    data[:8] = data[32:40] = np.array([1, 2], np.float32).tobytes()
    (tmp_path / "weights.bin").write_bytes(data)
    (tmp_path / "others.bin").write_bytes(data)
    for name in ["b", "b2"]:
        put_outside(tensor_of(model, name), "weights.bin", 0)
    (tmp_path / "raw.onnx").write_bytes(model.SerializeToString())


def put_outside(tensor, location, offset):
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    del tensor.external_data[:]
    for key, value in [("location", location), ("offset", str(offset)), ("length", "8")]:
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value


def tensor_of(model, name):
    return next(t for t in model.graph.initializer if t.name == name)


def node_of(model, name):
    return next(n for n in model.graph.node if n.name == name)


def body_of(model):
    return next(a.g for a in node_of(model, "choose").attribute if a.name == "then_branch")


def stamp_of(model):
    return next(p for p in model.metadata_props if p.key == STAMP)


def insert_identity(model):
    model.graph.node.insert(1, helper.make_node("Identity", ["m"], ["m_again"], "same"))
    node_of(model, "add").input[0] = "m_again"


def identity_in_body(model):
    body = body_of(model)
    body.node[0].input[0] = "r_again"
    body.node.insert(0, helper.make_node("Identity", ["r"], ["r_again"], "same"))


def rename_value(model):
    node_of(model, "multiply").output[0] = "product"
    node_of(model, "add").input[0] = "product"
    for info in model.graph.value_info:
        if info.name == "m":
            info.name = "product"


def keep_alias_apart(model):
    put_outside(tensor_of(model, "b2"), "weights.bin", 32)


def call_function(model):
    model.functions.append(helper.make_function("local", "Twice", ["v"], ["w"], [helper.make_node("Add", ["v", "v"], ["w"])],
                                                [helper.make_opsetid("", 17)]))
    model.opset_import.append(helper.make_opsetid("local", 1))
    model.graph.node.insert(1, helper.make_node("Twice", ["m"], ["m_twice"], "twice", domain="local"))
    node_of(model, "add").input[0] = "m_twice"


def unused_function(model):
    call_function(model)
    del model.graph.node[1]
    node_of(model, "add").input[0] = "m"


def edit_tensor(name, values):
    return lambda model: tensor_of(model, name).CopyFrom(numpy_helper.from_array(values, name))


def set_attribute(model):
    node_of(model, "bend").attribute[0].f = 0.5


def set_opset(model):
    model.opset_import[0].version = 18


def drop_declarations(model):
    del model.graph.value_info[:]


def sparse_moves(model):
    model.graph.sparse_initializer[0].indices.CopyFrom(numpy_helper.from_array(np.array([2], np.int64), "sparse_indices"))


def note(model):
    entry = model.metadata_props.add()
    entry.key, entry.value = "author", "somebody"


def drop_stamp(model):
    del model.metadata_props[:]


def age_stamp(model):
    stamp = stamp_of(model)
    stamp.value = "0;" + stamp.value.split(";", 1)[1]


BY_STAMP, BY_LOOKING, CHANGED = ("already normalized", "stamp"), ("already normalized", "no pass changes it"), ("optimized", None)

# What another tool did to the stamped model, and what must come of it.
TABLE = {
    "nothing": (lambda model: None, BY_STAMP),
    "other values of a weight": (edit_tensor("w", np.ones((4, 2), np.float32) * 7), None),
    "metadata": (note, BY_STAMP),
    "a node that does nothing": (insert_identity, CHANGED),
    "a node that does nothing, in a body": (identity_in_body, CHANGED),
    "an attribute": (set_attribute, BY_LOOKING),
    "another opset": (set_opset, BY_LOOKING),
    "another shape of a weight": (edit_tensor("w", np.ones((4, 1), np.float32)), None),
    "another structural constant": (edit_tensor("target", np.array([1, -1, 6], np.int64)), None),
    "another data file": (lambda model: put_outside(tensor_of(model, "b"), "others.bin", 0), BY_LOOKING),
    "another offset": (lambda model: put_outside(tensor_of(model, "b"), "weights.bin", 32), BY_LOOKING),
    "weights that lay in one place lie in two": (keep_alias_apart, BY_LOOKING),
    "no declarations": (drop_declarations, CHANGED),
    "another name of a value": (rename_value, BY_LOOKING),
    "a sparse weight with other indices": (sparse_moves, None),
    "a call of a function": (call_function, CHANGED),
    "a function that nothing calls": (unused_function, CHANGED),
    "no stamp": (drop_stamp, BY_LOOKING),
    "a stamp of other passes": (age_stamp, BY_LOOKING),
}


def without_stamp(path):
    model = onnx.load(path, load_external_data=False)
    kept = [p for p in model.metadata_props if p.key != STAMP]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    return model.SerializeToString(deterministic=True)


@pytest.mark.parametrize("edit", TABLE)
def test_a_skip_is_what_a_full_run_would_do(tenon, tmp_path, edit):
    stamped_model(tmp_path)
    assert tenon("optimize", "-m", "raw.onnx", "-o", "normal.onnx").code == DONE
    model = onnx.load(tmp_path / "normal.onnx", load_external_data=False)
    assert stamp_of(model).value
    apply, expected = TABLE[edit]
    apply(model)
    (tmp_path / "edited.onnx").write_bytes(model.SerializeToString())

    result = tenon("optimize", "-m", "edited.onnx", "-o", "out.onnx", "--format", "json")
    assert result.code == DONE, result.err
    report = json.loads(result.out)
    outcome = (report["status"], report.get("evidence"))
    assert tenon("optimize", "-m", "edited.onnx", "-o", "forced.onnx", "--force").code == DONE
    assert without_stamp(tmp_path / "out.onnx") == without_stamp(tmp_path / "forced.onnx")
    if outcome[0] == "already normalized":
        assert (tmp_path / "out.onnx").read_bytes() == (tmp_path / "edited.onnx").read_bytes()
    if expected:
        assert outcome == expected


def test_a_stamp_of_another_model_counts_for_nothing(tenon, tmp_path):
    stamped_model(tmp_path)
    tenon("optimize", "-m", "raw.onnx", "-o", "normal.onnx")
    stamp = stamp_of(onnx.load(tmp_path / "normal.onnx", load_external_data=False))
    other = onnx.load(tmp_path / "raw.onnx", load_external_data=False)
    insert_identity(other)
    other.metadata_props.append(stamp)
    (tmp_path / "other.onnx").write_bytes(other.SerializeToString())
    result = tenon("optimize", "-m", "other.onnx", "-o", "out.onnx", "--format", "json")
    assert json.loads(result.out)["status"] == "optimized"
    assert "Identity" not in [n.op_type for n in onnx.load(tmp_path / "out.onnx", load_external_data=False).graph.node]


def test_fewer_capabilities_skip_and_more_do_not(tenon, tmp_path):
    stamped_model(tmp_path)
    tenon("optimize", "-m", "raw.onnx", "-o", "normal.onnx", "--disable", "inline-functions")
    fewer = tenon("optimize", "-m", "normal.onnx", "-o", "a.onnx", "--format", "json",
                  "--disable", "inline-functions", "--disable", "merge-equal-nodes")
    more = tenon("optimize", "-m", "normal.onnx", "-o", "b.onnx", "--format", "json")
    assert json.loads(fewer.out)["evidence"] == "stamp"
    assert json.loads(more.out)["evidence"] == "no pass changes it"

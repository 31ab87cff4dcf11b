"""Nodes whose outputs nobody names, all of them or some."""

import itertools

import numpy as np
import onnx
import pytest
import tenon
from bad_input.refusals import floats, ints, model_of, run
from conformance.cases import load_suite
from onnx import TensorProto, helper

PROVIDERS = ("reference", "cpu")


def one_case_per_form():
    """One case of the node suite for every op and set of named outputs."""
    forms = {}
    for case in load_suite("node"):
        model = onnx.load_from_string(case.model)
        if len(model.graph.node) != 1 or model.functions:
            continue
        node = model.graph.node[0]
        form = (node.domain, node.op_type, tuple(bool(name) for name in node.output))
        forms.setdefault(form, (case, model))
    return {f"{op_type}-{len(named)}": pair for (_, op_type, named), pair in sorted(forms.items())}


def without(model, dropped):
    """The model without these outputs of its node; an input leaves it too, so that there is something to run."""
    changed = onnx.ModelProto.FromString(model.SerializeToString())
    node = changed.graph.node[0]
    kept = [value for value in changed.graph.output if value.name not in dropped]
    node.output[:] = ["" if name in dropped else name for name in node.output]
    while node.output and not node.output[-1]:
        node.output.pop()
    del changed.graph.output[:]
    changed.graph.output.extend(kept)
    changed.graph.output.append(helper.make_tensor_value_info("marker_out", TensorProto.INT64, [1]))
    changed.graph.initializer.append(onnx.numpy_helper.from_array(ints(7), "marker"))
    changed.graph.node.append(helper.make_node("Identity", ["marker"], ["marker_out"]))
    return changed


def same(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) or a is None:
        return a == b
    return a.dtype == b.dtype and a.tobytes() == b.tobytes() if a.dtype != object else np.array_equal(a, b)


def same_attention(a, b):
    """Whether scores are wanted decides which kernel computes them: by blocks of keys, or the reference's."""
    if a.dtype != np.float32:
        return same(a, b)
    return a.shape == b.shape and np.allclose(a, b, rtol=0, atol=64 * np.finfo(np.float32).eps * np.abs(b).max())


def outcome(model, feeds, provider):
    """The results by name, or nothing where the op cannot run at all."""
    try:
        results = run(model, feeds, provider=provider, memory_limit=1 << 30)
    except tenon.Error as error:
        assert error.code != "internal", str(error)
        return None
    return dict(zip([value.name for value in model.graph.output], results, strict=True))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_op_runs_without_any_set_of_its_outputs(provider):
    """What is dropped changes nothing about the rest."""
    dropped_once = 0
    for name, (case, model) in one_case_per_form().items():
        feeds = case.data_sets[0][0]
        whole = outcome(model, feeds, provider)
        if whole is None:
            continue
        outputs = [output for output in model.graph.node[0].output if output]
        alike = same_attention if provider == "cpu" and model.graph.node[0].op_type == "Attention" else same
        for count in range(1, len(outputs) + 1):
            for dropped in itertools.combinations(outputs, count):
                part = outcome(without(model, dropped), feeds, provider)
                assert part is not None, f"{name} without {dropped}"
                assert part.pop("marker_out").tolist() == [7]
                assert part.keys() == whole.keys() - set(dropped), f"{name} without {dropped}"
                for output, value in part.items():
                    assert alike(value, whole[output]), f"{output} of {name} without {dropped}"
                dropped_once += 1
    assert dropped_once > 150


def test_a_node_without_outputs_is_left_out_with_a_warning():
    nodes = [
        helper.make_node("LSTM", ["x", "x", "x"], [], name="idle"),
        helper.make_node("NoSuchOp", ["x"], ["", ""], name="unknown"),
        helper.make_node("Neg", ["x"], ["y"]),
    ]
    model = model_of(nodes, [], ["y"], {"x": floats(3)})
    assert run(model)[0].tolist() == [0, -1, -2]
    warnings = tenon.Model.load(model.SerializeToString()).warnings
    assert warnings == ["2 nodes have no outputs and are ignored; the first is node 'idle' (LSTM)"]
    del model.graph.node[1]
    assert tenon.Model.load(model.SerializeToString()).warnings == ["node 'idle' (LSTM) has no outputs and is ignored"]


@pytest.mark.parametrize("op_type", ["Loop", "Scan", "SequenceMap", "If"])
def test_nodes_with_bodies_and_without_outputs(op_type):
    body = helper.make_graph([helper.make_node("Identity", ["x"], ["b"])], "body", [], [helper.make_empty_tensor_value_info("b")])
    attributes = {"then_branch": body, "else_branch": body} if op_type == "If" else {"body": body}
    idle = helper.make_node(op_type, ["x"], [], name="idle", **attributes)
    neg = helper.make_node("Neg", ["x"], ["y"])
    assert run(model_of([idle, neg], [], ["y"], {"x": floats(2)}))[0].tolist() == [0, -1]

"""Models that cannot be used: every one raises what a program that was written for onnxruntime catches."""

import onnx
import onnxruntime
import pytest
from onnx import helper
from python.models import FLOAT, model, node, state, tensor

import tenon


def of(*nodes, domain=None, opset=21):
    made = onnx.load_from_string(model(nodes, [tensor("x", FLOAT, ["n"])], [tensor("y")], opset=opset))
    if domain:
        made.opset_import.append(helper.make_opsetid(domain, 1))
    return made.SerializeToString()


def branching(then):
    condition = node("Constant", "", "c", value=helper.make_tensor("c", onnx.TensorProto.BOOL, [], [1]))
    branches = [helper.make_graph([node(op, "x", name)], name, [], [tensor(name)])
                for op, name in ((then, "t"), ("Relu", "e"))]
    return of(condition, node("If", "c", "y", then_branch=branches[0], else_branch=branches[1]))


UNKNOWN = {
    "op": of(node("No", "x", "y")),
    "op of a sub-graph": branching("No"),
    "op of a domain that nobody knows": of(node("No", "x", "y", domain="mine"), domain="mine"),
    "op of a domain that is not imported": of(node("No", "x", "y", domain="mine")),
    "op of com.microsoft": of(node("No", "x", "y", domain="com.microsoft"), domain="com.microsoft"),
    "attribute": of(node("Relu", "x", "y", no=1)),
    "version": of(node("Relu", "x", "y"), opset=1000),
}
BROKEN = {
    "no bytes": b"",
    "no model": b"text",
    "truncated": of(node("Relu", "x", "y"))[:-20],
    "cycle": of(node("Relu", "z", "y"), node("Relu", "y", "z")),
    "undefined input": of(node("Relu", "no", "y")),
    "undefined output": of(node("Relu", "x", "z")),
    "an output twice": of(node("Relu", "x", "y"), node("Abs", "x", "y")),
    "a required attribute is missing": of(node("Cast", "x", "y")),
    "too many inputs": of(node("Relu", "x x", "y")),
    "types": of(node("Not", "x", "y")),
}


def class_in_onnxruntime(given):
    with pytest.raises(Exception) as caught:
        onnxruntime.InferenceSession(given)
    return type(caught.value).__name__


@pytest.mark.parametrize("way", ["bytes", "file"])
@pytest.mark.parametrize("name", [*UNKNOWN, *BROKEN])
def test_what_programs_catch(tmp_path, name, way):
    given = {**UNKNOWN, **BROKEN}[name]
    if way == "file":
        (tmp_path / "net.onnx").write_bytes(given)
        given = tmp_path / "net.onnx"
    with pytest.raises(getattr(state(tenon), class_in_onnxruntime(given))):
        tenon.InferenceSession(given)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_unknown_has_every_name_of_it(name):
    names = state(tenon)
    with pytest.raises(names.Fail) as caught:
        tenon.InferenceSession(UNKNOWN[name])
    assert isinstance(caught.value, names.InvalidGraph) and isinstance(caught.value, names.NotImplemented)
    assert caught.value.code == "unsupported"

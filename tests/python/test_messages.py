"""Messages speak of what a Python program can see: no names of the C interface."""

import re

import numpy as np
import onnx
import pytest
from python.models import FLOAT, add, identity, model, node, optional_type, passing, sequence_type, tensor, weighted

import tenon

X, Y = np.ones((1, 2), np.float32), np.ones(2, np.float32)
C_NAMES = re.compile(r"\btn_|\bTN_|\bNULL\b|nullptr|std::|tenon::|\bnb_|nanobind")


def run(data, feed):
    return lambda: tenon.InferenceSession(data).run(None, feed)


def with_options(*calls, data=None):
    def act():
        options = tenon.SessionOptions()
        for name, *arguments in calls:
            getattr(options, name)(*arguments)
        tenon.InferenceSession(data or add(), options)
    return act


def value(array=X):
    return tenon.OrtValue.ortvalue_from_numpy(array)


def bound(**outputs):
    session = tenon.InferenceSession(add())
    binding = session.io_binding()
    binding.bind_cpu_input("x", X)
    binding.bind_cpu_input("y", Y)
    for name, array in outputs.items():
        binding.bind_ortvalue_output(name, value(array))
    session.run_with_iobinding(binding)


CASES = {
    "garbage": lambda: tenon.InferenceSession(b"garbage"),
    "no bytes": lambda: tenon.InferenceSession(b""),
    "no file": lambda: tenon.InferenceSession("no/such.onnx"),
    "no path": lambda: tenon.InferenceSession(""),
    "no model": lambda: tenon.InferenceSession(None),
    "unknown op": lambda: tenon.InferenceSession(model([node("No", "x", "y")], [tensor("x")], [tensor("y")])),
    "unknown option of Model": lambda: tenon.Model.load(add(), no=1),
    "wrong option of Model": lambda: tenon.Model.load(add(), max_nodes="many"),
    "zero in a path": lambda: tenon.Model.load(add()).save("a\0b"),
    "unknown section": lambda: tenon.Model.load(add()).describe("no"),
    "unknown entry": with_options(("add_session_config_entry", "tenon.no", "1")),
    "wrong entry": with_options(("add_session_config_entry", "tenon.memory_limit", "much")),
    "wrong initializer": with_options(("add_initializer", "w", value(np.ones(3, np.float32))), data=weighted()),
    "initializer of no kind": with_options(("add_initializer", "w", 3)),
    "missing input": run(add(), {"x": X}),
    "unknown input": run(add(), {"x": X, "y": Y, "z": X}),
    "wrong rank": run(add(), {"x": Y, "y": Y}),
    "wrong type": run(add(), {"x": X.astype(np.int64), "y": Y}),
    "wrong extent": run(add(), {"x": np.ones((1, 3), np.float32), "y": Y}),
    "None": run(add(), {"x": None, "y": Y}),
    "an object": run(add(), {"x": object(), "y": Y}),
    "a complex number": run(add(), {"x": 1j, "y": Y}),
    "a structure": run(add(), {"x": np.zeros(2, [("a", "f4")]), "y": Y}),
    "no list": run(passing(sequence_type()), {"x": 3}),
    "a mixed list": run(passing(sequence_type()), {"x": [X, "text"]}),
    "a wrong optional": run(passing(optional_type()), {"x": "text"}),
    "no optional type": lambda: tenon.InferenceSession(passing(onnx.TypeProto(optional_type={}))),
    "unknown output": lambda: tenon.InferenceSession(add()).run(["no"], {"x": X, "y": Y}),
    "a bound buffer of another shape": lambda: bound(z=np.ones((3, 3), np.float32)),
    "a bound buffer of another type": lambda: bound(z=np.ones((1, 2), np.int64)),
    "an OrtValue of no array": lambda: tenon.OrtValue.ortvalue_from_numpy(object()),
    "an OrtValue of a date": lambda: value(np.array(["2020-01-01"], "datetime64[D]")),
    "update of another type": lambda: value().update_inplace(np.ones((1, 2), np.int32)),
    "negative shape": lambda: tenon.OrtValue.ortvalue_from_shape_and_type([-1], np.float32),
    "huge shape": lambda: tenon.OrtValue.ortvalue_from_shape_and_type([2**40, 2**40], np.float32),
    "unknown element type": lambda: tenon.OrtValue.ortvalue_from_shape_and_type([1], 99),
    "DLPack of nothing": lambda: tenon.OrtValue.from_dlpack(3),
    "DLPack of strings": lambda: value(np.array(["a"])).__dlpack__(),
    "DLPack of float8": lambda: run(identity(17), {"x": 1})() and None,
    "no weights": lambda: tenon.InferenceSession(weighted()).set_weights({}),
    "weights of another shape": lambda: tenon.InferenceSession(weighted()).set_weights({"w": np.ones(5, np.float32)}),
    "weights of no kind": lambda: tenon.InferenceSession(weighted()).set_weights({"w": object()}),
    "weights in no file": lambda: tenon.InferenceSession(weighted()).set_weights("no/such.safetensors"),
    "an artifact that is none": lambda: tenon.Artifact.load(add()),
    "no artifact": lambda: tenon.Artifact.load("no/such_ctx.onnx"),
    "a wrong provider": lambda: tenon.compile(add(), provider="no"),
    "wrong sources": lambda: tenon.compile(add(), sources="no"),
    "a wrong pin": lambda: tenon.compile(add(), pin="no"),
    "no jobs": lambda: tenon.compile(add(), jobs=0),
    "threads": lambda: tenon.compile(add(), threads=10**6),
    "an instruction set": lambda: tenon.compile(add(), cpu_isa="no"),
    "a terminated run": lambda: terminated(),
    "a memory limit": with_options(("add_session_config_entry", "tenon.memory_limit", "0")),
    "a seed": lambda: tenon.set_seed("text"),
    "not a session": lambda: tenon.set_weights([3], {}),
}


def terminated():
    options = tenon.RunOptions()
    options.terminate = True
    tenon.InferenceSession(add()).run(None, {"x": X, "y": Y}, options)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_messages_have_no_names_of_c(name):
    with pytest.raises(Exception) as caught:
        CASES[name]()
    message = str(caught.value)
    assert message and not C_NAMES.search(message), message
    assert not isinstance(caught.value, (AttributeError, SystemError, AssertionError)), repr(caught.value)


def test_the_documentation_has_no_names_of_c():
    import inspect

    texts = {name: inspect.getdoc(thing) or "" for name, thing in vars(tenon).items() if not name.startswith("_")}
    for name, thing in list(vars(tenon).items()):
        if inspect.isclass(thing) and thing.__module__.startswith("tenon"):
            texts |= {f"{name}.{key}": inspect.getdoc(member) or "" for key, member in vars(thing).items()
                      if not key.startswith("_")}
    assert len(texts) > 200
    assert {name: text for name, text in texts.items() if C_NAMES.search(text)} == {}

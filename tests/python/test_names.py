"""docs/python.md lists every name of the installed onnxruntime, and tenon has it."""

import pathlib
import re
import types

import onnxruntime
import pytest

import tenon

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
STATES = {"works", "no effect", "refused"}
CLASSES = ["InferenceSession", "SessionOptions", "RunOptions", "IOBinding", "OrtValue", "NodeArg", "ModelMetadata"]


def table(section):
    """{name: (state, notes)} of the table under a heading."""
    text = DOCUMENT.read_text(encoding="utf-8")
    body = re.search(rf"^## {section}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert body, f"docs/python.md has no section {section}"
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+?) \| ([^|]*?) *\|$", body[1], re.M)
    assert len({name for name, _, _ in rows}) == len(rows), "a name is listed twice"
    return {name: (state, notes) for name, state, notes in rows}


def public(thing):
    """Names that belong to onnxruntime, without modules of Python that it happens to import."""
    def foreign(value):
        return isinstance(value, types.ModuleType) and not value.__name__.startswith("onnxruntime")

    return {name for name in dir(thing) if not name.startswith("_") and not foreign(getattr(thing, name))}


def exceptions(module):
    return {name for name, value in vars(module).items() if isinstance(value, type) and issubclass(value, Exception)}


@pytest.mark.parametrize("section, theirs, ours", [
    ("Module", public(onnxruntime), tenon),
    *((name, public(getattr(onnxruntime, name)), getattr(tenon, name)) for name in CLASSES),
    ("Exceptions", exceptions(onnxruntime.capi.onnxruntime_pybind11_state), tenon.capi.onnxruntime_pybind11_state),
], ids=["Module", *CLASSES, "Exceptions"])
def test_every_name_has_a_row_and_exists(section, theirs, ours):
    rows = table(section)
    assert not theirs - set(rows), "names without a row"
    # Instances too: some attributes of sessions exist only there.
    missing = [name for name in rows if not hasattr(ours, name)]
    assert not missing, "rows without a name"
    assert {state for state, _ in rows.values()} <= STATES
    assert all(notes for state, notes in rows.values() if state != "works"), "a state needs its reason"


@pytest.mark.parametrize("name", [n for n, (state, _) in table("Module").items() if state == "refused"])
def test_refused_names_of_the_module_raise(name):
    with pytest.raises(tenon.capi.onnxruntime_pybind11_state.NotImplemented, match="."):
        getattr(tenon, name)("a", "b")


@pytest.mark.parametrize("name", ["onnxruntime_pybind11_state", "onnxruntime_inference_collection", "_pybind_state"])
def test_modules_of_classes_have_the_same_path(name):
    import importlib

    ours = importlib.import_module(f"tenon.capi.{name}")
    theirs = importlib.import_module(f"onnxruntime.capi.{name}")
    for shared in {"InferenceSession", "OrtValue", "SessionOptions", "InvalidArgument"} & set(dir(theirs)):
        assert hasattr(ours, shared)


def test_all_exports_exist():
    assert all(hasattr(tenon, name) for name in tenon.__all__)

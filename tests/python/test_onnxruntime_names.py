"""Every public name of the installed onnxruntime exists when Tenon stands in for it."""

import functools
import importlib
import types

import onnxruntime
import pytest
from python.programs import told_by
from python.test_names import STATES, table

MODULES = ["", ".capi", ".capi._pybind_state", ".capi.onnxruntime_pybind11_state",
           ".capi.onnxruntime_inference_collection", ".capi.onnxruntime_validation", ".capi.build_and_package_info",
           ".capi._ld_preload", ".backend", ".backend.backend", ".backend.backend_rep", ".datasets", ".quantization"]


def is_own(value):
    """Not something of Python or another package that the module happens to import."""
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return name is None or name.split(".")[0] == "onnxruntime"


@functools.cache
def names_here():
    return told_by(f"""
import importlib, json
print(json.dumps({{name: dir(importlib.import_module("onnxruntime" + name)) for name in {MODULES}}}))""")


@pytest.mark.parametrize("name", MODULES)
def test_modules_have_the_same_names(name):
    module = importlib.import_module(f"onnxruntime{name}")
    theirs = {key for key in dir(module) if not key.startswith("_") and is_own(getattr(module, key))}
    assert theirs - set(names_here()[name]) == set()
    assert not name.endswith("pybind11_state") or len(theirs) > 80


def test_nothing_of_tenon_alone_is_in_the_module():
    ours = {key for key in names_here()[""] if not key.startswith("_")}
    borrowed = {name.split(".")[1] for name in MODULES if name} | {"transformers", "tools"}
    assert ours - set(dir(onnxruntime)) - borrowed == set()


def test_classes_have_the_same_methods():
    """Also those of classes that only the native module has."""
    for name in ("OrtValueVector", "SparseTensor", "OrtDevice", "OrtMemoryInfo", "OrtArenaCfg", "OrtEpDevice"):
        module = onnxruntime.capi.onnxruntime_pybind11_state if name == "OrtValueVector" else onnxruntime
        theirs = {key for key in dir(getattr(module, name)) if not key.startswith("_")}
        ours = told_by(f"""
import json, onnxruntime.capi.onnxruntime_pybind11_state as state
print(json.dumps(dir(state.{name})))""")
        assert theirs - set(ours) == set(), name


def test_the_rest_of_the_native_module_is_documented():
    """Names that are neither in the module, nor exceptions, have a table of their own."""
    import tenon

    state = onnxruntime.capi.onnxruntime_pybind11_state
    theirs = {key for key in dir(state) if not key.startswith("_")} - set(table("Module")) - set(table("Exceptions"))
    rows = table("Other names of the native module")
    assert set(rows) == theirs
    assert {row[0] for row in rows.values()} <= STATES
    assert all(notes for name, notes in rows.values() if name != "works")
    ours = tenon.capi.onnxruntime_pybind11_state
    for name, (kind, _) in rows.items():
        if kind == "refused" and callable(getattr(ours, name)):
            with pytest.raises(ours.NotImplemented, match="."):
                getattr(ours, name)("a", "b")

"""Models that are read but not compiled."""

import json
import os

from . import _errors, _tenon


def _text(value):
    return str(int(value)) if isinstance(value, bool) else str(value)


def load_native(path_or_bytes, settings, files=None, weights=None):
    """The native model of a path or of bytes; a file that is missing raises NoSuchFile, a folder InvalidModel."""
    if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
        if not len(path_or_bytes):
            raise _errors.InvalidArgument("the bytes are empty; pass the bytes of an ONNX model")
        return _tenon.Model.load_memory(bytes(path_or_bytes), settings, files or {}, weights or {})
    if not isinstance(path_or_bytes, (str, os.PathLike)):
        raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
    path = os.fspath(path_or_bytes)
    if "\0" in path:
        raise _errors.NoSuchFile(f"a file name must not contain a zero character: {path!r}")
    if os.path.isdir(path):
        raise _errors.InvalidModel(f"'{path}' is a folder, not an ONNX file")
    try:
        return _tenon.Model.load_file(path, settings, files or {}, weights or {})
    except _errors.NotFound as error:
        if os.path.exists(path_or_bytes):  # then it is about something inside
            raise
        raise _errors.NoSuchFile(str(error)) from None


def capability_settings(capabilities):
    for name, on in capabilities.items():
        # A keyword that no parameter takes is one of these, so a slip of the pen may come here as well.
        if on not in (True, False):
            raise TypeError(f"{name}={on!r} is no parameter, and as a capability it must be True or False")
    return {f"capability:{name.replace('_', '-')}": _text(on) for name, on in capabilities.items()}


def optimize_file(input, output, *, force=False, overwrite=False, check=False, drift=False, seed=0, **capabilities):
    """Brings a model file into normal form, as `tenon optimize` does, and returns the report as a dict.
    check=True writes nothing, and reports the "effects" of each capability alone. drift=True measures what changes that
    are not exact do to the outputs, on inputs drawn with the seed. Capabilities are switched as in `Model.optimized`."""
    switches = {"force": force, "overwrite": overwrite, "check": check, "drift": drift}
    settings = {name: _text(on) for name, on in switches.items()} | {"seed": str(seed)}
    report = _tenon.optimize_file(os.fspath(input), os.fspath(output), settings | capability_settings(capabilities))
    return json.loads(report)


def capabilities():
    """What can be switched on and off when a model is optimized, as a list of dicts: "name", "group", "default",
    "exact", "description", and the capabilities that each one "needs" and "excludes"."""
    return json.loads(_tenon.capabilities_json())


class Model:
    """An ONNX model that was read but not compiled. Created by `Model.load`."""

    def __init__(self, native):
        self._native = native

    @classmethod
    def load(cls, path_or_bytes, **options):
        """Reads a model. Options: map, freeze_inputs, external_folder, max_nesting, max_nodes, and files={name: bytes}
        for external data in memory; see docs/python.md."""
        files = options.pop("files", {})
        return cls(load_native(path_or_bytes, {key: _text(value) for key, value in options.items()}, files))

    def save(self, path):
        """Writes the model as ONNX without losing anything of the original file."""
        self._native.save(os.fspath(path))

    def to_bytes(self):
        return self._native.to_bytes()

    def respelled(self):
        """The model as bytes with every node written again in the op versions that it imports, and a dict: how many
        nodes were "respelled", and the ops that were "kept" unchanged because these versions have no other form."""
        model, report = self._native.respelled()
        return model, json.loads(report)

    def optimized(self, **capabilities):
        """The model in normal form as bytes, and a dict: its "status" ("optimized" or "already normalized"), the number of
        "nodes" before and after, and every one of the "changes". Capabilities are switched by name, with underscores:
        model.optimized(remove_no_ops=False); tenon.capabilities() lists them."""
        model, report = self._native.optimized(capability_settings(capabilities))
        return model, json.loads(report)

    def describe(self, sections="summary"):
        """Describes the model as a dict with one entry per section: summary, graph, ops, weights, plan."""
        if not isinstance(sections, str):
            sections = ",".join(sections)
        return json.loads(self._native.describe(sections))

    @property
    def warnings(self):
        """Warnings about the model, as a list of messages."""
        return self._native.warnings

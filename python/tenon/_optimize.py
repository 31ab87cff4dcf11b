"""Models in normal form, and what will run their nodes."""

import json
import os

from . import _tenon
from ._model import capability_settings, load_native


class Analysis(dict):
    """What will run each node of a model: `target`, `consumer`, `capabilities`, `error`, `summary`, `suggestions` and
    `nodes`, as in the JSON report of `tenon analyze`."""

    def __init__(self, model, content):
        super().__init__(content)
        self._model = model

    @property
    def fallbacks(self):
        """The names of the nodes that no fast kernel runs."""
        return [node["name"] for node in self["nodes"] if node["provider"] in ("reference", "none")]

    def html(self):
        """The analysis as one self-contained HTML page with a drawing of the graph."""
        return _tenon.analysis_html(json.dumps([{"model": self._model, "analysis": self}]))


def optimize(model, output=None, *, overwrite=False, force=False, **capabilities):
    """Brings a model into normal form. `model` is a path, the bytes of an ONNX file, or a ModelProto. Without `output`,
    returns the optimized model, as a ModelProto if one was given, else as bytes. With `output`, a path, writes it there
    and returns a report as a dict: "status" ("optimized" or "already normalized"), "nodes" before and after, "changes",
    and for a path what was "written".

    overwrite: replace an existing output. force: run the passes even if the model carries the stamp of a normal form.
    Capabilities are switched by name, with underscores: optimize(model, remove_no_ops=False)."""
    options = capability_settings(capabilities)
    if output is not None and isinstance(model, (str, os.PathLike)):
        options |= {"overwrite": str(int(overwrite)), "force": str(int(force))}
        return json.loads(_tenon.optimize_file(os.fspath(model), os.fspath(output), options))
    optimized, report = load_native(_as_file(model), {}).optimized(options)
    if output is None:
        return type(model).FromString(optimized) if _is_proto(model) else optimized
    if not overwrite and os.path.lexists(output):
        raise FileExistsError(f"'{os.fspath(output)}' exists; pass overwrite=True to replace it")
    # Written under another name first, and never half.
    load_native(optimized, {}).save(os.fspath(output))
    return json.loads(report)


def analyze(model, *, provider="cpu", consumer="tenon", optimize=True, **capabilities):
    """Says what will run each node of a model, which nodes fall back to the reference and why, and which capabilities
    would help, as an `Analysis`. `model` is a path, the bytes of an ONNX file, or a ModelProto.

    provider: "cpu" or "reference". consumer: who will run the model, "tenon" or "onnxruntime". optimize: analyze the
    normal form; False: the model as it is. Capabilities are switched by name, with underscores."""
    options = capability_settings(capabilities) | {"provider": provider, "consumer": consumer, "optimize": str(int(optimize))}
    name = os.fspath(model) if isinstance(model, (str, os.PathLike)) else "model"
    return Analysis(name, json.loads(load_native(_as_file(model), {}).analyze(options)))


def _is_proto(model):
    return hasattr(model, "SerializeToString")


def _as_file(model):
    return model.SerializeToString() if _is_proto(model) else model

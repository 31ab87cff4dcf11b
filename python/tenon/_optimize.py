"""Models in normal form, and what will run their nodes."""

import json
import os

from . import _tenon
from ._model import capability_settings, load_native

# Beyond it, the weights of a ModelProto are read apart: its bytes may not be more than 2 GiB.
LARGE_BYTES = 2**31 - 2**26


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


def optimize(model, output=None, *, external_folder=None, overwrite=False, force=False, file_bytes=None, **capabilities):
    """Brings a model into normal form. `model` is a path, the bytes of an ONNX file, or a ModelProto. Without `output`,
    returns the optimized model, as a ModelProto if one was given, else as bytes; it refers to the data files that the
    model has. With `output`, a path, writes it there and returns a report as a dict: "status" ("optimized" or "already
    normalized"), "nodes" before and after, "changes", and what was "written".

    external_folder: where the data files of bytes or of a ModelProto are. overwrite: replace an existing output. force:
    run the passes even if the model in a file carries the stamp of a normal form. file_bytes: how large the output may get
    (default: 2 GiB, the limit of ONNX files) before its weights go to a file beside it with the ending ".data".
    Capabilities are switched by name, with underscores: optimize(model, remove_no_ops=False)."""
    options = capability_settings(capabilities)
    if output is None:
        given, weights = _parts(model) if _is_proto(model) else (model, {})
        optimized, _ = _loaded(given, external_folder, weights).optimized(options)
        return _put_together(type(model).FromString(optimized), weights) if _is_proto(model) else optimized
    options |= {"overwrite": str(int(overwrite))}
    if file_bytes is not None:
        options["file_bytes"] = str(int(file_bytes))
    if not overwrite and os.path.lexists(output):
        raise FileExistsError(f"'{os.fspath(output)}' exists; pass overwrite=True to replace it")
    if isinstance(model, (str, os.PathLike)) and external_folder is None:
        return json.loads(_tenon.optimize_file(os.fspath(model), os.fspath(output), options | {"force": str(int(force))}))
    return json.loads(_loaded(model, external_folder).save_optimized(os.fspath(output), options))


def analyze(model, *, external_folder=None, provider="cpu", consumer="tenon", optimize=True, **capabilities):
    """Says what will run each node of a model, which nodes fall back to the reference and why, and which capabilities
    would help, as an `Analysis`. `model` is a path, the bytes of an ONNX file, or a ModelProto.

    external_folder: as for `optimize`. provider: "cpu" or "reference". consumer: who will run the model, "tenon" or
    "onnxruntime". optimize: analyze the normal form; False: the model as it is. Capabilities are switched by name, with
    underscores."""
    options = capability_settings(capabilities) | {"provider": provider, "consumer": consumer, "optimize": str(int(optimize))}
    name = os.fspath(model) if isinstance(model, (str, os.PathLike)) else "model"
    return Analysis(name, json.loads(_loaded(model, external_folder).analyze(options)))


def _is_proto(model):
    return hasattr(model, "SerializeToString")


def _loaded(model, external_folder, files=None):
    settings = {}
    if external_folder is not None:
        if isinstance(model, (str, os.PathLike)):
            raise ValueError("external_folder is for models in memory; the data files of a path are in its folder")
        settings["external_folder"] = os.fspath(external_folder) or "."
    if _is_proto(model):
        model, files = _parts(model)
    return load_native(model, settings, files)


def _parts(model):
    """The bytes of a ModelProto, and its weights as files in memory where they are too many for one protobuf."""
    if sum(len(tensor.raw_data) for tensor in model.graph.initializer) < LARGE_BYTES:
        return model.SerializeToString(), {}
    weights = {}
    structure = type(model)()
    _copy_fields(model, structure, "graph")
    _copy_fields(model.graph, structure.graph, "initializer")
    for tensor in model.graph.initializer:
        part = structure.graph.initializer.add()
        _copy_fields(tensor, part, "raw_data")
        if tensor.HasField("raw_data"):
            location = f"weight {tensor.name}"
            weights[location] = tensor.raw_data
            part.data_location = part.EXTERNAL
            part.external_data.add(key="location", value=location)
    return structure.SerializeToString(), weights


def _put_together(structure, weights):
    """The reverse of _parts."""
    for tensor in structure.graph.initializer:
        location = next((entry.value for entry in tensor.external_data if entry.key == "location"), None)
        if location in weights:
            tensor.raw_data = weights[location]
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    return structure


def _copy_fields(message, into, left_out):
    for field, value in message.ListFields():
        if field.name == left_out:
            continue
        if isinstance(value, (str, bytes, int, float)):
            setattr(into, field.name, value)
        else:
            getattr(into, field.name).MergeFrom(value)

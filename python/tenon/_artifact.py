"""Compiled models and their weights."""

import json
import os

from . import _tenon
from ._arrays import value_from_array
from ._errors import InvalidArgument
from ._model import Model, load_native


def _settings(**options):
    """Options as the native part takes them: text by key; names in lists become keys of their own."""
    settings = {}
    for key, value in options.items():
        if isinstance(value, (list, tuple, set)):
            settings.update({f"{key}:{os.fspath(name)}": "1" for name in value})
        elif value is not None:
            settings[key] = str(int(value)) if isinstance(value, bool) else str(value)
    return settings


def _source(weights):
    """The native source of a path, or of arrays by name."""
    if isinstance(weights, (str, os.PathLike)):
        return _tenon.Source.open(os.fspath(weights))
    if not hasattr(weights, "keys"):
        raise TypeError(f"weights must be a path or a dict of arrays by name, not {type(weights).__name__}")
    source = _tenon.Source()
    for name in weights.keys():
        value = weights[name]
        native = getattr(value, "_native", None)
        source.add(name, native if isinstance(native, _tenon.Value) else value_from_array(value))
    return source


class Weights:
    """The weights of a session or of a compiled model, as they were when this was made. Cheap to hold."""

    def __init__(self, native):
        self._native = native


class Artifact:
    """Compiled models with their weights. Made by `tenon.compile` and `Artifact.load`; never changes."""

    def __init__(self, native):
        self._native = native

    @classmethod
    def load(cls, *paths, map=True, verify_weights=False, source_dirs=()):
        """Opens context files (X_ctx.onnx) that share one weights file. No weight is read before it is used."""
        settings = _settings(map=map, verify_weights=verify_weights, source_dir=list(source_dirs))
        return cls(_tenon.Artifact.load([os.fspath(path) for path in paths], settings))

    @property
    def models(self):
        """The names of the models."""
        return self._native.models()

    def describe(self, sections="models"):
        """A dict with one entry per section: models, packed, sources, weight_program, plan."""
        if not isinstance(sections, str):
            sections = ",".join(sections)
        return json.loads(self._native.describe(sections))

    def verify(self):
        """Checks every byte and, where the sources are found, that the packed weights come from them."""
        return json.loads(self._native.verify())

    def session(self, model=None, sess_options=None):
        """An InferenceSession of one of the models, by name or position."""
        from ._session import InferenceSession

        return InferenceSession._of_artifact(self, self._position(model), sess_options)

    def weights(self, model=None):
        """The weights of one of the models, for InferenceSession.use_weights."""
        return Weights(self._native.weights(self._position(model)))

    def bake(self, weights, *, partial=False, strict=False, only=()):
        """The same models with other weights, and one report per model. Weights: a path (ONNX model, .safetensors, .npz
        or a folder of external data) or a dict of arrays by name."""
        settings = _settings(partial=partial, strict=strict, only=list(only))
        baked, report = self._native.bake(_source(weights), settings)
        return Artifact(baked), json.loads(report)

    def strip(self):
        """The same models without the weights that can be set."""
        return Artifact(self._native.strip())

    def export(self, path):
        """Writes the source weights as .safetensors."""
        self._native.export_sources(os.fspath(path))

    def save(self, folder, names=None, *, embed=False, overwrite=False, weights_name=None, only_changes=False,
             debug_map=True):
        """Writes `<model>_ctx.onnx` (or the given names) and one weights file into a folder, all or nothing. Returns
        the paths of the context files."""
        names = [f"{model}_ctx.onnx" for model in self.models] if names is None else list(names)
        settings = _settings(embed=embed, overwrite=overwrite, weights_name=weights_name, only_changes=only_changes,
                             debug_map=debug_map)
        self._native.save(os.fspath(folder), names, settings)
        return [os.path.join(folder, name) for name in names]

    def _position(self, model):
        models = self.models
        if model is None:
            if len(models) > 1:
                raise InvalidArgument(f"the artifact has {len(models)} models, choose one: {', '.join(models)}")
            return 0
        if isinstance(model, str):
            if model not in models:
                raise InvalidArgument(f"the artifact has no model '{model}'; it has {', '.join(models)}")
            return models.index(model)
        return int(model)


def _stem(model, index):
    if isinstance(model, (str, os.PathLike)):
        return os.path.splitext(os.path.basename(os.fspath(model)))[0]
    return f"model{index}" if index else "model"


def compile(models, names=None, *, provider="cpu", sources="reference", defer_weights=False, pin=(),
            freeze_inputs=False):
    """Compiles a model, or several that then share their weights: paths, bytes or `Model`s.

    provider: "cpu" or "reference". sources: what later partial swaps can draw on: "reference" to the files the weights
    came from, "embed" a copy, or "none". defer_weights: leave the weights open, to be set later. pin: weights that no
    swap may change. freeze_inputs: initializers that are listed as inputs become weights."""
    if not isinstance(models, (list, tuple)):
        models = [models]
    if names is None:
        names = []
        for index, model in enumerate(models):
            stem, count = _stem(model, index), 0
            while (name := f"{stem}_{count}" if count else stem) in names:
                count += 1
            names.append(name)
    load = _settings(freeze_inputs=freeze_inputs)
    native = [model._native if isinstance(model, Model) else load_native(model, load) for model in models]
    settings = _settings(provider=provider, sources=sources, defer_weights=defer_weights, pin=list(pin))
    return Artifact(_tenon.Artifact.compile(list(names), native, settings))


def set_weights(sessions, weights, *, partial=False, strict=False, only=(), keep_sources=False):
    """New weights for several sessions, which switch together; returns one report each."""
    settings = _settings(partial=partial, strict=strict, only=list(only), keep_sources=keep_sources)
    return json.loads(_tenon.set_weights([s._native for s in sessions], _source(weights), settings))

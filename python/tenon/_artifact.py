"""Compiled models and their weights."""

import json
import operator
import os

from . import _tenon
from ._errors import InvalidArgument
from ._model import Model, load_native
from ._settings import as_names, settings
from ._weights import Weights, source_of, swap_settings, with_warnings


class NoSuchModel(InvalidArgument, KeyError):
    """An artifact has no model of this name."""

    __str__ = Exception.__str__  # KeyError's own shows the repr


class NoSuchPosition(InvalidArgument, IndexError):
    """An artifact has fewer models."""


class Artifact:
    """Compiled models with their weights. Created by `tenon.compile` and `Artifact.load`; never changes."""

    def __init__(self, native):
        self._native = native
        self._cpu_isa = None

    @classmethod
    def load(cls, *paths, folder=None, map=True, verify_weights=False, source_dirs=()):
        """Opens context files (X_ctx.onnx) that share one weights file, or one context file given as bytes. A weight is
        read only when it is used.

        folder: the folder of the weights file, if a context file is given as bytes and its weights are not embedded.
        map: False reads files instead of mapping them. verify_weights: check every byte first. source_dirs: folders to
        search for the files that weights came from, after the folder of the artifact."""
        if not paths:
            raise ValueError("no context file is given")
        options = settings(map=map, verify_weights=verify_weights, source_dir=as_names(source_dirs, "source_dirs"))
        in_memory = [path for path in paths if isinstance(path, (bytes, bytearray, memoryview))]
        if in_memory:
            if len(paths) > 1:
                raise TypeError("a context file given as bytes cannot be opened together with others")
            where = "" if folder is None else os.fspath(folder)
            return cls(_tenon.Artifact.load_memory(bytes(in_memory[0]), where, options))
        if folder is not None:
            raise TypeError("folder applies only to a context file given as bytes; the weights of a path are beside it")
        return cls(_tenon.Artifact.load([os.fspath(path) for path in paths], options))

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

    def bake(self, weights, *, partial=False, strict=False, only=None, map=True):
        """An artifact with the same models and other weights, and one report per model. The arguments are those of
        `InferenceSession.set_weights`."""
        options = swap_settings(partial=partial, strict=strict, only=only, map=map)
        baked, report = self._native.bake(source_of(weights), options)
        return Artifact(baked), with_warnings(json.loads(report))

    def strip(self):
        """An artifact with the same models but without the weights that can be set."""
        return Artifact(self._native.strip())

    def export(self, path):
        """Writes the source weights as .safetensors."""
        self._native.export_sources(os.fspath(path))

    def save(self, folder, names=None, *, embed=False, overwrite=False, weights_name=None, only_changes=False,
             debug_map=True):
        """Writes `<model>_ctx.onnx` (or the given names, one per model) and one weights file into a folder, all or
        nothing. Returns the paths of the context files."""
        names = [f"{model}_ctx.onnx" for model in self.models] if names is None else as_names(names, "names")
        options = settings(embed=embed, overwrite=overwrite, weights_name=weights_name, only_changes=only_changes,
                           debug_map=debug_map)
        self._native.save(os.fspath(folder), names, options)
        return [os.path.join(folder, name) for name in names]

    def _position(self, model):
        models = self.models
        known = ", ".join(f"'{name}'" for name in models)
        if model is None:
            if len(models) > 1:
                raise InvalidArgument(f"the artifact has {len(models)} models; choose one: {known}")
            return 0
        if isinstance(model, str):
            if model not in models:
                raise NoSuchModel(f"the artifact has no model '{model}'; it has {known}")
            return models.index(model)
        position = operator.index(model)
        if not 0 <= position < len(models):
            raise NoSuchPosition(f"there is no model {position}; the artifact has {len(models)}, counted from 0: "
                                 f"{known}")
        return position


def is_context_file(path):
    """Whether a file is a compiled model, Tenon's or another program's."""
    return _tenon.is_context_file(os.fspath(path))


def describe_context_file(path):
    """Describes a Tenon context file, even if its weights are missing: a dict with model, embedded,
    weights_file, content_id, plan_key, source_file and made_by."""
    return json.loads(_tenon.describe_context_file(os.fspath(path)))


def _stem(model, index):
    if isinstance(model, (str, os.PathLike)):
        return os.path.splitext(os.path.basename(os.fspath(model)))[0]
    return f"model{index}" if index else "model"


def _default_names(models):
    """The names of the files, with a number where two are the same."""
    names = []
    for index, model in enumerate(models):
        stem, count = _stem(model, index), 0
        while (name := f"{stem}_{count}" if count else stem) in names:
            count += 1
        names.append(name)
    return names


def _checked_names(names, models):
    names = as_names(names, "names")
    if len(names) != len(models):
        raise ValueError(f"{len(models)} {'model' if len(models) == 1 else 'models'} need as many names, "
                         f"but {len(names)} {'is' if len(names) == 1 else 'are'} given: {', '.join(map(repr, names))}")
    return names


def compile(models, names=None, *, provider="cpu", sources="reference", defer_weights=False, pin=(),
            freeze_inputs=False, jobs=1, threads=None, cpu_isa=None):
    """Compiles a model, or several that then share their weights: paths, bytes or `Model`s.

    names: one name per model; default: the file names. provider: "cpu",
    "cpu_exact" or "reference", or a dict of these by model name; other models get "cpu". sources: where later partial swaps find the
    other weights: "reference" means the files they came from, "embed" a stored copy, "none" nowhere. defer_weights:
    leave the weights out; they are set later. pin: the names of weights that no swap may change, or one name.
    freeze_inputs: turn initializers that are listed as inputs into weights.

    jobs: the number of models to compile at a time. threads: the number of threads that pack weights; 0 is as many as
    the CPU quota allows. cpu_isa: the most advanced instruction set for kernels, also in sessions of the returned
    artifact; one of `system()["cpu"]["isas"]`."""
    models = list(models) if isinstance(models, (list, tuple)) else [models]
    if not models:
        raise ValueError("no model is given")
    names = _default_names(models) if names is None else _checked_names(names, models)
    load = settings(freeze_inputs=freeze_inputs)
    native = [model._native if isinstance(model, Model) else load_native(model, load) for model in models]
    options = settings(provider=provider, sources=sources, defer_weights=defer_weights, pin=as_names(pin, "pin"),
                       jobs=jobs)
    context = settings(threads=threads, cpu_isa=cpu_isa)
    artifact = Artifact(_tenon.Artifact.compile(names, native, options, context))
    artifact._cpu_isa = cpu_isa
    return artifact

"""The models by name: one file per family, each with a table of functions that write its models."""

import importlib
import pkgutil


def all_models():
    """Name -> function that returns (ModelProto, inputs by name), or the path of a model and its inputs."""
    found = {}
    for module in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        found.update(importlib.import_module(f"{__name__}.{module.name}").MODELS)
    return found

"""Keeps failing models: `<hash>.onnx` and the inputs of one run as `<hash>.npz`."""

import hashlib
from pathlib import Path

import numpy as np

REGRESSIONS = Path(__file__).resolve().parent / "regressions"


def save(model_bytes, feeds, folder=REGRESSIONS):
    """Writes both files and returns the path of the model."""
    folder.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(model_bytes)
    for name in sorted(feeds):
        digest.update(name.encode() + plain(feeds[name]).tobytes())
    path = folder / f"{digest.hexdigest()[:16]}.onnx"
    path.write_bytes(model_bytes)
    np.savez(path.with_suffix(".npz"), **{name: plain(value) for name, value in feeds.items()})
    return path


def load(path):
    with np.load(path.with_suffix(".npz")) as stored:
        feeds = {name: as_strings(stored[name]) for name in stored.files}
    return path.read_bytes(), feeds


def saved_models(folder=REGRESSIONS):
    return sorted(folder.glob("*.onnx"))


def plain(array):
    """npz holds no objects: strings are stored with a fixed width."""
    return array.astype(np.str_) if array.dtype.kind == "O" else array


def as_strings(array):
    return array.astype(object) if array.dtype.kind == "U" else array

"""The files of models: written once for each content of what generates them."""

import hashlib
import inspect
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build" / "benchmarks" / "models"


@dataclass
class Subject:
    """A model in a file, and in another one the inputs that it is run with."""

    name: str
    path: Path
    inputs: Path

    def feeds(self):
        with np.load(self.inputs) as arrays:
            return dict(arrays)

    def beside(self, suffix):
        return self.path.with_name(self.path.stem + suffix)


def subject(name, make):
    sources = [HERE / "graph.py", HERE / "blocks.py", Path(inspect.getsourcefile(make))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:12]
    path = FOLDER / f"{name}-{digest}.onnx"
    found = Subject(name, path, path.with_suffix(".npz"))
    if not found.inputs.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        _forget(name)
        model, feeds = make()
        if isinstance(model, Path):
            path.write_bytes(model.read_bytes())
        else:
            onnx.save(model, path)
        onnx.checker.check_model(path, full_check=True)
        np.savez(found.inputs, **feeds)
    return found


def _forget(name):
    """What an older generator wrote, and all that was made from it."""
    for old in FOLDER.glob(f"{name}-*"):
        if len(old.name) > len(name) + 13 and "-" not in old.name[len(name) + 1 :][:12]:
            old.unlink()

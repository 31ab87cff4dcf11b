"""Models in normal form that are kept, to notice when the normal form changes. Writes them again:

    python tests/normal_form/committed.py
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import onnx

from normal_form.judge import STAMP, fully_optimized, write
from normal_form.models import BY_HAND, EXPORTED, load

FOLDER = Path(__file__).parent / "committed"
SMALL_EXPORTED = [name for name in EXPORTED if name.startswith(("torch/", "keras/"))][:8]
NAMES = (*(build.__name__ for build in BY_HAND), *SMALL_EXPORTED, *(f"random {seed}" for seed in range(8)))
AGAIN = "run python tests/normal_form/committed.py"


def path_of(name):
    return FOLDER / (name.replace("/", "-").replace(" ", "-") + ".onnx")


def made(name, folder):
    model, files, capabilities = load(name)
    return fully_optimized(write(folder / "source", model, files), capabilities)


def version_of(bytes_):
    stamps = [entry.value for entry in onnx.load_from_string(bytes_).metadata_props if entry.key == STAMP]
    return stamps[0].split(";")[0] if stamps else None


def complaint(name, before, now):
    """What is to be done about a model that is not what it was; None when it is."""
    if version_of(before) != version_of(now):
        return f"the passes have another version than '{name}' was written with; {AGAIN}"
    if before == now:
        return None
    return (f"the normal form of '{name}' changed, but the version of the passes did not: models that were stamped before "
            "would be skipped wrongly. Raise the version of the rule that changed (the last member of its Rule in "
            "src/passes), kInferenceVersion in src/ir/infer_node.h, or that of another part in "
            f"src/passes/pass_set_version.cpp; then {AGAIN}")


def main():
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            path_of(name).write_bytes(made(name, Path(folder)))
    print(f"wrote {len(NAMES)} models to {FOLDER.relative_to(Path.cwd()) if FOLDER.is_relative_to(Path.cwd()) else FOLDER}")


if __name__ == "__main__":
    main()

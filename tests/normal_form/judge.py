"""Whether Tenon may say of a mutant that it is in normal form."""

import functools
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import onnx

import tenon
from normal_form import edits_of_declarations, edits_of_models, edits_of_nodes, edits_of_tensors  # noqa: F401 (the table)
from normal_form.models import draw_name, load
from normal_form.mutant import mutate

STAMP = "tenon.normal_form"


def write(folder, model, files):
    """Puts the model and its data files into a folder that has nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return folder / "model.onnx"


def fully_optimized(path, capabilities):
    """The bytes of a fresh import after every pass, whatever a stamp says."""
    return tenon.Model.load(path).optimized(**capabilities)[0]


@functools.cache
def stamped(name, folder):
    model, files, capabilities = load(name)
    made = fully_optimized(write(Path(folder) / "source", model, files), capabilities)
    return onnx.load_from_string(made), files, capabilities


def without_stamp(bytes_):
    model = onnx.load_from_string(bytes_)
    kept = [entry for entry in model.metadata_props if entry.key != STAMP]
    del model.metadata_props[:]
    model.metadata_props.extend(kept)
    return model.SerializeToString(deterministic=True)


def attempt(action):
    """(the result, None) or (None, the message of the refusal)."""
    try:
        return action(), None
    except tenon.Error as error:
        return None, str(error).splitlines()[0]


def decide(path, capabilities):
    return tenon.optimize_file(path, path, check=True, **capabilities)


def judge(path, capabilities, decide=decide):
    """(what Tenon decided, what is wrong with it or None)."""
    report, refusal = attempt(lambda: decide(path, capabilities))
    full, problem = attempt(lambda: fully_optimized(path, capabilities))
    if report is None:
        return "refused", None if problem else f"refused, but a full run does it: {refusal}"
    decided = report.get("evidence", "changed")
    if full is None:
        return decided, f"said '{decided}', but a full run fails: {problem}"
    is_same = without_stamp(path.read_bytes()) == without_stamp(full)
    if is_same != (decided != "changed"):
        return decided, f"said '{decided}', but a full run writes {'the same' if is_same else 'another model'}"
    path.write_bytes(full)
    again, problem = attempt(lambda: fully_optimized(path, capabilities))
    if again != full:
        return decided, f"a second full run writes other bytes{': ' + problem if problem else ''}"
    second = decide(path, capabilities)
    if second.get("evidence") != "stamp":
        return decided, f"its result is not recognised: {second['status']}"
    return decided, None


@dataclass
class Trial:
    """The mutant of a seed and what became of it."""

    seed: int
    origin: str
    edits: list
    decided: str
    problem: str | None = None


def mutant_of(seed, folder, only=None):
    model, files, capabilities = stamped(draw_name(seed), str(folder))
    return mutate(model, files, seed, only), capabilities


def try_seed(task):
    """The trial of (a folder to write to, a seed)."""
    folder, seed = Path(task[0]) / str(os.getpid()), task[1]
    mutant, capabilities = mutant_of(seed, folder)
    trial = Trial(seed, draw_name(seed), mutant.log, "unwritable")
    try:
        path = write(folder / "mutant", mutant.model, mutant.files)
    except (ValueError, RecursionError):  # not to be had from protobuf
        return trial
    trial.decided, trial.problem = judge(path, capabilities)
    return trial

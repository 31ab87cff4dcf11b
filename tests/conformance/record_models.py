"""A pytest plugin that respells every model that tests open in memory, and keeps what it finds in the folder
TENON_RECORDED_MODELS: one line for each model, and the models themselves unless they are large."""

import hashlib
import json
import os
from pathlib import Path

import tenon
from conformance.op_versions import versioned_ops

FOLDER = Path(os.environ["TENON_RECORDED_MODELS"])
plain = tenon.InferenceSession
LARGE = 16 << 10
seen = set()


def record(model):
    name = hashlib.sha256(model).hexdigest()
    if name in seen:
        return
    seen.add(name)
    ops = versioned_ops(model)
    try:
        entry = {"ops": sorted(ops), "kept": tenon.Model.load(model).respelled()[1]["kept"]}
    except tenon.Error as error:
        entry = {"ops": sorted(ops), "error": str(error)}
    with open(FOLDER / f"{os.getpid()}.jsonl", "a") as file:
        file.write(json.dumps(entry) + "\n")
    if len(model) < LARGE:
        (FOLDER / f"{name}.onnx").write_bytes(model)


def session(model, *settings, **named):
    opened = plain(model, *settings, **named)
    if isinstance(model, bytes):
        record(model)
    return opened


tenon.InferenceSession = session

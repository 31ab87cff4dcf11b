"""Reads one exporter fixture (model.onnx, case.npz, case.json) and compares outputs with it."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FIXTURES = Path(__file__).parent / "fixtures"

MAP_KEY_TYPES = {"int64": int, "string": str}


@dataclass
class FixtureCase:
    folder: Path
    info: dict
    inputs: dict
    expected: dict

    @property
    def model_path(self):
        return self.folder / "model.onnx"

    @property
    def output_names(self):
        return list(self.info["outputs"])


def fixture_folders(root=FIXTURES):
    return sorted(path.parent for path in root.glob("*/*/case.json"))


def load_case(folder):
    info = json.loads((folder / "case.json").read_text())
    with np.load(folder / "case.npz", allow_pickle=False) as arrays:
        inputs = _with_prefix(arrays, "input.")
        expected = _with_prefix(arrays, "expected.")
    for name, maps in info.get("expected_maps", {}).items():
        key_type = MAP_KEY_TYPES[info["outputs"][name]["key_type"]]
        expected[name] = [{key_type(key): value for key, value in row.items()} for row in maps]
    return FixtureCase(folder, info, inputs, expected)


def _with_prefix(arrays, prefix):
    return {key.removeprefix(prefix): arrays[key] for key in arrays.files if key.startswith(prefix)}


def feeds(case):
    """Inputs as a session takes them: string tensors are object arrays."""
    return {name: value.astype(object) if value.dtype.kind == "U" else value for name, value in case.inputs.items()}


def mismatches(case, outputs):
    """One message for each output that differs from what the library predicts; empty if none."""
    if len(outputs) != len(case.output_names):
        return [f"{len(outputs)} outputs instead of {len(case.output_names)}"]
    messages = []
    for name, actual in zip(case.output_names, outputs, strict=True):
        spec = case.info["outputs"][name]
        message = COMPARE[spec["kind"]](actual, case.expected[name], spec)
        if message:
            messages.append(f"output '{name}': {message}")
    return messages


def _compare_maps(actual, expected, spec):
    if not isinstance(actual, list) or len(actual) != len(expected):
        return f"not a list of {len(expected)} maps: {actual!r}"
    for row, (actual_map, expected_map) in enumerate(zip(actual, expected, strict=True)):
        if list(actual_map) != list(expected_map):
            return f"row {row} has keys {list(actual_map)} instead of {list(expected_map)}"
    return _compare_numbers(_table(actual), _table(expected), spec)


def _table(maps):
    return np.array([list(row.values()) for row in maps], dtype=np.float64)


def _compare_sequence(actual, expected, spec):
    if not isinstance(actual, list):
        return f"not a list: {type(actual).__name__}"
    return _compare_tensor(np.stack(actual), expected, spec)


def _compare_tensor(actual, expected, spec):
    if not isinstance(actual, np.ndarray):
        return f"not an array: {type(actual).__name__}"
    if actual.shape != expected.shape:
        return f"shape {actual.shape} instead of {expected.shape}"
    if expected.dtype.kind == "U":
        different = np.flatnonzero(actual.astype(str).ravel() != expected.ravel())
        return f"strings differ at flat indices {different[:8].tolist()}" if different.size else None
    if actual.dtype != expected.dtype:
        return f"type {actual.dtype} instead of {expected.dtype}"
    return _compare_numbers(actual, expected, spec)


def _compare_numbers(actual, expected, spec):
    if spec["compare"] == "exact":
        wrong = ~((actual == expected) | (_is_nan(actual) & _is_nan(expected)))
        return f"{wrong.sum()} of {wrong.size} values differ, exact wanted" if wrong.any() else None
    exact_type = np.complex128 if np.iscomplexobj(expected) else np.float64
    actual, expected = actual.astype(exact_type), expected.astype(exact_type)
    # Equal infinities would give NaN when subtracted.
    same = (actual == expected) | (np.isnan(actual) & np.isnan(expected))
    error = np.where(same, 0.0, np.abs(actual - expected))
    allowed = spec["atol"] + spec["rtol"] * np.abs(np.where(same, 0.0, expected))
    wrong = ~(error <= allowed)
    if not wrong.any():
        return None
    worst = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
    return (
        f"max error {error[worst]:.3g} at {tuple(int(i) for i in worst)} "
        f"(got {actual[worst]!r}, expected {expected[worst]!r}, "
        f"atol {spec['atol']:.3g}, rtol {spec['rtol']:.3g}); {wrong.sum()} of {wrong.size} out of tolerance"
    )


def _is_nan(values):
    return np.isnan(values) if values.dtype.kind in "fc" else np.zeros(values.shape, dtype=bool)


COMPARE = {"tensor": _compare_tensor, "sequence_tensor": _compare_sequence, "sequence_map": _compare_maps}

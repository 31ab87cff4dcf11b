"""Runs one model through onnxruntime, the oracle, and the engine under test, and compares.

Integers, bools and strings have to be equal, floats within the bound of tolerance.py, and both engines have to accept or
refuse the model alike.
"""

import re
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

from conformance.comparison import describe, difference_of_exact
from conformance.engines import prepare_onnxruntime, prepare_under_test
from differential.tolerance import error_bounds, is_float
from oracles.peer import InexactOracle, refuse_inexact, run_peer

# Refusals of one engine only that are known and accepted: (who refuses, expression for its message, reason).
CLASSIFIED_REFUSALS = []


@dataclass(frozen=True)
class Finding:
    kind: str  # "values", "type or shape", "oracle refuses", "engine refuses"; shrinking keeps it the same
    text: str
    output: str = ""
    binding: int = 0


def compare(model_bytes, feeds_list, prepare=prepare_under_test):
    """None when the engines agree for every binding, else the first Finding."""
    for binding, feeds in enumerate(feeds_list):
        finding = compare_binding(model_bytes, feeds, prepare, binding)
        if finding:
            return finding
    return None


def compare_binding(model_bytes, feeds, prepare, binding):
    expected, _ = run(prepare_optimizing_oracle, model_bytes, feeds)
    actual, engine_error = run(prepare, model_bytes, feeds)
    if expected is not None and actual is not None:
        finding = compare_outputs(model_bytes, feeds, expected, actual, binding)
        if finding is None:
            return None
    # What the oracle's optimizer gets wrong or refuses says nothing about the engine under test: the plain oracle decides.
    expected, oracle_error = run(prepare_plain_oracle, model_bytes, feeds)
    if oracle_error and engine_error:
        return None
    if oracle_error or engine_error:
        return refusal("oracle refuses" if oracle_error else "engine refuses", oracle_error or engine_error, binding)
    return compare_outputs(model_bytes, feeds, expected, actual, binding)


def refusal(kind, text, binding):
    accepted = any(kind == f"{who} refuses" and re.search(pattern, text) for who, pattern, _ in CLASSIFIED_REFUSALS)
    return None if accepted else Finding(kind, text, binding=binding)


def prepare_optimizing_oracle(model_bytes):
    run_optimized = prepare_onnxruntime(model_bytes)
    model = onnx.load_from_string(model_bytes)

    def run_checked(feeds):
        refuse_inexact(model, feeds)
        return run_optimized(feeds)

    return run_checked


def prepare_plain_oracle(model_bytes):
    names = [output.name for output in onnx.load_from_string(model_bytes).graph.output]

    def run_plain(feeds):
        values = oracle_values(model_bytes, feeds)
        return [values[name] for name in names]

    return run_plain


def run(prepare, model_bytes, feeds):
    """(outputs, None) or (None, what the engine said)."""
    try:
        return prepare(model_bytes)(feeds), None
    except InexactOracle:
        raise  # the generator is wrong, no engine
    except Exception as error:  # every refusal counts, whatever its type
        return None, f"{type(error).__name__}: {str(error).strip()[:300]}"


def compare_outputs(model_bytes, feeds, expected, actual, binding):
    model = onnx.load_from_string(model_bytes)
    bounds = None
    for output, wanted, got in zip(model.graph.output, expected, actual, strict=True):
        if not isinstance(got, np.ndarray) or got.shape != wanted.shape or not same_type(wanted, got):
            text = f"{output.name}: {describe(got)} instead of {describe(wanted)}"
            return Finding("type or shape", text, output.name, binding)
        if is_float(wanted):
            if same_floats(wanted, got, 0.0):
                continue
            bounds = bounds or error_bounds(model, oracle_values(model_bytes, feeds))
            text = float_difference(wanted, got, 2 * bounds.get(output.name, 0.0))
        else:
            text = difference_of_exact(wanted, got)
        if text:
            return Finding("values", f"{output.name}: {text}", output.name, binding)
    return None


def same_type(wanted, got):
    return wanted.dtype == got.dtype or (wanted.dtype.kind == "O" and got.dtype.kind in "OUS")


def same_floats(wanted, got, bound):
    return close_floats(wanted, got, bound).all()


def close_floats(wanted, got, bound):
    a, b = wanted.astype(np.float64), got.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= bound)


def float_difference(wanted, got, bound):
    close = close_floats(wanted, got, bound)
    if close.all():
        return None
    at = int(np.argmin(close))
    return (
        f"{np.count_nonzero(~close)} of {wanted.size} values differ by more than {bound:.3g}, "
        f"the first {got.flat[at]:.9g} instead of {wanted.flat[at]:.9g}"
    )


def oracle_values(model_bytes, feeds):
    """Every tensor of the main graph by name, computed by the oracle without its optimizer."""
    model = onnx.load_from_string(model_bytes)
    given = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    listed = {output.name for output in model.graph.output}
    for node in model.graph.node:
        model.graph.output.extend(
            onnx.ValueInfoProto(name=name) for name in node.output if name and name not in listed
        )
    results = run_peer(model.SerializeToString(), feeds, optimize=False)
    computed = {output.name: value for output, value in zip(model.graph.output, results, strict=True)}
    return {**given, **feeds, **computed}

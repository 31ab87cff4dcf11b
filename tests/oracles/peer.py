"""onnxruntime as an oracle: every test that takes its results for right asks it here."""

import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as native

from oracles.saturation import may_be_fused, unsafe_products


class InexactOracle(AssertionError):
    """The test asks onnxruntime for numbers that it gets wrong on some CPUs."""


def run_peer(model, feeds, optimize=True):
    """The outputs of a model (bytes) by onnxruntime. Raises InexactOracle for integer products that saturate there on
    CPUs without VNNI: `exact_integers` is the oracle of these."""
    proto = onnx.load_from_string(model)
    refuse_inexact(proto, feeds)
    return load_in_peer(model, optimize and not may_be_fused(proto)).run(None, feeds)


def peer_refusal(model):
    """Why onnxruntime does not load a model (bytes); empty when it does."""
    try:
        load_in_peer(model)
    except Exception as error:  # its classes have no base of their own
        return str(error)
    return ""


def peer_ops(domain):
    """The names of all ops of a domain that onnxruntime has a declaration of."""
    return sorted({schema.name for schema in native.get_all_operator_schema() if schema.domain == domain})


def load_in_peer(model, optimize=True):
    return onnxruntime.InferenceSession(model, peer_options(optimize), providers=["CPUExecutionProvider"])


def refuse_inexact(model, feeds):
    found = unsafe_products(model, feeds)
    if found:
        raise InexactOracle(f"onnxruntime saturates on CPUs without VNNI: {'; '.join(found)}")


def peer_options(optimize=True):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options

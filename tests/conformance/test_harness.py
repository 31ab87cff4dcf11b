"""The checks have to be able to fail: comparison, isolation, random properties, round trips and the report."""

import os
import pickle
import signal
import time

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from conformance.cases import Case
from conformance.comparison import difference_of_outputs
from conformance.isolation import Limits, run_isolated
from conformance.random_cases import check_bernoulli, check_dropout
from conformance.report import report_text
from conformance.roundtrip import check_round_trip
from conformance.runner import SuiteResult


def differ(expected, actual):
    return difference_of_outputs([expected], [actual], rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize(
    "expected, actual",
    [
        (np.array([1000, 2000]), np.array([1000, 2001])),
        (np.array([True]), np.array([False])),
        (np.array(["a"], dtype=object), np.array(["b"], dtype=object)),
        (np.array([1.0], np.float32), np.array([1.0], np.float64)),
        (np.ones((2, 1), np.float32), np.ones((2,), np.float32)),
        (np.array([1.0], np.float32), np.array([1.002], np.float32)),
        (np.array([1.0], np.float32), np.array([np.nan], np.float32)),
        (np.array([np.inf], np.float32), np.array([3e38], np.float32)),
        (np.array([1.0], ml_dtypes.bfloat16), np.array([1.03125], ml_dtypes.bfloat16)),
        (np.array([1], ml_dtypes.int4), np.array([2], ml_dtypes.int4)),
        (np.array([1.0], ml_dtypes.float8_e4m3fn), np.array([1.125], ml_dtypes.float8_e4m3fn)),
        ([np.array([1])], [np.array([1]), np.array([1])]),
        ([np.array([1])], [np.array([2])]),
        (np.array([1]), None),
    ],
)
def test_comparison_sees(expected, actual):
    assert differ(expected, actual) is not None


@pytest.mark.parametrize(
    "expected, actual",
    [
        (np.array([np.nan, np.inf], np.float32), np.array([np.nan, np.inf], np.float32)),
        (np.array([1.0], np.float32), np.array([1.0009], np.float32)),
        (np.array([1.0], ml_dtypes.bfloat16), np.array([1.0078125], ml_dtypes.bfloat16)),
        (np.array(["ä"], dtype=object), np.array(["ä"], dtype=object)),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        ([], []),
        (None, None),
    ],
)
def test_comparison_accepts(expected, actual):
    assert differ(expected, actual) is None


def misbehave(task):
    if task == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if task == "exit":
        os._exit(3)
    if task == "exhaust":
        held = [np.ones(2**24) for _ in range(12)]  # 1.5 GB
        time.sleep(1000)
        return len(held)
    if task == "hang":
        time.sleep(1000)
    return task


def outcomes_of(tasks, limits):
    return {tasks[index]: outcome for index, _, outcome in run_isolated(misbehave, tasks, jobs=2, limits=limits)}


def test_one_bad_task_costs_one_task():
    assert outcomes_of(["a", "crash", "b", "exhaust", "c", "exit", "d"], Limits(seconds=300, memory_mb=1000)) == {
        **{name: name for name in "abcd"},
        "crash": "crashed (signal 11 SIGSEGV)",
        "exhaust": "out of memory (limit 1000 MB)",
        "exit": "ended the process (exit code 3)",
    }


def test_a_hanging_task_is_ended():
    assert outcomes_of(["hang", "a"], Limits(seconds=5)) == {"hang": "timed out (limit 5 s)", "a": "a"}


def test_random_properties_see_a_biased_generator():
    generator = np.random.default_rng(0)
    p = np.full(4000, 0.3)
    assert check_bernoulli([p], [(generator.random(4000) < p).astype(np.float32)]) is None
    assert check_bernoulli([p], [(generator.random(4000) < 0.4).astype(np.float32)]) is not None
    x, mask = np.ones(4000, np.float32), generator.random(4000) < 0.5
    assert check_dropout([x, np.float32(0.5)], [np.where(mask, 2 * x, 0), mask]) is None
    assert check_dropout([x, np.float32(0.5)], [np.where(mask, x, 0), mask]) is not None
    assert check_dropout([x, np.float32(0.5)], [2 * x, np.ones(4000, bool)]) is not None


def small_model():
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])
    constant = helper.make_tensor("nan", TensorProto.FLOAT, [1], [np.nan])
    node = helper.make_node("Constant", [], ["x"], value=constant, doc_string="kept")
    return helper.make_model(helper.make_graph([node], "g", [], [value])).SerializeToString()


class KeepingModel:
    """Stands in for tenon.Model: reads and writes by means of the onnx package."""

    def __init__(self, proto):
        self.proto = proto

    @classmethod
    def load(cls, source):
        data = source if isinstance(source, bytes) else open(source, "rb").read()
        return cls(onnx.ModelProto.FromString(data))

    def to_bytes(self):
        return self.proto.SerializeToString(deterministic=True)

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.to_bytes())


class ForgetfulModel(KeepingModel):
    def to_bytes(self):
        self.proto.graph.node[0].ClearField("doc_string")
        return super().to_bytes()


class RestlessModel(KeepingModel):
    writes = 0

    def to_bytes(self):
        RestlessModel.writes += 1
        # An empty graph message (field 7) merges into the graph: other bytes, the same model.
        return super().to_bytes() + b"\x3a\x00" * (RestlessModel.writes - 1)


def test_round_trip_check():
    assert check_round_trip(KeepingModel, small_model()) is None
    assert "doc_string" in check_round_trip(ForgetfulModel, small_model())
    assert "changes them" in check_round_trip(RestlessModel, small_model())


def test_surprises_are_new_failures_and_stale_exceptions():
    names = ["test_abs", "test_add", "test_gradient_of_add", "test_gradient_of_mul"]
    result = SuiteResult("node", names, {"test_abs": "wrong", "test_gradient_of_add": "refused"})
    new, stale = result.surprises()
    assert new == "test_abs: wrong"
    assert stale.startswith("test_gradient_of_mul: passes but is listed")
    text = report_text([result])
    assert "| node | 2 | 4 |" in text and "`test_gradient_of_add`" in text and "- test_abs: wrong" in text


def test_case_survives_the_cache():
    case = Case("node", "n", b"", [({"x": np.array([1.5], ml_dtypes.bfloat16)}, [None])], 1e-3, 1e-7)
    again = pickle.loads(pickle.dumps(case))
    assert again.data_sets[0][0]["x"].dtype == ml_dtypes.bfloat16

"""Packed bytes and reference results are the same whatever the caller's thread has set: flushing of denormal numbers
(as other frameworks do) and another rounding."""

import ctypes
import ctypes.util
import platform
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

import tenon

from .zoo import FLOAT, conv_norm_relu, feed, model, node, weight

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="knows the control register of one machine")

LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
ENVIRONMENT_BYTES, CONTROL_OFFSET = 32, 28  # of fenv_t
FLUSH, ROUND_UP = 0x8040, 0x4000


@contextmanager
def control(bits):
    """Adds bits to the control register of this thread."""
    before = ctypes.create_string_buffer(ENVIRONMENT_BYTES)
    assert LIBM.fegetenv(before) == 0
    changed = ctypes.create_string_buffer(before.raw, ENVIRONMENT_BYTES)
    register = int.from_bytes(changed.raw[CONTROL_OFFSET:], "little") | bits
    ctypes.memmove(ctypes.byref(changed, CONTROL_OFFSET), register.to_bytes(4, "little"), 4)
    assert LIBM.fesetenv(changed) == 0
    try:
        yield
    finally:
        assert LIBM.fesetenv(before) == 0


def tiny(seed=0):
    """Weights whose folded form is denormal."""
    made = conv_norm_relu(np.random.default_rng(seed))
    scaled = {"w": 1e-30, "n.gamma": 1e-10}
    for tensor in made.graph.initializer:
        if tensor.name in scaled:
            values = np.frombuffer(tensor.raw_data, np.float32)
            tensor.raw_data = (values * np.float32(scaled[tensor.name])).tobytes()
    return made.SerializeToString()


def packed(data):
    return [(entry["key"], entry["content"]) for entry in data.describe("packed")["packed"]]


@pytest.mark.parametrize("bits", [FLUSH, ROUND_UP, FLUSH | ROUND_UP], ids=["flush", "round up", "both"])
class TestFloatEnvironment:
    def test_the_environment_matters_here(self, bits):
        with control(bits):
            product = np.float32(1e-30) * np.float32(1e-10), np.float64(3) / np.float64(10)
        assert product != (np.float32(1e-30) * np.float32(1e-10), 0.3)

    def test_packed_bytes(self, bits, tmp_path):
        made = tiny()
        expected = tenon.compile(made).save(tmp_path / "plain")[0]
        with control(bits):
            saved = tenon.compile(made).save(tmp_path / "strange")[0]
        first, second = tenon.Artifact.load(expected), tenon.Artifact.load(saved)
        assert packed(first) == packed(second)
        assert Path(expected).read_bytes() == Path(saved).read_bytes()

    def test_weights_of_a_swap(self, bits):
        made = tiny(1)
        feeds = {"x": np.full((1, 3, 4, 4), 1e38, np.float32)}
        weights = {t.name: numpy_helper.to_array(t) for t in onnx.load_from_string(made).graph.initializer}
        plain, strange = (tenon.compile(tiny()).session() for _ in range(2))
        plain.set_weights(weights)
        with control(bits):
            strange.set_weights(weights)
        assert plain.run(None, feeds)[0].tobytes() == strange.run(None, feeds)[0].tobytes()

    @pytest.mark.parametrize("op", ["Mul", "Div", "Add"])
    def test_reference_results(self, bits, op):
        made = model([node(op, ["x", "w"], ["y"])], [("x", FLOAT, [4])], [("y", FLOAT, [4])],
                     [weight("w", np.array([1e-10, 3, 1e-39, 7], np.float32))])
        session = tenon.compile(made.SerializeToString(), provider="reference").session()
        feeds = {"x": np.array([1e-30, 1, 2e-39, 0.1], np.float32)}
        expected = session.run(None, feeds)[0].tobytes()
        with control(bits):
            found = session.run(None, feeds)[0].tobytes()
        assert found == expected

    def test_the_caller_keeps_its_environment(self, bits):
        session = tenon.compile(tiny()).session()
        feeds = feed(conv_norm_relu(np.random.default_rng(0)), np.random.default_rng(1))
        with control(bits):
            before = ctypes.create_string_buffer(ENVIRONMENT_BYTES)
            LIBM.fegetenv(before)
            session.run(None, feeds)
            after = ctypes.create_string_buffer(ENVIRONMENT_BYTES)
            LIBM.fegetenv(after)
        mask = ~0x3F & 0xFFFFFFFF  # without the flags of what happened
        registers = [int.from_bytes(env.raw[CONTROL_OFFSET:], "little") & mask for env in (before, after)]
        assert registers[0] == registers[1] and registers[0] & bits == bits

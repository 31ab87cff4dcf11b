"""Loops that never end by themselves."""

import threading

import numpy as np
import pytest
import tenon
from bad_input.refusals import refused, session
from onnx import parser

HEADER = '<ir_version: 9, opset_import: ["" : 19]>\n'
ENDLESS = parser.parse_model(
    HEADER
    + """
    g (bool go) => (int64 last) {
      zero = Constant <value_int = 0> ()
      [culprit] last = Loop ("", go, zero) <body = b (int64 i, bool c, int64 n) => (bool again, int64 next) {
        again = Identity (c)
        next = Add (n, i)
      }>
    }"""
)
GROWING = parser.parse_model(
    HEADER
    + """
    g (bool go, float[1] x) => (float[M] last) {
      [culprit] last = Loop ("", go, x) <body = b (int64 i, bool c, float[N] n) => (bool again, float[K] next) {
        again = Identity (c)
        next = Concat <axis = 0> (n, n)
      }>
    }"""
)
COLLECTING = parser.parse_model(
    HEADER
    + """
    g (bool go) => (float[M, N] all) {
      size = Constant <value_ints = [65536]> ()
      x = ConstantOfShape (size)
      [culprit] all = Loop ("", go) <body = b (int64 i, bool c) => (bool again, float[K] part) {
        again = Identity (c)
        part = Identity (x)
      }>
    }"""
)
LISTING = parser.parse_model(
    HEADER
    + """
    g (bool go, float[1] x) => (seq(float[M]) last) {
      empty = SequenceEmpty ()
      [culprit] last = Loop ("", go, empty) <body = b (int64 i, bool c, seq(float[M]) n) => (bool again, seq(float[M]) next) {
        again = Identity (c)
        one = Add (x, x)
        next = SequenceInsert (n, one)
      }>
    }"""
)
RISING = parser.parse_model(
    HEADER
    + """
    g (bool go, float[1] x) => (float last) {
      front = Constant <value_ints = [0]> ()
      [culprit] last = Loop ("", go, x) <body = b (int64 i, bool c, float n) => (bool again, float next) {
        again = Identity (c)
        [rise] next = Unsqueeze (n, front)
      }>
    }"""
)
GO = {"go": np.array(True)}
X = {"x": np.ones(1, np.float32)}


def test_the_limit_of_iterations():
    refused(ENDLESS, GO, says="1000 times.*loop_limit", code="resource limit", loop_limit=1000)


def stopped(running, feeds, delay):
    """The run ends with an error soon after another thread asks for it."""
    options = tenon.RunOptions()
    timer = threading.Timer(delay, lambda: setattr(options, "terminate", True))
    timer.start()
    with pytest.raises(tenon.Error, match="cancelled") as caught:
        running.run(None, feeds, options)
    timer.join()
    assert caught.value.code == "cancelled"
    return options


@pytest.mark.parametrize("delay", [0, 0.05])
def test_termination_by_another_thread(delay):
    options = stopped(session(ENDLESS), GO, delay)
    options.terminate = False
    with pytest.raises(tenon.Error, match="loop_limit"):
        session(ENDLESS, loop_limit=3).run(None, GO, options)


def test_loops_that_grow_meet_the_memory_limit():
    refused(GROWING, GO | X, says="memory_limit", code="resource limit")
    refused(COLLECTING, GO, says="memory_limit", code="resource limit")


def test_ranks_that_grow_meet_a_limit():
    for value in (RISING.graph.output[0], *RISING.graph.node[1].attribute[0].g.output[1:],
                  *RISING.graph.node[1].attribute[0].g.input[2:]):  # fmt: skip
        value.type.tensor_type.ClearField("shape")
    message = refused(RISING, GO | X, says="65 dimensions; the limit is 64", code="resource limit")
    assert "'rise' (Unsqueeze)" in message


def test_lists_of_small_things_meet_the_memory_limit():
    refused(LISTING, GO | X, says="memory_limit", code="resource limit", memory_limit=1 << 20)


# Each would take minutes or more.
LARGE = {
    "LpPool": "y = LpPool <kernel_shape = [64, 1048576], pads = [32, 1048576, 32, 1048576]> (x)",
    "MaxPool": "y = MaxPool <kernel_shape = [64, 1048576], pads = [32, 1048576, 32, 1048576]> (x)",
    "Conv": "y = Conv <pads = [63, 63, 63, 63]> (many, many)",
    "MatMul": "y = MatMul (square, square)",
    "Gemm": "y = Gemm (square, square)",
}


@pytest.mark.parametrize("op_type", LARGE)
def test_large_kernels_can_be_stopped(op_type):
    model = parser.parse_model(
        HEADER
        + """
        g (float[1, 1, 64, 64] x) => (float[...] y) {
          channels = Constant <value_ints = [64, 64, 64, 64]> ()
          side = Constant <value_ints = [8000, 8000]> ()
          many = ConstantOfShape (channels)
          square = ConstantOfShape (side)
          [large] RESULT
        }""".replace("RESULT", LARGE[op_type]).replace("float[...]", "float")
    )
    stopped(session(model, memory_limit=8 << 30), {"x": np.ones((1, 1, 64, 64), np.float32)}, 0.5)

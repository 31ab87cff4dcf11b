"""Sessions stay with the process that made them."""

import os
import traceback

import numpy as np
import onnx
import pytest
import tenon

MODEL = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["": 22]>
    g (float[n, 3] x) => (float[n, 2] y)
    <float[3, 2] w = {1, 2, 3, 4, 5, 6}>
    { y = MatMul(x, w) }
""").SerializeToString()
FEED = {"x": np.ones((64, 3), np.float32)}


def in_a_fork(test):
    """Runs the test in a forked process; the text of what it raised, or ""."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            test()
        except BaseException:
            os.write(write, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    return text


def test_a_session_of_the_parent_is_refused():
    session = tenon.InferenceSession(MODEL)
    session.run(None, FEED)

    def run():
        with pytest.raises(tenon.Error, match="forked after this session was created.*create the session in the child"):
            session.run(None, FEED)

    assert in_a_fork(run) == ""
    session.run(None, FEED)


def test_the_child_makes_sessions_of_its_own():
    tenon.InferenceSession(MODEL).run(None, FEED)

    def run():
        (y,) = tenon.InferenceSession(MODEL).run(None, FEED)
        np.testing.assert_array_equal(y[0], [9, 12])

    assert in_a_fork(run) == ""

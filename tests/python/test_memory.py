"""Who owns what: inputs are borrowed, outputs belong to the caller."""

import gc
import sys
import weakref

import numpy as np
import pytest
from python.models import FLOAT, add, identity, model, node, passing, sequence_type, state, tensor, typed, weighted
from onnx import TensorProto

import tenon

Y = np.array([10, 20], np.float32)


class Memory(bytearray):
    """Memory that can be watched."""


class Owner(np.ndarray):
    """An array that can be watched."""


def watched(array):
    return array.view(Owner)


def test_outputs_outlive_the_session(ort):
    session = ort.InferenceSession(add())
    (z,) = session.run(None, {"x": np.ones((1000, 2), np.float32), "y": Y})
    del session
    gc.collect()
    filler = [np.zeros(2000, np.float32) for _ in range(50)]
    assert (z == [11, 21]).all() and len(filler) == 50
    z[0] = 5
    assert z[0].tolist() == [5, 5]


def test_outputs_do_not_alias_inputs_weights_or_each_other(ort):
    x = np.array([1, 2], np.float32)
    (y,) = ort.InferenceSession(identity()).run(None, {"x": x})
    y[:] = 9
    assert x.tolist() == [1, 2]

    passed = model([], [tensor("x", FLOAT, [2])], [tensor("x", FLOAT, [2])])
    (y,) = tenon.InferenceSession(passed).run(None, {"x": x})
    y[:] = 9
    assert x.tolist() == [1, 2]

    constant = model([node("Identity", "w", "y")], [], [tensor("y", FLOAT, [2])], {"w": Y})
    session = ort.InferenceSession(constant)
    session.run(None, {})[0][:] = 0
    assert session.run(None, {})[0].tolist() == [10, 20]

    default = ort.InferenceSession(model([node("Identity", "w", "y")], [tensor("w", FLOAT, [2])],
                                         [tensor("y", FLOAT, [2])], {"w": Y}))
    default.run(None, {})[0][:] = 0
    assert default.run(None, {})[0].tolist() == [10, 20]

    twice = model([node("Relu", "x", "y"), node("Identity", "y", "z")], [tensor("x", FLOAT, [2])],
                  [tensor("y", FLOAT, [2]), tensor("z", FLOAT, [2])])
    y, z = ort.InferenceSession(twice).run(None, {"x": x})
    y[:] = 9
    assert z.tolist() == [1, 2]


def test_items_of_sequences_do_not_alias_inputs(ort):
    x = np.array([1, 2], np.float32)
    session = ort.InferenceSession(passing(sequence_type()))
    (y,) = session.run(None, {"x": [x, x]})
    y[0][:] = 9
    assert x.tolist() == [1, 2]

    made = model([node("SequenceConstruct", "x x", "y")], [tensor("x", FLOAT, [2])], [typed("y", sequence_type())])
    (y,) = ort.InferenceSession(made).run(None, {"x": x})
    y[0][:] = 9
    assert x.tolist() == [1, 2]

    taken = model([node("SequenceAt", "x i", "y")], [typed("x", sequence_type()), tensor("i", TensorProto.INT64, [])],
                  [tensor("y", FLOAT)])
    (y,) = ort.InferenceSession(taken).run(None, {"x": [x], "i": np.array(0)})
    y[:] = 9
    assert x.tolist() == [1, 2]


def test_results_made_of_inputs_outlive_them():
    made = model([node("SequenceConstruct", "x x", "y")], [tensor("x", FLOAT, ["n"])], [typed("y", sequence_type())])
    session = tenon.InferenceSession(made)
    x = np.arange(1000, dtype=np.float32)
    (y,) = session.run(None, {"x": x})
    del x
    gc.collect()
    filler = [np.zeros(1000, np.float32) for _ in range(50)]
    assert (y[1] == np.arange(1000)).all() and len(filler) == 50


@pytest.mark.parametrize("make", [
    lambda: np.ones((3, 2), np.float32), lambda: np.ones((2, 3), np.float32).T, lambda: np.ones((3, 2), ">f4"),
], ids=["plain", "transposed", "byte order"])
def test_inputs_are_given_back(make):
    session = tenon.InferenceSession(add())
    x = watched(make())
    gone = weakref.ref(x)
    before = sys.getrefcount(Y)
    out = session.run(None, {"x": x, "y": Y})
    assert sys.getrefcount(Y) == before
    del x
    gc.collect()
    assert gone() is None
    assert out[0].tolist() == [[11, 21]] * 3


def test_inputs_are_given_back_after_an_error():
    session = tenon.InferenceSession(add())
    x = watched(np.ones((3, 2), np.float64))
    gone = weakref.ref(x)
    for feed in ({"x": x, "y": Y}, {"x": x}, {"x": x, "y": Y, "w": Y}):
        with pytest.raises((ValueError, state(tenon).InvalidArgument)):
            session.run(None, feed)
    del x, feed
    gc.collect()
    assert gone() is None


def test_sessions_are_given_back():
    session = tenon.InferenceSession(weighted())
    session.run(None, {"x": Y})
    gone = weakref.ref(session)
    del session
    assert gone() is None  # at once: nothing refers to it in a circle


def test_values_keep_the_array_and_not_longer():
    memory = Memory(16)
    gone = weakref.ref(memory)
    x = np.frombuffer(memory, np.float32)
    x[:] = 1
    value = tenon.OrtValue.ortvalue_from_numpy(x)
    del x, memory
    gc.collect()
    assert gone() is not None and value.numpy().tolist() == [1] * 4
    array = value.numpy()
    del value
    gc.collect()
    assert array.tolist() == [1] * 4
    del array
    gc.collect()
    assert gone() is None


def test_repeated_runs_do_not_collect_memory():
    import resource

    session = tenon.InferenceSession(identity())
    x = np.ones(1 << 18, np.float32)
    for _ in range(20):
        session.run(None, {"x": x})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(400):
        session.run(None, {"x": x})
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024  # KiB; 400 results are 400 MiB

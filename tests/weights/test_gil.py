"""Other Python threads go on while a call works on weights."""

import sys
import threading
import time

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

SIZE = 1536


def large_model(seed):
    """A product whose weight takes milliseconds to pack, write or check."""
    weight = np.random.default_rng(seed).standard_normal((SIZE, SIZE), dtype=np.float32)
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "large",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, SIZE])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, SIZE])],
                              [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    for seed in (1, 2):
        onnx.save(large_model(seed), folder / f"large{seed}.onnx")
    return folder


class Counter:
    """A thread that counts whenever it gets the interpreter's lock."""

    def __enter__(self):
        # Long enough that no thread is made to give the lock away: the count moves only when a call lets go of it.
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(100)
        self.count, self._stop = 0, False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self):
        while not self._stop:
            self.count += 1
            time.sleep(0)  # lets go of the lock

    def __exit__(self, *_):
        self._stop = True
        self._thread.join()
        sys.setswitchinterval(self._interval)

    def moved_during(self, call):
        before = self.count
        call()
        return self.count > before


def calls_of(artifact, session, folder):
    source = tenon._tenon.Source.open(str(folder / "large2.onnx"))
    native = artifact._native
    return {
        "set_weights": lambda: tenon._tenon.set_weights([session._native], source, {}),
        "bake": lambda: native.bake(source, {}),
        "save": lambda: native.save(str(folder / "saved"), ["large1_ctx.onnx"], {"overwrite": "1"}),
        "export": lambda: native.export_sources(str(folder / "large.safetensors")),
        "verify": lambda: native.verify(),
    }


@pytest.mark.parametrize("name", ["set_weights", "bake", "save", "export", "verify"])
def test_others_run_during(name, folder):
    artifact = tenon.compile(str(folder / "large1.onnx"))
    call = calls_of(artifact, artifact.session(), folder)[name]
    with Counter() as counter:
        # A busy machine may not get round to the counter in one call; a call that keeps the lock fails them all.
        assert any(counter.moved_during(call) for _ in range(100))


class Swapper:
    """A thread that sets the weights of a session, again and again: nearly always some swap is under way."""

    def __init__(self, session, source):
        self._call = lambda: tenon._tenon.set_weights([session._native], source, {})
        self.swaps, self._stop = 0, False
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        while not self._stop:
            self._call()
            self.swaps += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop = True
        self._thread.join()


def test_others_run_while_use_weights_waits_for_a_swap(folder):
    session = tenon.compile(str(folder / "large1.onnx")).session()
    ours, theirs = session.weights, tenon._tenon.Source.open(str(folder / "large2.onnx"))
    moved = False
    with Counter() as counter, Swapper(session, theirs) as swapper:
        while not moved and swapper.swaps < 100:
            moved = counter.moved_during(lambda: session.use_weights(ours))
            time.sleep(0)  # lets the swapper go on
    assert moved

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
        assert counter.moved_during(call)


def test_others_run_while_use_weights_waits_for_a_swap(folder):
    session = tenon.compile(str(folder / "large1.onnx")).session()
    ours, theirs = session.weights, tenon._tenon.Source.open(str(folder / "large2.onnx"))
    done = threading.Event()

    def swap():
        while not done.is_set():
            tenon._tenon.set_weights([session._native], theirs, {})

    swapper = threading.Thread(target=swap)
    with Counter() as counter:
        swapper.start()
        try:
            assert any(counter.moved_during(lambda: session.use_weights(ours)) for _ in range(1000))
        finally:
            done.set()
            swapper.join()

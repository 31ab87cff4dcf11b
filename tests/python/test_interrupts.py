"""Ctrl-C while a model runs."""

import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from onnx import TensorProto, helper
from python.models import identity, model, tensor

import tenon

BOOL, INT64 = TensorProto.BOOL, TensorProto.INT64


def endless():
    """A Loop that nothing but a limit ends."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Identity", ["v"], ["next"])], "body",
        [tensor("i", INT64, []), tensor("go", BOOL, []), tensor("v", shape=[1])],
        [tensor("go_on", BOOL, []), tensor("next", shape=[1])])
    return model([helper.make_node("Loop", ["", "", "x"], ["y"], body=body)], [tensor("x", shape=[1])],
                 [tensor("y", shape=[1])])


SCRIPT = """
import os, signal, sys, threading
import numpy as np
import tenon

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
options = tenon.SessionOptions()
options.add_session_config_entry("tenon.loop_limit", str(10**15))
options.enable_profiling = "profile" in sys.argv
session = tenon.InferenceSession(sys.argv[1], options)
x = np.ones(1, np.float32)

def run():
    if "values" in sys.argv:
        return session.run_with_ort_values(None, {"x": tenon.OrtValue.ortvalue_from_numpy(x)})
    return session.run(None, {"x": x}, tenon.RunOptions() if "options" in sys.argv else None)

if "handler" in sys.argv:
    def handler(number, frame):
        raise OSError("of the handler")
    signal.signal(signal.SIGINT, handler)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    run()
except BaseException as error:
    print(type(error).__name__, error)
try:
    session.run(["no such"], {"x": x})
except Exception as error:
    print("then", type(error).__name__)
"""


def interrupted(tmp_path, *how):
    (tmp_path / "endless.onnx").write_bytes(endless())
    process = subprocess.run([sys.executable, "-c", SCRIPT, tmp_path / "endless.onnx", *how], cwd=tmp_path,
                             capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


@pytest.mark.parametrize("how", [[], ["options"], ["values"], ["profile"]], ids=lambda how: "".join(how) or "plain")
def test_ctrl_c_ends_a_run(tmp_path, how):
    assert interrupted(tmp_path, *how) == ["KeyboardInterrupt ", "then InvalidArgument"]


def test_other_handlers_are_called(tmp_path):
    assert interrupted(tmp_path, "handler")[0] == "OSError of the handler"


def test_uncaught_ctrl_c_ends_the_process(tmp_path):
    (tmp_path / "endless.onnx").write_bytes(endless())
    script = textwrap.dedent("""
        import signal, sys, numpy as np, tenon
        signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where tests run in the background
        session = tenon.InferenceSession(sys.argv[1])
        print("ready", flush=True)
        session.run(None, {"x": np.ones(1, np.float32)})
    """)
    process = subprocess.Popen([sys.executable, "-c", script, tmp_path / "endless.onnx"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert b"KeyboardInterrupt" in err


def test_signals_are_left_to_the_main_thread():
    """A run in another thread goes on while the main thread handles the signal."""
    session = tenon.InferenceSession(identity())
    x = np.ones(3, np.float32)
    caught, results = [], []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: caught.append(number))
    try:
        thread = threading.Thread(target=lambda: results.extend(session.run(None, {"x": x}) for _ in range(100)))
        thread.start()
        os.kill(os.getpid(), signal.SIGUSR1)
        thread.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert caught == [signal.SIGUSR1] and len(results) == 100

"""Runs in several threads, in the background, and stopped from outside."""

import threading

import numpy as np
import pytest
from python.models import add, long_running, state

import tenon

Y = np.array([10, 20], np.float32)
WAIT = 60  # seconds until a test gives up


def test_one_session_in_many_threads(ort):
    session = ort.InferenceSession(add())
    wrong = []

    def work(number):
        for rows in range(1, 20):
            x = np.full((rows, 2), number, np.float32)
            (z,) = session.run(None, {"x": x, "y": Y})
            if z.tolist() != [[10 + number, 20 + number]] * rows:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_other_threads_run_during_a_run():
    """A run is stopped by a thread that could not take a step if the run held the GIL."""
    session = tenon.InferenceSession(long_running(steps=20000))
    run = tenon.RunOptions()
    began, stopped = threading.Event(), threading.Event()

    def stop():
        began.wait(WAIT)
        run.terminate = True
        stopped.set()

    thread = threading.Thread(target=stop)
    thread.start()
    began.set()
    with pytest.raises(state(tenon).Fail, match="cancelled"):
        session.run(None, {"v0": np.eye(128, dtype=np.float32)}, run)
    assert stopped.wait(WAIT)
    thread.join()


def test_one_stop_for_several_runs():
    session = tenon.InferenceSession(long_running(steps=20000))
    run = tenon.RunOptions()
    outcomes = []

    def work():
        try:
            session.run(None, {"v0": np.eye(128, dtype=np.float32)}, run)
            outcomes.append("ended")
        except state(tenon).Fail:
            outcomes.append("stopped")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    run.terminate = True
    for thread in threads:
        thread.join()
    assert outcomes == ["stopped"] * 3


def options(ort):
    made = ort.SessionOptions()
    made.intra_op_num_threads = 2  # onnxruntime runs nothing in the background without
    return made


def in_background(session, feed, run_options=None):
    done, got = threading.Event(), []

    def callback(results, user_data, error):
        got.append((results, user_data, error))
        done.set()

    session.run_async(["z"], feed, callback, {"any": "thing"}, run_options)
    assert done.wait(WAIT)
    return got[0]


def test_runs_in_the_background(ort):
    session = ort.InferenceSession(add(), options(ort))
    results, user_data, error = in_background(session, {"x": np.ones((1, 2), np.float32), "y": Y})
    assert ([r.tolist() for r in results], user_data, error) == ([[[11, 21]]], {"any": "thing"}, "")


def test_errors_in_the_background(ort):
    session = ort.InferenceSession(add(), options(ort))
    results, _, error = in_background(session, {"x": np.ones((1, 2), np.float64), "y": Y})
    assert list(results) == [] and "double" in error
    with pytest.raises(ValueError, match="missing"):
        session.run_async(["z"], {"x": Y}, print, None)


def test_errors_of_callbacks_are_shown(monkeypatch):
    seen, shown = threading.Event(), []

    def hook(arguments):
        shown.append(arguments.exc_value)
        seen.set()

    monkeypatch.setattr(threading, "excepthook", hook)

    def callback(results, user_data, error):
        raise KeyError("mine")

    tenon.InferenceSession(add()).run_async(None, {"x": np.ones((1, 2), np.float32), "y": Y}, callback, None)
    assert seen.wait(WAIT) and shown[0].args == ("mine",)


def test_sessions_made_in_many_threads():
    data = add()
    results = []

    def work():
        results.append(tenon.InferenceSession(data).run(None, {"x": np.ones((1, 2), np.float32), "y": Y})[0].tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[[11, 21]]] * 8


COUNT_THREADS = """
import json, os, sys
import numpy as np
import tenon

def count():
    return len(os.listdir("/proc/self/task"))

wanted, entry = json.loads(sys.argv[1])
options = tenon.SessionOptions()
options.intra_op_num_threads = wanted
if entry is not None:
    options.add_session_config_entry("tenon.threads", entry)
before = count()
if sys.argv[2] == "session":
    session = tenon.InferenceSession("net.onnx", options)
else:
    session = tenon.Artifact.load("net_ctx.onnx").session(sess_options=options)
x = np.ones((512, 512), np.float32)
session.run(None, {"v0": x})
threads = count() - before
again = tenon.InferenceSession("net.onnx", tenon.SessionOptions()).run(None, {"v0": x})
print(json.dumps([threads, count() - before, tenon.system()["threads"]["quota"], float(again[0][0, 0])]))
"""


@pytest.mark.parametrize("made_from", ["session", "artifact"])
@pytest.mark.parametrize("wanted, entry, alone", [
    (1, None, True), (0, None, False), (-1, None, False), (2, None, False), (10**12, None, False), (0, "1", True),
    (1, "0", False),
])
def test_sessions_use_as_many_threads_as_they_are_given(tmp_path, made_from, wanted, entry, alone):
    """A session that is given one makes none; others share those of the process, one less than its CPUs."""
    import json

    from python.programs import run_python

    (tmp_path / "net.onnx").write_bytes(long_running(steps=2, size=512))
    tenon.compile(tmp_path / "net.onnx").save(tmp_path)
    done = run_python("-c", COUNT_THREADS, json.dumps([wanted, entry]), made_from, folder=tmp_path,
                      environment={"OPENBLAS_NUM_THREADS": "1"})
    made, later, quota, element = json.loads(done.stdout)
    helpers = max(1, int(quota)) - 1
    assert (made, later) == (0 if alone else helpers, helpers)
    assert element == 1

"""What is left when a program ends: nothing is said."""

import pytest
from python.models import add
from python.programs import run_python

START = """
import os, sys, threading
import numpy as np
import tenon
def session():
    return tenon.InferenceSession("net.onnx")
feed = {"x": np.ones((1, 2), np.float32), "y": np.ones(2, np.float32)}
"""

PROGRAMS = {
    "nothing": "",
    "a session of the module": "s = session(); z = s.run(None, feed)",
    "a caught error": "try:\n    session().run(None, {})\nexcept ValueError as error:\n    kept = error",
    "an error that names the model's inputs": "s = session()\ntry:\n    s.run(None, {'x': feed['x']})\n"
                                              "except Exception as error:\n    kept = error",
    "a native error": "try:\n    tenon.InferenceSession(b'garbage')\nexcept tenon.Error as error:\n    kept = error",
    "a native error of a run": "s = session()\ntry:\n    s.run(None, {'x': np.ones(5), 'y': 1})\n"
                               "except tenon.Error as error:\n    kept = error",
    "values": "v = tenon.OrtValue.ortvalue_from_numpy(feed['x']); a = v.numpy(); d = v._ortvalue",
    "a binding": "s = session(); b = s.io_binding()\nfor n, a in feed.items(): b.bind_cpu_input(n, a)\n"
                 "b.bind_output('z'); s.run_with_iobinding(b); kept = b.get_outputs()",
    "a cycle": "s = session(); s.me = s; s.z = s.run(None, feed); del s",
    "a type of an input": "s = session(); kept = s._native.input_type(0)",
    "another thread that holds everything": "s = session(); t = threading.Thread(target=lambda: s.run(None, feed))\n"
                                            "t.start(); t.join()",
    "run_async": "s = session(); done = threading.Event()\n"
                 "s.run_async(None, feed, lambda r, u, e: u.set(), done); done.wait()",
    "compiled": "a = tenon.compile('net.onnx'); s = a.session(); w = s.weights; s.run(None, feed)",
    "dlpack": "v = tenon.OrtValue.ortvalue_from_numpy(feed['x']); k = np.from_dlpack(v)",
    "options": "o = tenon.SessionOptions(); r = tenon.RunOptions(); s = tenon.InferenceSession('net.onnx', o)\n"
               "s.run(None, feed, r)",
    "a class that inherits": "class Mine(tenon.InferenceSession): pass\ns = Mine('net.onnx')",
    "a default argument": "def f(s=session()): return s.run(None, feed)\nf()",
    "an exit": "s = session(); sys.exit(0)",
    "a hard exit": "s = session(); os._exit(0)",
    "a module that is kept": "import builtins; builtins.kept = session()",
    "an exit function": "import atexit; s = session(); atexit.register(s.run, None, feed)",
    "a traceback": "s = session()\ntry:\n    s.run(['no'], feed)\nexcept Exception:\n    kept = sys.exc_info()",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "net.onnx").write_bytes(add())
    return tmp_path


@pytest.mark.parametrize("report", ["", "tenon._tenon.report_leaks()\n"], ids=["", "reported"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_end_quietly(folder, name, report):
    """Nothing is left behind even when that is looked for."""
    done = run_python("-c", START + report + PROGRAMS[name], folder=folder)
    assert (done.stdout, done.stderr) == ("", "")


DAEMONS = """
count = threading.Semaphore(0)
def work(run):
    while True:
        kept.append(run())
        count.release()
kept, s = [], session()
value = tenon.OrtValue.ortvalue_from_numpy
runs = [lambda: s.run(None, feed), lambda: tenon.InferenceSession("net.onnx"), lambda: tenon.compile("net.onnx"),
        lambda: s.run_with_ort_values(None, {name: value(array + 1) for name, array in feed.items()})]
for run in runs:
    threading.Thread(target=work, args=(run,), daemon=True).start()
for _ in range(20):
    count.acquire()
"""


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "import atexit; atexit.register(s.run, None, feed)",
                                    "class Last:\n    def __del__(self): self.run(None, self.feed)\n"
                                    "last = Last(); last.run, last.feed = s.run, feed"],
                         ids=["end", "exit", "exit function", "finalizer"])
def test_daemon_threads_do_not_outlive_the_interpreter(folder, ending):
    for _ in range(3):
        done = run_python("-c", START + DAEMONS + ending, folder=folder)
        assert (done.stdout, done.stderr) == ("", "")


def test_a_fork_while_other_threads_run(folder):
    """The child has none of the threads, and does not wait for them before its end."""
    done = run_python("-W", "ignore", "-c", START + DAEMONS + """
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
tenon._tenon.stop_other_threads()
os.write(1, b"child\\n")
os._exit(0)""", folder=folder)
    assert (done.stdout, done.stderr) == ("child\n", "")


@pytest.mark.parametrize("ending, last_line", [
    ("raise KeyboardInterrupt", "KeyboardInterrupt"), ("s.run(None, {'no': 1})", "are missing from input feed"),
    ("tenon.InferenceSession(b'garbage')", "InvalidModel"),
])
def test_programs_that_end_with_an_error_say_that_alone(folder, ending, last_line):
    done = run_python("-c", START + "s = session(); z = s.run(None, feed)\n" + ending, folder=folder, check=False)
    assert done.returncode != 0 and last_line in done.stderr.splitlines()[-1]
    assert "nanobind" not in done.stderr and "leak" not in done.stderr

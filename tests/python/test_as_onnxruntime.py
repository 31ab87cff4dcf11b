"""`python -m tenon.as_onnxruntime` and install_as_onnxruntime(): programs that import onnxruntime get Tenon."""

import json

import pytest
from python.models import add
from python.programs import TENON, run_python, told_by

PROGRAM = """
import json, os, sys
import onnxruntime, numpy as np
session = onnxruntime.InferenceSession(os.environ["MODEL"], providers=["CPUExecutionProvider"])
z = session.run(None, {"x": np.ones((1, 2), np.float32), "y": np.ones(2, np.float32)})[0]
print(json.dumps({
    "runtime": onnxruntime.InferenceSession.__module__.partition(".")[0],
    "arguments": sys.argv, "first path": sys.path[0], "name": __name__, "package": __package__,
    "main": sys.modules["__main__"].__dict__ is globals(), "file": globals().get("__file__"),
    "spec": getattr(__spec__, "name", None), "version": onnxruntime.__version__, "z": z.tolist(),
    "input": sys.stdin.read(),
}))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "net.onnx").write_bytes(add())
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(PROGRAM)
    return tmp_path


@pytest.mark.parametrize("arguments", [
    ["program.py", "a", "-m", "--flag"], ["-m", "program", "-c", "b"], ["-m", "package", "a"], ["package", "a"],
    ["-c", PROGRAM, "x", "-h"], ["-B", "-W", "error::UserWarning", "program.py"],
], ids=["script", "module", "package", "folder", "code", "options"])
def test_programs_run_as_under_python(folder, arguments):
    environment = {"MODEL": str(folder / "net.onnx")}
    theirs, ours = (json.loads(run_python(*way, *arguments, folder=folder, environment=environment, stdin="text").stdout)
                    for way in ((), TENON))
    assert (theirs.pop("runtime"), ours.pop("runtime")) == ("onnxruntime", "tenon")
    assert ours == theirs
    assert ours["version"] == "1.31.1" and ours["z"] == [[2, 2]] and ours["input"] == "text"


@pytest.mark.parametrize("code", [
    "import sys; sys.exit(3)", "raise SystemExit('text')", "def f():\n    raise ValueError('no')\nf()", "1 +",
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "import no_such_module", "import os; os._exit(7)",
])
def test_programs_end_as_under_python(tmp_path, code):
    (tmp_path / "program.py").write_text(f"import onnxruntime\n{code}\n")
    theirs, ours = (run_python(*way, "program.py", folder=tmp_path, check=False) for way in ((), TENON))
    assert (ours.returncode, ours.stdout, ours.stderr) == (theirs.returncode, theirs.stdout, theirs.stderr)


def test_options_of_python_are_kept():
    code = "import sys; print(sys.warnoptions, sys.flags.dont_write_bytecode, sys.flags.optimize)"
    for options in (["-W", "error", "-B", "-OO", "-m"], ["-W", "error", "-OOBm"], ["-Werror", "-BOO", "-m"]):
        assert run_python(*options, "tenon.as_onnxruntime", "-c", code).stdout == "['error'] 1 2\n"
    assert run_python("-OOmtenon.as_onnxruntime", "-c", code).stdout == "[] 0 2\n"


def test_the_command_says_how_it_is_used():
    shown = run_python(*TENON, "--help")
    assert "usage: python" in shown.stdout and "-m MODULE" in shown.stdout
    nothing = run_python(*TENON, check=False)
    assert nothing.returncode == 2 and "usage: python" in nothing.stderr
    isolated = run_python("-I", *TENON, "-c", "1", check=False)
    assert isolated.returncode == 2 and "started with -I or -E" in isolated.stderr


def test_what_libraries_ask():
    told = told_by("""
import importlib.metadata, importlib.util, json
spec = importlib.util.find_spec("onnxruntime")
import onnxruntime, onnxruntime.capi.onnxruntime_validation as validation
print(json.dumps([
    importlib.metadata.version("onnxruntime"), importlib.metadata.packages_distributions()["onnxruntime"][0],
    spec.name, spec.origin == onnxruntime.__file__, onnxruntime.version, onnxruntime.get_version_string(),
    onnxruntime.capi._pybind_state.get_version_string(), validation.get_package_name_and_version_info(),
    onnxruntime.package_name, onnxruntime.get_build_info().split()[0],
    str(importlib.metadata.distribution("onnxruntime").locate_file("onnxruntime/__init__.py")) == spec.origin,
]))""")
    assert told == ["1.31.1", "onnxruntime", "onnxruntime", True, "1.31.1", "1.31.1", "1.31.1",
                    ["onnxruntime", "1.31.1", ""], "onnxruntime", "Tenon", True]


def test_tenon_keeps_its_own_version():
    assert told_by("""
import json, onnxruntime, tenon
print(json.dumps([tenon.__version__ == tenon.system()["version"], tenon.__version__ != onnxruntime.__version__,
                  tenon.get_version_string() == tenon.__version__, tenon.package_name]))""") == [True] * 3 + ["tenon"]


def test_the_native_library_of_onnxruntime_is_not_loaded():
    """Not even by the parts that come from the installed package."""
    loaded = told_by("""
import json, pathlib
import onnxruntime, onnxruntime.backend, onnxruntime.datasets, onnxruntime.quantization
import onnxruntime.quantization.onnx_quantizer, onnxruntime.tools.onnx_model_utils
import onnxruntime.transformers.onnx_model
onnxruntime.InferenceSession(onnxruntime.datasets.get_example("sigmoid.onnx"))
print(json.dumps([line for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "onnxruntime" in line
                  and ".so" in line]))""")
    assert loaded == []


def test_parts_in_plain_python_come_from_the_installed_package():
    """io_binding_helper is what Hugging Face's Optimum imports; it needs torch to run."""
    import onnxruntime

    told = told_by("""
import importlib.util, json
names = ["quantization.calibrate", "tools.file_utils", "transformers.io_binding_helper", "backend.backend", "datasets"]
print(json.dumps([importlib.util.find_spec("onnxruntime." + name).origin for name in names]))""")
    folder = onnxruntime.__path__[0]
    assert told == [f"{folder}/{name}.py" for name in (
        "quantization/calibrate", "tools/file_utils", "transformers/io_binding_helper", "backend/backend",
        "datasets/__init__")]


QUANTIZE = """
import hashlib, json, sys
import onnx, onnxruntime
from onnxruntime.quantization import quantize_static, CalibrationDataReader
import numpy as np
class Reader(CalibrationDataReader):
    def __init__(self):
        self.feeds = iter([{"x": np.linspace(-k, k, 6, dtype=np.float32).reshape(1, 6)} for k in (1, 2, 3)])
    def get_next(self):
        return next(self.feeds, None)
quantize_static("float.onnx", sys.argv[1], Reader())
nodes = onnx.load(sys.argv[1]).graph
scales = {t.name: onnx.numpy_helper.to_array(t).tolist() for t in nodes.initializer}
print(json.dumps([onnxruntime.InferenceSession.__module__[:5], [n.op_type for n in nodes.node], scales]))
"""


def test_quantization_calibrates_with_tenon(tmp_path):
    """The tool is onnxruntime's, the runs that observe ranges are Tenon's."""
    import numpy as np
    from python.models import FLOAT, model, node, tensor

    weights = {"w": np.arange(-9, 9, dtype=np.float32).reshape(6, 3)}
    (tmp_path / "float.onnx").write_bytes(model(
        [node("MatMul", "x w", "y")], [tensor("x", FLOAT, ["n", 6])], [tensor("y", FLOAT, ["n", 3])], weights))
    (tmp_path / "quantize.py").write_text(QUANTIZE)
    theirs, ours = (json.loads(run_python(*way, "quantize.py", f"{len(way)}.onnx", folder=tmp_path).stdout)
                    for way in ((), TENON))
    assert (theirs.pop(0), ours.pop(0)) == ("onnxr", "tenon")
    assert ours == theirs and "QuantizeLinear" in ours[0]


def test_the_backend_of_onnx_runs_on_tenon():
    told = told_by("""
import json, numpy as np, onnx, onnxruntime.backend as backend
from onnxruntime.datasets import get_example
prepared = backend.prepare(onnx.load(get_example("sigmoid.onnx")), "CPU")
print(json.dumps([type(prepared._session).__module__, prepared.run(np.zeros((3, 4, 5), np.float32))[0].ravel().tolist(),
                  backend.supports_device("CPU"), backend.supports_device("CUDA")]))""")
    assert told == ["tenon._session", [0.5] * 60, True, False]


# In the process.

INSTALL = "import tenon; tenon.install_as_onnxruntime(); tenon.install_as_onnxruntime()\n"


def test_installing_in_a_program(tmp_path):
    (tmp_path / "program.py").write_text(INSTALL + """
import json, sys
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
print(json.dumps([onnxruntime.InferenceSession is tenon.InferenceSession, InvalidArgument.__module__,
                  sys.path[0], sum("_stand_in" in entry for entry in sys.path)]))""")
    assert json.loads(run_python("program.py", folder=tmp_path).stdout) == [True, "tenon._errors", str(tmp_path), 1]


def test_installing_after_onnxruntime_was_imported():
    done = run_python("-c", """
import json, os, sys
import onnxruntime, tenon
before = onnxruntime, list(sys.path), dict(os.environ)
try:
    tenon.install_as_onnxruntime()
except ImportError as error:
    import onnxruntime
    print(json.dumps([str(error), before == (onnxruntime, sys.path, dict(os.environ)), onnxruntime.__file__]))""")
    message, unchanged, file = json.loads(done.stdout)
    assert unchanged and file in message and "before anything imports it" in message


def test_a_folder_of_the_program_that_hides_tenon(tmp_path):
    (tmp_path / "onnxruntime").mkdir()
    (tmp_path / "onnxruntime" / "__init__.py").write_text("")
    done = run_python("-c", "import tenon; tenon.install_as_onnxruntime()", folder=tmp_path, check=False)
    assert str(tmp_path / "onnxruntime" / "__init__.py") in done.stderr and "hides" in done.stderr


CHILDREN = """
import json, multiprocessing, subprocess, sys
import onnxruntime

def runtime(_):
    import onnxruntime
    return onnxruntime.InferenceSession.__module__

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        runtimes = pool.map(runtime, [0])
    code = "import onnxruntime; print(onnxruntime.InferenceSession.__module__)"
    runtimes.append(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip())
    print(json.dumps(runtimes))
"""


@pytest.mark.parametrize("start", ["spawn", "forkserver", "fork"])
@pytest.mark.parametrize("installed", [False, True], ids=["command", "call"])
def test_child_processes_get_tenon_too(tmp_path, start, installed):
    (tmp_path / "program.py").write_text((INSTALL if installed else "") + CHILDREN)
    done = run_python(*(() if installed else TENON), "program.py", start, folder=tmp_path)
    assert json.loads(done.stdout) == ["tenon._session"] * 2


def test_children_of_another_python_that_has_no_tenon():
    """-S stands for it: without installed packages."""
    done = told_by("""
import json, subprocess, sys
done = subprocess.run([sys.executable, "-S", "-c", "import onnxruntime"], capture_output=True, text=True)
print(json.dumps([done.returncode, done.stderr.splitlines()[-1]]))""")
    assert done[0] == 1 and done[1].startswith("ImportError: Tenon stands in for onnxruntime, because PYTHONPATH names")
    assert "the package tenon is not installed in" in done[1]


def test_what_programs_pickle_can_be_read_without_the_name():
    done = run_python(*TENON, "-c", """
import pickle, onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
print(pickle.dumps([onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL, InvalidArgument("text")]).hex())""")
    code = f"import pickle; level, error = pickle.loads(bytes.fromhex('{done.stdout.strip()}')); print(level, error)"
    assert run_python("-c", code).stdout == "GraphOptimizationLevel.ORT_ENABLE_ALL text\n"


# Without an installed onnxruntime.

@pytest.fixture
def without_onnxruntime(tmp_path):
    """Options and environment of a Python that has Tenon and what it needs, and no onnxruntime."""
    import pathlib

    import numpy

    import tenon

    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "tenon").symlink_to(pathlib.Path(tenon.__file__).parent)
    for entry in pathlib.Path(numpy.__file__).parents[1].iterdir():
        if entry.name.startswith(("numpy", "ml_dtypes")):
            (packages / entry.name).symlink_to(entry)
    return {"PYTHONPATH": str(packages)}


def test_without_onnxruntime(without_onnxruntime, folder):
    told = told_by("""
import importlib.metadata, importlib.util, json, os
import onnxruntime
errors = []
for name in ("quantization", "tools", "transformers", "backend", "datasets"):
    for statement in (f"import onnxruntime.{name}", f"from onnxruntime import {name}"):
        try:
            exec(statement)
        except ModuleNotFoundError as error:
            errors.append([name, str(error)])
    assert not hasattr(onnxruntime, name)
session = onnxruntime.InferenceSession(os.environ["MODEL"])
print(json.dumps([importlib.metadata.version("onnxruntime"), importlib.util.find_spec("onnxruntime").name,
                  importlib.util.find_spec("onnxruntime.training") is None, errors,
                  [arg.name for arg in session.get_inputs()]]))""",
                   "-S", environment={**without_onnxruntime, "MODEL": str(folder / "net.onnx")})
    *rest, errors, inputs = told
    assert rest == ["1.31.1", "onnxruntime", True] and inputs == ["x", "y"] and len(errors) == 10
    for name, message in errors:
        assert f"onnxruntime.{name} " in message and "pip install onnxruntime" in message

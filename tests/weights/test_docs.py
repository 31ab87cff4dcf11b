"""The examples of docs/weights.md and docs/python.md, as they are written there, and what they leave behind."""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "weights.md").read_text()
TASKS = [section for section in re.split(r"^## ", TEXT, flags=re.M) if section[0].isdigit()]
BUILDING = TEXT.split("## Building")[1]
LIBRARIES = Path(tenon.__file__).parent
LANGUAGES = ("console", "cpp", "python")
ROWS = {"prefill": 12, "decode": 1}


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def block(text, language):
    [found] = blocks(text, language)
    return found


def weights_of(seed):
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal(shape, dtype=np.float32) for name, shape in (
        ("body.weight", (16, 16)), ("body.bias", (16,)), ("head.weight", (16, 8)), ("head.bias", (8,)))}


BASE, TUNED = weights_of(1), weights_of(2)
TUNED_WITH_BIAS = TUNED | {"head.bias": np.full(8, 0.25, np.float32)}


def stage(rows, weights):
    """A net of two layers at one static shape: prefill and decode differ in nothing but that."""
    nodes = [helper.make_node("MatMul", ["x", "body.weight"], ["a"]),
             helper.make_node("Add", ["a", "body.bias"], ["b"]),
             helper.make_node("Relu", ["b"], ["c"]), helper.make_node("MatMul", ["c", "head.weight"], ["d"]),
             helper.make_node("Add", ["d", "head.bias"], ["y"])]
    graph = helper.make_graph(nodes, "stage", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 16])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 8])],
                              [numpy_helper.from_array(array, name) for name, array in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def expected(rows, weights):
    """What the net gives for ones, of which sums are exact but for the rounding of 16 terms."""
    hidden = np.maximum(np.ones((rows, 16)) @ weights["body.weight"] + weights["body.bias"], 0)
    return hidden @ weights["head.weight"] + weights["head.bias"]


def check_output(output, rows, weights):
    np.testing.assert_allclose(np.reshape(output, (rows, 8)), expected(rows, weights), rtol=1e-4, atol=1e-4)


def check_file(path, rows, weights):
    session = tenon.InferenceSession(path)
    assert session.get_inputs()[0].shape == [rows, 16]
    check_output(session.run(None, {"x": np.ones((rows, 16), np.float32)})[0], rows, weights)


def check_group(folder, weights):
    for name, rows in ROWS.items():
        check_file(folder / f"{name}_ctx.onnx", rows, weights)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The files that the examples begin with."""
    folder = tmp_path_factory.mktemp("docs")
    for name, rows in ROWS.items():
        onnx.save(stage(rows, BASE), folder / f"{name}.onnx")
    onnx.save(stage(1, TUNED), folder / "tuned.onnx")
    tenon.compile(folder / "tuned.onnx", sources="embed").export(folder / "tuned.safetensors")
    artifact = tenon.compile([folder / f"{name}.onnx" for name in ROWS])
    artifact.save(folder / "compiled")
    artifact.bake(folder / "tuned.safetensors")[0].save(folder / "tuned")
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "work"))


@pytest.fixture(scope="module")
def programs(made):
    """One program with a function per task, since compiling takes most of the time. Each ends with the outputs of its
    session for ones."""
    show = ("void show(const tenon::Session& session) {\n"
            "  std::vector<float> x(static_cast<size_t>((*session.input_type(0).dims())[0]) * 16, 1.0f);\n"
            "  const auto y = session.run({tenon::Value::tensor<float>(*session.input_type(0).dims(), x)});\n"
            '  for (float v : y[0].data<float>()) std::printf("%.9g ", v);\n'
            "}\n")
    functions = "".join(f"void task{i}() {{\n{block(task, 'cpp')}show(session);\n}}\n" for i, task in enumerate(TASKS))
    calls = "".join(f"if (argv[1][0] == '{i}') task{i}();\n" for i in range(len(TASKS)))
    main = f"int main(int, char** argv) {{\n{calls}}}\n"
    (made / "tasks.cpp").write_text(f"#include <cstdio>\n#include <tenon/tenon.hpp>\n{show}{functions}{main}")
    libraries = [str(LIBRARIES / f"lib{name}.so.0") for name in ("tenon", "tenon_runtime")]
    subprocess.run(["g++", "-std=c++20", "-O0", f"-I{ROOT / 'include'}", "tasks.cpp", "-o", "tasks", *libraries,
                    f"-Wl,-rpath,{LIBRARIES}"], cwd=made, check=True)
    return made / "tasks"


def run_commands(number, folder):
    for line in block(TASKS[number], "console").splitlines():
        if line.startswith("$ "):  # the others show what a command prints
            subprocess.run(line.removeprefix("$ "), shell=True, cwd=folder, check=True, capture_output=True)


def run_program(number, folder, programs):
    return subprocess.run([programs, str(number)], cwd=folder, check=True, capture_output=True, text=True).stdout


def run_python(number, folder):
    code = (f"import numpy, tenon\n{block(TASKS[number], 'python')}"
            "ones = numpy.ones(session.get_inputs()[0].shape, numpy.float32)\n"
            "numpy.savetxt('session.txt', session.run(None, {'x': ones})[0])\n")
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, capture_output=True)
    return (folder / "session.txt").read_text()


def run_here(code, scope, folder):
    """Runs code of a page in this process, in a folder; what it prints."""
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        exec(code, scope)
    return printed.getvalue()


COMPILE, RUN, REPLACE, BAKE, FILL, SWITCH, BUILD = range(7)
# What is run: every task in every language that it has.
EXAMPLES = [(number, language) for number, task in enumerate(TASKS) for language in LANGUAGES if blocks(task, language)]
# The weights that the session of a task has in the end.
SESSIONS = [BASE, BASE, TUNED_WITH_BIAS, TUNED, TUNED, TUNED, BASE]
# Files that a task makes anew, and what they then hold.
REMOVED = {COMPILE: "compiled", BAKE: "tuned", BUILD: "compiled"}
GROUPS = {(COMPILE, "console"): ("compiled", BASE), (COMPILE, "cpp"): ("compiled", BASE),
          (COMPILE, "python"): ("compiled", BASE), (BAKE, "console"): ("tuned", TUNED), (BAKE, "cpp"): ("tuned", TUNED),
          (BAKE, "python"): ("tuned", TUNED), (SWITCH, "console"): ("compiled", TUNED),
          (SWITCH, "cpp"): ("compiled", BASE), (SWITCH, "python"): ("compiled", BASE),
          (BUILD, "cpp"): ("compiled", BASE), (BUILD, "python"): ("compiled", BASE)}
DECODERS = {(REPLACE, "console"): "tuned_ctx.onnx", (FILL, "console"): "filled_ctx.onnx"}


def test_there_are_seven_tasks_in_three_languages():
    assert len(TASKS) == 7
    assert EXAMPLES == [(number, language) for number in range(7) for language in LANGUAGES
                        if (number, language) != (BUILD, "console")]


@pytest.mark.parametrize("number, language", EXAMPLES)
def test_task(number, language, folder, programs):
    if number in REMOVED:
        shutil.rmtree(folder / REMOVED[number])
    if language == "console":
        run_commands(number, folder)
    else:
        shown = run_program(number, folder, programs) if language == "cpp" else run_python(number, folder)
        check_output([float(word) for word in shown.split()], 1, SESSIONS[number])
    if (number, language) in GROUPS:
        name, weights = GROUPS[number, language]
        check_group(folder / name, weights)
    if (number, language) in DECODERS:
        check_file(folder / DECODERS[number, language], 1, TUNED)


def test_examples_of_the_python_page(folder):
    page = (ROOT / "docs" / "python.md").read_text()
    [section] = [text for text in re.split(r"^## ", page, flags=re.M) if text.startswith("Compiled models")]
    sessions = []
    scope = {"tenon": tenon, "numpy": np}
    for code in blocks(section, "python"):
        shown = run_here(code, scope, folder)
        sessions.append(scope["session"].run(None, {"x": np.ones((1, 16), np.float32)})[0])
        assert "replaced" not in code or "4 replaced, 0 kept" in shown
    for output, weights in zip(sessions, [BASE, TUNED, TUNED], strict=True):
        check_output(output, 1, weights)
    check_group(folder / "app", BASE)
    check_group(folder / "tuned_app", TUNED)


def test_examples_are_short():
    for task in TASKS:
        assert len(block(task, "cpp").splitlines()) <= 6
        assert len(block(task, "python").splitlines()) <= 6


def test_names_for_files_go_in_the_order_of_the_models(folder):
    artifact = tenon.compile([folder / "prefill.onnx", folder / "decode.onnx"])
    assert artifact.models == ["prefill", "decode"]
    artifact.save(folder / "named", ["a.onnx", "b.onnx"])
    check_file(folder / "named" / "a.onnx", 12, BASE)
    check_file(folder / "named" / "b.onnx", 1, BASE)


def test_baked_tensors_are_those_of_a_compile(folder):
    baked, _ = tenon.compile(folder / "decode.onnx").bake(folder / "tuned.onnx")
    fresh = tenon.compile(folder / "tuned.onnx")
    keys = [sorted(entry["key"] for entry in one.describe("packed")["packed"]) for one in (baked, fresh)]
    assert keys[0] == keys[1]


def test_values_of_constant_nodes_stay(tmp_path):
    """Of a model without weights, the initializers are all that has to be set."""
    model = stage(1, BASE)
    [scale] = [tensor for tensor in model.graph.initializer if tensor.name == "head.bias"]
    model.graph.initializer.remove(scale)
    model.graph.node.insert(0, helper.make_node("Constant", [], ["head.bias"], value=scale))
    rest = {name: array for name, array in TUNED.items() if name != "head.bias"}
    for empty in (tenon.compile(model.SerializeToString(), defer_weights=True),
                  tenon.compile(model.SerializeToString(), sources="embed").strip()):
        session = empty.session()
        session.set_weights(rest)
        check_output(session.run(None, {"x": np.ones((1, 16), np.float32)})[0], 1,
                     TUNED | {"head.bias": BASE["head.bias"]})


@pytest.fixture(scope="module")
def torch_nets():
    """A net with all that exporters fold, a tuned one, and an input."""
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8)
            self.zero, self.head = torch.nn.Linear(8, 5), torch.nn.Linear(5, 4, bias=False)
            torch.nn.init.zeros_(self.zero.bias)

        def forward(self, x):
            pooled = torch.relu(self.norm(self.conv(x))).mean((2, 3))
            return self.head(torch.relu(self.zero(pooled)).unsqueeze(1))

    torch.manual_seed(0)
    net, tuned = Net().eval(), Net().eval()
    with torch.no_grad():
        for tensor in (*tuned.parameters(), tuned.norm.running_mean):
            tensor.add_(torch.randn_like(tensor) * 0.1)
        tuned.norm.running_var.uniform_(0.5, 2)
    return torch, net, tuned, torch.randn(1, 3, 8, 8)


def torch_weights(path):
    return {tensor.name for tensor in onnx.load(path).graph.initializer}


def save_safetensors(path, tensors):
    """What safetensors.torch.save_file writes."""
    names, offset, header = {"torch.float32": "F32", "torch.int64": "I64"}, 0, {}
    for name, tensor in tensors.items():
        end = offset + tensor.nbytes
        header[name] = {"dtype": names[str(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    data = b"".join(tensor.numpy().tobytes() for tensor in tensors.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_torch_example(torch_nets, tmp_path, monkeypatch):
    torch, net, tuned, x = torch_nets
    monkeypatch.chdir(tmp_path)
    save_safetensors(tmp_path / "tuned.safetensors", tuned.state_dict())
    code = block(TEXT.split("## Weights of PyTorch models")[1], "python")
    wanted = tuned(x).detach().numpy()
    scope = {"torch": torch, "tenon": tenon, "net": net, "tuned": tuned, "x": x}
    for line in code.splitlines():
        exec(line, scope)
        if "set_weights" in line:
            session = scope["session"]
            feed = {session.get_inputs()[0].name: x.numpy()}
            np.testing.assert_allclose(session.run(None, feed)[0], wanted, rtol=1e-4, atol=1e-5)
            session.set_weights("net.onnx")  # so that the next line has something to do
    names = {name for name in net.state_dict() if not name.endswith("num_batches_tracked")}
    assert names <= torch_weights("net.onnx")


def test_torch_example_with_tenon(torch_nets, tmp_path):
    """export_pytorch folds nothing either."""
    torch, net, tuned, x = torch_nets
    for dynamo in (True, False):
        tenon.export_pytorch(net, (x,), tmp_path / "net.onnx", dynamo=dynamo, overwrite=True)
        names = {name for name in net.state_dict() if not name.endswith("num_batches_tracked")}
        assert names <= torch_weights(tmp_path / "net.onnx")
        session = tenon.compile(tmp_path / "net.onnx").session()
        session.set_weights({name: tuned.state_dict()[name] for name in names}, strict=True)
        actual = session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]
        np.testing.assert_allclose(actual, tuned(x).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_what_torch_folds(torch_nets, tmp_path):
    """The table of the page."""
    torch, net, tuned, x = torch_nets

    def exported(which, name, **options):
        torch.onnx.export(which, (x,), tmp_path / name, **options)
        return torch_weights(tmp_path / name)

    names = {name for name in net.state_dict() if not name.endswith("num_batches_tracked")}
    old = exported(net, "old.onnx", dynamo=False)
    assert not any(name.startswith(("conv", "norm")) for name in old)
    assert any(name.startswith("onnx::Conv_") for name in old) and any(name.startswith("onnx::MatMul_") for name in old)
    assert names <= exported(tuned, "plain.onnx", dynamo=False, do_constant_folding=False)
    once = exported(net, "once.onnx", dynamo=False, do_constant_folding=False)
    assert len({"norm.weight", "norm.running_var"} & once) == 1  # both are all ones
    new = exported(net, "new.onnx", dynamo=True)
    assert "conv.weight" in new and not any(name.startswith("norm") for name in new)
    assert "zero.bias" not in new and any(name.startswith("val_") for name in new)
    # A model that is exported again has a bias more, and only strict notices.
    assert "zero.bias" in exported(tuned, "tuned.onnx", dynamo=True)
    session = tenon.compile(tmp_path / "new.onnx").session()
    assert session.set_weights(tmp_path / "tuned.onnx")["ignored"] == ["zero.bias"]
    with pytest.raises(tenon.Error, match="zero.bias"):
        session.set_weights(tmp_path / "tuned.onnx", strict=True)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """An installed Tenon beside a program that loads a compiled model."""
    folder = tmp_path_factory.mktemp("building")
    subprocess.run(["cmake", "--install", ROOT / "build" / "release", "--prefix", folder / "tenon"], check=True,
                   capture_output=True)
    (folder / "app.cpp").write_text(
        "#include <cstdio>\n#include <tenon/tenon.hpp>\n"
        "int main(int, char** argv) {\n"
        '  tenon::Artifact::compile("net", tenon::Model::load(argv[1])).session();\n'
        '  std::puts(tenon::version().c_str());\n}\n')
    return folder


def check_app(app, folder, environment=None):
    done = subprocess.run([app, folder / "decode.onnx"], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == tenon.__version__, done.stderr


def without_library_path():
    return {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}


def test_building_with_cmake(installed, folder, tmp_path):
    (installed / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(app LANGUAGES CXX)\n{block(BUILDING, 'cmake')}")
    for command in (["-S", installed, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={installed / 'tenon'}"],
                    ["--build", tmp_path / "build"]):
        subprocess.run(["cmake", *command], check=True, capture_output=True)
    check_app(tmp_path / "build" / "app", folder, without_library_path())


def test_building_by_hand(installed, folder):
    headers, libraries = str(installed / "tenon" / "include"), str(installed / "tenon" / "lib")
    environment = os.environ | {"CPATH": headers, "LIBRARY_PATH": libraries, "LD_LIBRARY_PATH": libraries}
    subprocess.run(block(BUILDING, "sh"), shell=True, check=True, cwd=installed, env=environment)
    check_app(installed / "app", folder, environment)

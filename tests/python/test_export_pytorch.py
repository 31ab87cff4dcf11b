"""tenon.export_pytorch: models of PyTorch in normal form, with both exporters."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

import tenon

DOCS = Path(__file__).parents[2] / "docs" / "python.md"
BOTH = pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "torchscript"])


@pytest.fixture(scope="module")
def modules():
    from python import torch_modules

    return torch_modules


@pytest.fixture(scope="module")
def torch(modules):
    return modules.torch


def batch_options(torch, dynamo, inputs):
    """Options for an exporter that leave the first extent of the inputs open."""
    if dynamo:
        batch = torch.export.Dim("batch")
        return {"dynamic_shapes": [{0: batch} for _ in inputs]}
    return {"dynamic_axes": {name: {0: "batch"} for name in inputs}}


def feed_of(session, args):
    return {value.name: arg.numpy() for value, arg in zip(session.get_inputs(), args)}


def initializers(path):
    return {tensor.name: tensor for tensor in onnx.load(path).graph.initializer}


class TestModels:
    @BOTH
    @pytest.mark.parametrize("file_bytes", [None, 0], ids=["inside", "outside"])
    @pytest.mark.parametrize("kind", ["mlp", "cnn", "transformer"])
    def test_they_compute_the_same(self, modules, torch, tmp_path, kind, dynamo, file_bytes):
        module, args, more_args, (inputs, outputs) = modules.made(kind)
        path = tmp_path / "net.onnx"
        report = tenon.export_pytorch(module, args, path, dynamo=dynamo, input_names=inputs, output_names=outputs,
                                      file_bytes=file_bytes, **batch_options(torch, dynamo, inputs))
        assert report["written"] == "model" and report["output"] == str(path)
        assert (tmp_path / "net.onnx.data").exists() == (file_bytes == 0)
        onnx.checker.check_model(str(path), full_check=True)
        session = tenon.InferenceSession(path)
        assert [value.name for value in session.get_inputs()] == inputs
        assert [value.name for value in session.get_outputs()] == outputs
        for given in (args, more_args):
            modules.assert_close(session.run(None, feed_of(session, given)), modules.expected(module, given))

    @BOTH
    @pytest.mark.parametrize("file_bytes", [None, 0], ids=["inside", "outside"])
    def test_nothing_is_left_to_normalize(self, modules, tmp_path, dynamo, file_bytes):
        module, args, _, _ = modules.made("cnn")
        path = tmp_path / "net.onnx"
        tenon.export_pytorch(module, args, path, dynamo=dynamo, file_bytes=file_bytes)
        report = tenon.optimize(path, tmp_path / "again.onnx")
        assert (report["status"], report["evidence"]) == ("already normalized", "stamp")
        assert tenon.optimize(path, tmp_path / "forced.onnx", force=True)["changes"] == []
        report = tenon.build(path, output_dir=tmp_path / "out", stages={}, cache=False)
        stage = report["models"][0]["stages"]["optimize"]
        assert stage["status"] == "skipped" and "stamp" in stage["why"]

    @BOTH
    def test_weights_keep_their_names_and_values(self, modules, tmp_path, dynamo):
        module, args, _, _ = modules.made("cnn")
        tenon.export_pytorch(module, args, tmp_path / "net.onnx", dynamo=dynamo, file_bytes=0)
        state = module.state_dict()
        del state["norm.num_batches_tracked"]  # which nothing reads
        written = initializers(tmp_path / "net.onnx")
        assert state.keys() <= written.keys()
        for name, tensor in state.items():
            assert written[name].raw_data == modules.elements(tensor), name

    @BOTH
    def test_equal_weights_stay_apart(self, modules, torch, tmp_path, dynamo):
        """Of a module that was not trained, many are equal."""
        module, args, _, _ = modules.made("transformer")
        assert torch.equal(module.before.weight, module.after.weight)
        tenon.export_pytorch(module, args, tmp_path / "net.onnx", dynamo=dynamo)
        names = set(module.state_dict()) - {"embedding.weight", "head.weight"}  # which are one
        assert names <= initializers(tmp_path / "net.onnx").keys()

    @BOTH
    def test_a_state_dict_fits(self, modules, tmp_path, dynamo):
        module, args, _, _ = modules.made("mlp")
        tenon.export_pytorch(module, args, tmp_path / "net.onnx", dynamo=dynamo)
        session = tenon.InferenceSession(tmp_path / "net.onnx")
        tuned = {name: tensor * 0.5 for name, tensor in module.state_dict().items()}
        session.set_weights(tuned)
        module.load_state_dict(tuned)
        modules.assert_close(session.run(None, feed_of(session, args)), modules.expected(module, args))

    def test_script_modules(self, modules, torch, tmp_path):
        module, args, _, _ = modules.made("mlp")
        tenon.export_pytorch(torch.jit.script(module), args, tmp_path / "net.onnx", dynamo=False, input_names=["x", "shift"])
        assert module.state_dict().keys() <= initializers(tmp_path / "net.onnx").keys()
        session = tenon.InferenceSession(tmp_path / "net.onnx")
        assert [value.name for value in session.get_inputs()] == ["x", "shift"]
        modules.assert_close(session.run(None, feed_of(session, args)), modules.expected(module, args))


class TestOptions:
    @BOTH
    def test_capabilities(self, modules, tmp_path, dynamo):
        module, args, _, _ = modules.made("transformer")
        ops = {}
        for enabled in (False, True):
            path = tmp_path / f"{enabled}.onnx"
            tenon.export_pytorch(module, args, path, dynamo=dynamo, opset_version=18 if dynamo else 17, fuse_gelu=enabled,
                                 fold_weights=enabled)
            ops[enabled] = {node.op_type for node in onnx.load(path).graph.node}
            session = tenon.InferenceSession(path)
            modules.assert_close(session.run(None, feed_of(session, args)), modules.expected(module, args))
        assert "Gelu" in ops[True] and "Erf" not in ops[True]
        assert "Gelu" not in ops[False] and "Erf" in ops[False]

    @BOTH
    def test_arguments_of_the_exporter(self, modules, torch, tmp_path, dynamo):
        module, (x, shift), _, _ = modules.made("mlp")
        path = tmp_path / "net.onnx"
        tenon.export_pytorch(module, (x,), path, kwargs={"shift": shift}, dynamo=dynamo, opset_version=18,
                             input_names=["x", "shift"], output_names=["y", "hidden"],
                             export_options={"custom_opsets": {"test.domain": 1}})
        model = onnx.load(path)
        assert {opset.domain: opset.version for opset in model.opset_import}[""] == 18
        assert [value.name for value in model.graph.output] == ["y", "hidden"]
        session = tenon.InferenceSession(path)
        assert session.get_inputs()[1].name == "shift"
        modules.assert_close(session.run(None, feed_of(session, (x, shift))), modules.expected(module, (x, shift)))

    def test_an_existing_file_is_replaced_when_asked(self, modules, tmp_path):
        module, args, _, _ = modules.made("mlp")
        path = tmp_path / "net.onnx"
        for _ in range(2):
            tenon.export_pytorch(module, args, path, dynamo=False, file_bytes=0, overwrite=True)
            assert len(os.listdir(tmp_path)) == 2
        session = tenon.InferenceSession(path)
        modules.assert_close(session.run(None, feed_of(session, args)), modules.expected(module, args))


class TestTensors:
    @BOTH
    @pytest.mark.parametrize("kind", ["one parameter", "one memory"])
    def test_shared_weights_are_stored_once(self, modules, torch, tmp_path, dynamo, kind):
        module = modules.Transformer(words=5000).eval()
        if kind == "one memory":
            module.head.weight = torch.nn.Parameter(module.embedding.weight.detach())
        args = (torch.randint(0, 60, (1, 7)),)
        tenon.export_pytorch(module, args, tmp_path / "net.onnx", dynamo=dynamo)
        written = sum(file.stat().st_size for file in tmp_path.iterdir())
        weights = sum(tensor.nbytes for name, tensor in module.named_parameters() if name != "head.weight")
        assert weights < written < weights + module.embedding.weight.nbytes / 2
        names = initializers(tmp_path / "net.onnx").keys() & {"embedding.weight", "head.weight"}
        assert len(names) == (2 if kind == "one memory" else 1)
        session = tenon.InferenceSession(tmp_path / "net.onnx")
        modules.assert_close(session.run(None, feed_of(session, args)), modules.expected(module, args))

    @BOTH
    @pytest.mark.parametrize("file_bytes", [None, 0], ids=["inside", "outside"])
    def test_types_and_layouts(self, modules, torch, tmp_path, dynamo, file_bytes):
        random = torch.rand(40, 50)
        types = ["float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"]
        tensors = {f"of_{name}": (100 * random).to(getattr(torch, name)) for name in types}
        if dynamo:
            tensors |= {f"of_{name}": random.to(getattr(torch, name)) for name in ("float8_e4m3fn", "float8_e5m2")}
        tensors |= {"transposed": torch.rand(50, 40).t(), "every_other": torch.rand(40, 100)[:, ::2],
                    "expanded": torch.rand(50).expand(40, 50), "scalar": torch.tensor(2.5), "empty": torch.empty(0, 3),
                    "channels_last": torch.rand(2, 30, 5, 6).to(memory_format=torch.channels_last)}
        module = modules.Buffers(**tensors)
        path = tmp_path / "net.onnx"
        tenon.export_pytorch(module, (torch.zeros(2),), path, dynamo=dynamo, file_bytes=file_bytes,
                             output_names=["y", *(f"{name}_out" for name in tensors)])
        results = tenon.InferenceSession(path).run(None, {onnx.load(path).graph.input[0].name: np.zeros(2, np.float32)})
        for (name, tensor), result in zip(tensors.items(), results[1:]):
            assert result.shape == tuple(tensor.shape), name
            assert result.tobytes() == modules.elements(tensor), name

    @BOTH
    def test_no_second_copy_in_memory(self, tmp_path, dynamo):
        """Neither the weights nor a model with them is copied: the process grows by much less than they take. (The exporter
        on TorchScript copies the weights of one node at a time.)"""
        program = """
import json, resource, sys
import torch, tenon
import torch.onnx

class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(width, width) for _ in range(16)])
    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

options = dict(dynamo=json.loads(sys.argv[1]), file_bytes=json.loads(sys.argv[3]), overwrite=True)
tenon.export_pytorch(Net(64), (torch.zeros(1, 64),), sys.argv[2] + "/first.onnx", **options)  # imports and caches
net = Net(2048)
weights = sum(tensor.nbytes for tensor in net.parameters())
before = peak()
tenon.export_pytorch(net, (torch.zeros(1, 2048),), sys.argv[2] + "/net.onnx", **options)
print(json.dumps([weights, peak() - before]))
"""
        for file_bytes in (None, 0):
            told = subprocess.run([sys.executable, "-c", program, json.dumps(dynamo), tmp_path, json.dumps(file_bytes)],
                                  check=True, capture_output=True, text=True).stdout
            weights, growth = json.loads(told.splitlines()[-1])
            assert growth < weights / 3, file_bytes
            assert (tmp_path / "net.onnx.data").exists() == (file_bytes == 0)

    @BOTH
    def test_what_torch_serializes_has_no_weights(self, modules, torch, tmp_path, dynamo, monkeypatch):
        from tenon import _pytorch

        sizes, load = [], _pytorch.load_native
        monkeypatch.setattr(_pytorch, "load_native", lambda model, *more: sizes.append(len(model)) or load(model, *more))
        module = modules.Transformer(words=5000).eval()
        tenon.export_pytorch(module, (torch.randint(0, 60, (1, 7)),), tmp_path / "net.onnx", dynamo=dynamo)
        assert sizes[0] < 200_000 < module.embedding.weight.nbytes

    @BOTH
    def test_weights_without_values(self, torch, tmp_path, dynamo):
        with torch.device("meta"):
            module = torch.nn.Linear(64, 64)
        with pytest.raises(Exception, match="meta"):
            tenon.export_pytorch(module, (torch.zeros(1, 64, device="meta"),), tmp_path / "net.onnx", dynamo=dynamo)
        assert not list(tmp_path.iterdir())


def test_the_example_of_the_docs(modules, torch, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = DOCS.read_text().split("### Models of PyTorch")[1].split("```python\n")[1].split("```")[0]
    scope = {"torch": torch, "tenon": tenon}
    exec(code, scope)
    x = torch.randn(5, 16)
    modules.assert_close(scope["session"].run(None, {"x": x.numpy()}), modules.expected(scope["module"], (x,)))


class TestErrors:
    """Found before the export, which may take long: these calls give no module."""

    def test_torch_is_missing(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "torch", None)
        with pytest.raises(ImportError, match="needs PyTorch .*install the package torch"):
            tenon.export_pytorch(None, (), tmp_path / "net.onnx")

    def test_torch_is_too_old(self, torch, tmp_path, monkeypatch):
        monkeypatch.setattr(torch, "__version__", "2.1.0+cpu")
        with pytest.raises(ImportError, match="needs PyTorch 2.6 or newer; 2.1.0"):
            tenon.export_pytorch(None, (), tmp_path / "net.onnx")

    @pytest.mark.parametrize("dynamo, package", [(True, "onnxscript"), (False, "onnx")])
    def test_a_package_of_the_exporter_is_missing(self, torch, tmp_path, monkeypatch, dynamo, package):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=f"install the package {package}"):
            tenon.export_pytorch(None, (), tmp_path / "net.onnx", dynamo=dynamo)

    def test_what_is_wrong_is_said_first(self, tmp_path):
        with pytest.raises(tenon.Error, match="no-such"):
            tenon.export_pytorch(None, (), tmp_path / "net.onnx", no_such=True)
        with pytest.raises(tenon.Error, match="folder .*none"):
            tenon.export_pytorch(None, (), tmp_path / "none" / "net.onnx")
        with pytest.raises(ValueError, match="export_params"):
            tenon.export_pytorch(None, (), tmp_path / "net.onnx", export_options={"export_params": True})
        with pytest.raises(ValueError, match="'opset_version' is given twice"):
            tenon.export_pytorch(None, (), tmp_path / "net.onnx", opset_version=18, export_options={"opset_version": 18})
        with pytest.raises(ValueError, match="dynamic_axes"):
            tenon.export_pytorch(None, (), tmp_path / "net.onnx", dynamo=False, dynamic_shapes=[{}])
        (tmp_path / "net.onnx").write_text("mine")
        with pytest.raises(FileExistsError, match="overwrite=True"):
            tenon.export_pytorch(None, (), tmp_path / "net.onnx")
        assert Path(tmp_path / "net.onnx").read_text() == "mine"

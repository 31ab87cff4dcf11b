"""tenon.optimize, tenon.analyze and staged builds."""

import json

import numpy as np
import onnx
import pytest
from python.models import model, node, tensor

import tenon
from tenon import _optimize


def messy():
    """A product with a node that the normal form has not."""
    return model([node("MatMul", "x w", "a"), node("Identity", "a", "b"), node("Relu", "b", "y")],
                 [tensor("x", shape=[2, 2])], [tensor("y", shape=[2, 2])], {"w": np.eye(2, dtype=np.float32)})


def ops(content):
    return [n.op_type for n in onnx.load_from_string(content).graph.node]


class TestOptimize:
    def test_bytes(self):
        optimized = tenon.optimize(messy())
        assert isinstance(optimized, bytes) and ops(optimized) == ["MatMul", "Relu"]
        assert tenon.optimize(optimized) == optimized

    def test_model_proto(self):
        optimized = tenon.optimize(onnx.load_from_string(messy()))
        assert isinstance(optimized, onnx.ModelProto) and [n.op_type for n in optimized.graph.node] == ["MatMul", "Relu"]

    def test_path(self, tmp_path):
        (tmp_path / "m.onnx").write_bytes(messy())
        assert ops(tenon.optimize(tmp_path / "m.onnx")) == ["MatMul", "Relu"]
        report = tenon.optimize(tmp_path / "m.onnx", tmp_path / "out.onnx")
        assert report["status"] == "optimized" and report["nodes"] == {"before": 3, "after": 2}
        assert ops((tmp_path / "out.onnx").read_bytes()) == ["MatMul", "Relu"]
        report = tenon.optimize(tmp_path / "out.onnx", tmp_path / "again.onnx")
        assert report["status"] == "already normalized" and report["evidence"] == "stamp"
        assert tenon.optimize(tmp_path / "out.onnx", tmp_path / "forced.onnx", force=True)["status"] == "optimized"

    def test_an_existing_output(self, tmp_path):
        (tmp_path / "m.onnx").write_bytes(messy())
        with pytest.raises(FileExistsError, match="overwrite=True"):
            tenon.optimize(tmp_path / "m.onnx", tmp_path / "m.onnx")
        assert tenon.optimize(tmp_path / "m.onnx", tmp_path / "m.onnx", overwrite=True)["written"] == "model"
        assert ops((tmp_path / "m.onnx").read_bytes()) == ["MatMul", "Relu"]

    @pytest.mark.parametrize("kind", [bytes, onnx.ModelProto.FromString], ids=["bytes", "proto"])
    def test_into_a_file(self, tmp_path, kind):
        report = tenon.optimize(kind(messy()), tmp_path / "out.onnx")
        assert report["status"] == "optimized" and ops((tmp_path / "out.onnx").read_bytes()) == ["MatMul", "Relu"]
        with pytest.raises(FileExistsError):
            tenon.optimize(kind(messy()), tmp_path / "out.onnx")
        tenon.optimize(kind(messy()), tmp_path / "out.onnx", overwrite=True)

    def test_keywords_that_nothing_takes(self, tmp_path):
        (tmp_path / "m.onnx").write_bytes(messy())
        with pytest.raises(tenon.Error, match="unknown capability 'overwite'"):
            tenon.optimize(messy(), overwite=True)
        for call in (tenon.optimize, tenon.analyze):
            with pytest.raises(TypeError, match="target='cpu' is no parameter, and as a capability it must be True or False"):
                call(messy(), target="cpu")

    def test_capabilities(self):
        assert ops(tenon.optimize(messy(), remove_no_ops=False)) == ["MatMul", "Identity", "Relu"]
        assert "remove-no-ops" in [capability["name"] for capability in tenon.capabilities()]
        with pytest.raises(tenon.Error, match="no-such"):
            tenon.optimize(messy(), no_such=True)


def outside(folder, name="weights.bin", rows=300):
    """A ModelProto with its weight in a file of the folder: y = relu(x * w), once more by a node too many."""
    weight = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    made = onnx.load_from_string(model([node("Identity", "w", "same"), node("Mul", "x same", "a"), node("Relu", "a", "y")],
                                       [tensor("x", shape=[rows, 2])], [tensor("y", shape=[rows, 2])], {"w": weight}))
    (folder / name).write_bytes(weight.tobytes())
    initializer = made.graph.initializer[0]
    initializer.ClearField("raw_data")
    initializer.data_location = onnx.TensorProto.EXTERNAL
    initializer.external_data.add(key="location", value=name)
    return made


def works(given):
    y = tenon.InferenceSession(given).run(None, {"x": np.ones([300, 2], np.float32)})[0]
    return np.array_equal(y, np.arange(600).reshape(300, 2))


def data_files(path):
    return {entry.value for tensor in onnx.load(path, load_external_data=False).graph.initializer
            for entry in tensor.external_data if entry.key == "location"}


class TestExternalData:
    def test_a_path_in_its_folder_and_elsewhere(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "sub").mkdir()
        onnx.save_model(outside(tmp_path), "net.onnx")
        assert tenon.optimize("net.onnx", "out.onnx")["data_files"] == [{"name": "weights.bin", "written": "nothing"}]
        assert tenon.optimize("net.onnx", "sub/out.onnx")["data_files"][0]["written"] in ("copy", "reflink")
        assert works("out.onnx") and works("sub/out.onnx")
        assert tenon.optimize("sub/out.onnx", "sub/out.onnx", overwrite=True)["evidence"] == "stamp"

    @pytest.mark.parametrize("kind", [onnx.ModelProto.SerializeToString, lambda proto: proto], ids=["bytes", "proto"])
    def test_models_in_memory(self, tmp_path, kind, monkeypatch):
        given = kind(outside(tmp_path))
        (tmp_path / "sub").mkdir()
        report = tenon.optimize(given, tmp_path / "out.onnx", external_folder=tmp_path)
        assert report["data_files"] == [{"name": "weights.bin", "written": "nothing"}]
        assert works(tmp_path / "out.onnx")
        assert tenon.optimize(given, tmp_path / "sub" / "out.onnx", external_folder=tmp_path)["data_files"] == []
        assert works(tmp_path / "sub" / "out.onnx")
        monkeypatch.chdir(tmp_path)
        assert tenon.optimize(given, "sub/more.onnx", external_folder="", file_bytes=0)["data_files"] == [
            {"name": "more.onnx.data", "written": "weights", "bytes": 2400}]
        assert works("sub/more.onnx")
        made = tenon.optimize(given, external_folder=tmp_path)
        (tmp_path / "again.onnx").write_bytes(made if isinstance(made, bytes) else made.SerializeToString())
        assert works(tmp_path / "again.onnx") and data_files(tmp_path / "again.onnx") == {"weights.bin"}
        assert tenon.analyze(given, external_folder=tmp_path).fallbacks == []

    def test_without_its_folder(self, tmp_path):
        proto = outside(tmp_path)
        with pytest.raises(tenon.Error, match="weights.bin.*external_folder"):
            tenon.optimize(proto, tmp_path / "out.onnx")
        with pytest.raises(ValueError, match="external_folder"):
            tenon.optimize(tmp_path / "net.onnx", tmp_path / "out.onnx", external_folder=tmp_path)
        assert not (tmp_path / "out.onnx").exists()

    def test_weights_of_a_proto_that_are_too_many_for_its_bytes(self, tmp_path, monkeypatch):
        (tmp_path / "net.onnx").write_bytes(outside(tmp_path).SerializeToString())
        proto = onnx.load(tmp_path / "net.onnx")
        proto.graph.initializer[0].ClearField("data_location")
        proto.metadata_props.add(key="author", value="somebody")
        proto.graph.doc_string = "a graph"
        before = proto.SerializeToString()
        monkeypatch.setattr(_optimize, "LARGE_BYTES", 1000)
        tenon.optimize(proto, tmp_path / "apart.onnx")
        in_memory = tenon.optimize(proto)
        monkeypatch.undo()
        assert in_memory.graph == tenon.optimize(proto).graph
        tenon.optimize(proto, tmp_path / "whole.onnx")
        assert (tmp_path / "apart.onnx").read_bytes() == (tmp_path / "whole.onnx").read_bytes()
        assert proto.SerializeToString() == before

    def test_what_sessions_write(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "sub").mkdir()
        onnx.save_model(outside(tmp_path), "net.onnx")
        for output in ("out.onnx", "sub/out.onnx"):
            for given in ("net.onnx", (tmp_path / "net.onnx").read_bytes()):
                options = tenon.SessionOptions()
                options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(tmp_path))
                options.optimized_model_filepath = output
                tenon.InferenceSession(given, options)
                assert works(output) and [n.op_type for n in onnx.load(output).graph.node] == ["Mul", "Relu"]
        assert data_files("out.onnx") == {"weights.bin"} and data_files("sub/out.onnx") == set()

    def test_sessions_write_what_they_were_given(self, tmp_path):
        proto = outside(tmp_path)
        options = tenon.SessionOptions()
        options.add_external_initializers(["w"], [tenon.OrtValue.ortvalue_from_numpy(np.full([300, 2], 7, np.float32))])
        options.optimized_model_filepath = str(tmp_path / "out.onnx")
        (tmp_path / "weights.bin").unlink()
        tenon.InferenceSession(proto.SerializeToString(), options)
        y = tenon.InferenceSession(tmp_path / "out.onnx").run(None, {"x": np.ones([300, 2], np.float32)})[0]
        assert (y == 7).all()


class TestAnalyze:
    def test_what_runs_each_node(self, tmp_path):
        (tmp_path / "m.onnx").write_bytes(messy())
        for given in (messy(), onnx.load_from_string(messy()), tmp_path / "m.onnx"):
            analysis = tenon.analyze(given)
            assert analysis["summary"]["providers"] == {"cpu": 2} and analysis.fallbacks == []
        assert tenon.analyze(messy(), optimize=False)["summary"]["nodes"] == 3
        analysis = tenon.analyze(messy(), provider="reference")
        assert len(analysis.fallbacks) == 2
        assert analysis.html().startswith("<!doctype html>")

    def test_wrong_arguments(self):
        with pytest.raises(tenon.Error, match="consumer"):
            tenon.analyze(messy(), consumer="nobody")


class TestStages:
    def test_a_build_that_skips(self, tmp_path):
        path = tmp_path / "m.onnx"
        path.write_bytes(messy())
        report = tenon.build(path, output_dir=tmp_path / "out", stages={}, cache=False)
        assert report["status"] == "built" and report["report"]["status"] == "compiled"
        assert json.loads((tmp_path / "out" / "manifest.json").read_text())["models"] == report["models"]
        report = tenon.build(path, output_dir=tmp_path / "out", stages={}, cache=False)
        assert report["status"] == "up to date" and report.ok
        y = tenon.InferenceSession(tmp_path / "out" / "m_ctx.onnx").run(None, {"x": np.ones([2, 2], np.float32)})[0]
        assert np.array_equal(y, np.ones([2, 2]))

    def test_failures_raise(self, tmp_path):
        (tmp_path / "bad.onnx").write_bytes(b"no model")
        with pytest.raises(tenon.BuildFailed, match="bad.onnx") as raised:
            tenon.build(tmp_path / "bad.onnx", output_dir=tmp_path / "out", stages={}, cache=False)
        assert list(raised.value.report.errors) == [str(tmp_path / "bad.onnx")]

    def test_optimized_without_stages(self, tmp_path):
        (tmp_path / "m.onnx").write_bytes(messy())
        report = tenon.build(tmp_path / "m.onnx", output_dir=tmp_path / "out", optimize={"merge-equal-nodes": False},
                             cache=False)
        done = report["models"][0]["optimize"]
        assert done["nodes"] == {"before": 3, "after": 2} and "merge-equal-nodes" not in done["capabilities"]["on"]
        assert not (tmp_path / "out" / "manifest.json").exists()

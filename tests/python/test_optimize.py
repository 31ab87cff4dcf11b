"""tenon.optimize, tenon.analyze and staged builds."""

import json

import numpy as np
import onnx
import pytest
from python.models import model, node, tensor

import tenon


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

    @pytest.mark.parametrize("kind", [bytes, onnx.ModelProto.FromString], ids=["bytes", "proto"])
    def test_into_a_file(self, tmp_path, kind):
        report = tenon.optimize(kind(messy()), tmp_path / "out.onnx")
        assert report["status"] == "optimized" and ops((tmp_path / "out.onnx").read_bytes()) == ["MatMul", "Relu"]
        with pytest.raises(FileExistsError):
            tenon.optimize(kind(messy()), tmp_path / "out.onnx")
        tenon.optimize(kind(messy()), tmp_path / "out.onnx", overwrite=True)

    def test_capabilities(self):
        assert ops(tenon.optimize(messy(), remove_no_ops=False)) == ["MatMul", "Identity", "Relu"]
        assert "remove-no-ops" in [capability["name"] for capability in tenon.capabilities()]
        with pytest.raises(tenon.Error, match="no-such"):
            tenon.optimize(messy(), no_such=True)


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

"""Models that are quantized or compiled already: optimize, analyze and build treat them as docs/normal_form.md says."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from oracles.peer import load_in_peer

import tenon


def saved(path, nodes, initializers, rows=3):
    weights = [numpy_helper.from_array(array, name) for name, array in initializers.items()]
    graph = helper.make_graph(nodes, "quantized", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [rows, 4])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return path


def scales():
    random = np.random.default_rng(0)
    return {"weight": random.integers(-127, 127, (8, 4), np.int8), "x_scale": np.float32(0.02), "x_zero": np.uint8(128),
            "w_scale": np.float32(0.01), "w_zero": np.int8(0), "y_scale": np.float32(0.05), "y_zero": np.uint8(100)}


def qdq(path):
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "x_scale", "x_zero"], ["x_q"]),
        helper.make_node("DequantizeLinear", ["x_q", "x_scale", "x_zero"], ["x_f"]),
        helper.make_node("DequantizeLinear", ["weight", "w_scale", "w_zero"], ["w_f"]),
        helper.make_node("Identity", ["x_f"], ["same"]),
        helper.make_node("MatMul", ["same", "w_f"], ["product"]),
        helper.make_node("QuantizeLinear", ["product", "y_scale", "y_zero"], ["y_q"]),
        helper.make_node("DequantizeLinear", ["y_q", "y_scale", "y_zero"], ["y"]),
    ]
    return saved(path, nodes, scales())


def qoperator(path):
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "x_scale", "x_zero"], ["x_q"]),
        helper.make_node("Identity", ["x_q"], ["same"]),
        helper.make_node("QLinearMatMul", ["same", "x_scale", "x_zero", "weight", "w_scale", "w_zero", "y_scale", "y_zero"],
                         ["y_q"]),
        helper.make_node("DequantizeLinear", ["y_q", "y_scale", "y_zero"], ["y"]),
    ]
    return saved(path, nodes, scales())


X = np.random.default_rng(1).normal(size=(3, 8)).astype(np.float32)


@pytest.mark.parametrize("make", [qdq, qoperator])
class TestQuantized:
    def test_optimize_keeps_what_is_quantized(self, tmp_path, make):
        path = make(tmp_path / "net.onnx")
        before = [node.op_type for node in onnx.load(path).graph.node]
        tenon.optimize(path, tmp_path / "out.onnx")
        optimized = onnx.load(tmp_path / "out.onnx")
        assert [node.op_type for node in optimized.graph.node] == [op for op in before if op != "Identity"]
        assert {tensor.name: tensor.raw_data for tensor in optimized.graph.initializer} == {
            tensor.name: tensor.raw_data for tensor in onnx.load(path).graph.initializer}
        results = [load_in_peer(str(model)).run(None, {"x": X})[0] for model in (path, tmp_path / "out.onnx")]
        assert np.array_equal(*results)
        assert tenon.optimize(tmp_path / "out.onnx", tmp_path / "again.onnx")["evidence"] == "stamp"

    def test_analyze_and_build(self, tmp_path, make):
        path = make(tmp_path / "net.onnx")
        analysis = tenon.analyze(path)
        assert analysis["error"] == "" and analysis["nodes"]
        report = tenon.build(path, output_dir=tmp_path / "out", stages={}, cache=False)
        assert report["status"] == "built"
        assert report["report"]["models"][0]["validation"]["verdict"] == "same"
        compiled = tenon.InferenceSession(tmp_path / "out" / "net_ctx.onnx").run(None, {"x": X})[0]
        # A step of the last quantization is what a rounding may come to.
        assert np.abs(compiled - load_in_peer(str(path)).run(None, {"x": X})[0]).max() <= 0.05 * 1.001


def own_context(folder):
    path = qdq(folder / "net.onnx")
    tenon.compile(path).save(folder)
    return folder / "net_ctx.onnx", "already compiled; name 'net.onnx', from which it was made"


def foreign_context(folder):
    node = helper.make_node("EPContext", ["x"], ["y"], "part", domain="com.microsoft", main_context=1, embed_mode=1,
                            ep_cache_context=b"payload", source="OtherExecutionProvider", onnx_model_filename="their.onnx")
    graph = helper.make_graph([node], "foreign", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), folder / "foreign.onnx")
    return folder / "foreign.onnx", "already compiled by 'OtherExecutionProvider'; name 'their.onnx', from which it was made"


@pytest.mark.parametrize("make", [own_context, foreign_context])
class TestCompiled:
    def test_optimize_and_analyze_name_the_model_to_use(self, tmp_path, make):
        path, message = make(tmp_path)
        before = path.read_bytes()
        for refused in (lambda: tenon.optimize(path, tmp_path / "out.onnx"), lambda: tenon.optimize(path),
                        lambda: tenon.optimize(path, path, overwrite=True), lambda: tenon.analyze(path),
                        lambda: tenon.optimize(path.read_bytes(), tmp_path / "out.onnx", external_folder=tmp_path)):
            with pytest.raises(tenon.Error, match=message):
                refused()
        assert not (tmp_path / "out.onnx").exists() and path.read_bytes() == before

    def test_build_refuses_it_and_goes_on(self, tmp_path, make):
        path, message = make(tmp_path)
        other = qoperator(tmp_path / "other.onnx")
        report = tenon.build([path, other], output_dir=tmp_path / "out", stages={}, cache=False, check=False)
        assert message in report.errors[str(path)]
        assert [model["stages"]["import"]["status"] for model in report["models"]] == ["failed", "ran"]
        assert [model["stages"]["compile"]["status"] for model in report["models"]] == ["skipped", "ran"]
        assert (tmp_path / "out" / "other_ctx.onnx").exists()

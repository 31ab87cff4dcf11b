"""The process of one engine: those of `tenon perf --compare`, Tenon, and what each of them loads faster than the model.

`worker.py JSON` serves as peer.py does; `worker.py JSON prepare` makes what is loaded faster, in the folder "prepared".
"""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "src" / "cli" / "perf"))
import peer  # noqa: E402


def tenon_session(request, path, feeds):
    import tenon

    options = tenon.SessionOptions()
    options.intra_op_num_threads = request["threads"]
    if request["isa"]:
        options.add_session_config_entry("tenon.cpu_isa", request["isa"])
    session = tenon.InferenceSession(path, options)
    return lambda: session.run(None, feeds)


def use_tenon():
    import tenon

    return tenon.__version__, lambda request, feeds: tenon_session(request, request["model"], feeds)


def use_compiled_tenon():
    import tenon

    return tenon.__version__, lambda request, feeds: tenon_session(request, request["prepared"] + "/net_ctx.onnx", feeds)


def use_prepared_onnxruntime():
    import onnxruntime

    def open_it(request, feeds):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = request["threads"]
        options.log_severity_level = 3
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        path = request["prepared"] + "/optimized.onnx"
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, feeds)

    return onnxruntime.__version__, open_it


def use_imported_openvino():
    import openvino

    def open_it(request, feeds):
        blob = openvino.tensor_from_file(request["prepared"] + "/blob")
        return peer.openvino_runner(openvino.Core().import_model(blob, "CPU"), feeds)

    return openvino.get_version().split("-")[0], open_it


ENGINES = {
    **peer.ENGINES,
    "tenon": use_tenon,
    "tenon, compiled": use_compiled_tenon,
    "onnxruntime, prepared": use_prepared_onnxruntime,
    "openvino, imported": use_imported_openvino,
}


def compile_with_tenon(request):
    import tenon

    tenon.compile(request["model"]).save(request["prepared"], ["net_ctx.onnx"])


def optimize_with_onnxruntime(request):
    """Its passes done, and the weights packed in a file outside the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.optimized_model_filepath = request["prepared"] + "/optimized.onnx"
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "optimized.data")
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
    options.add_session_config_entry("session.save_external_prepacked_constant_initializers", "1")
    onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])


def export_from_openvino(request):
    import openvino

    core = openvino.Core()
    feeds = peer.feeds_of(request["inputs"])
    compiled = peer.with_extents(core, core.read_model(request["model"]), feeds, peer.openvino_settings(request))
    Path(request["prepared"], "blob").write_bytes(compiled.export_model().getvalue())


PREPARATIONS = {
    "tenon, compiled": compile_with_tenon,
    "onnxruntime, prepared": optimize_with_onnxruntime,
    "openvino, imported": export_from_openvino,
}

if __name__ == "__main__":
    if sys.argv[2:] == ["prepare"]:
        wanted = json.loads(sys.argv[1])
        PREPARATIONS[wanted["engine"]](wanted)
    else:
        peer.main(ENGINES)

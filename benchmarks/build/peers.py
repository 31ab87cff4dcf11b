"""Other tools that normalize a model, each as a program of its own: peers.py TOOL INPUT OUTPUT."""

import importlib.metadata
import sys

TOOLS = {"onnxruntime": "onnxruntime", "onnxsim": "onnxsim", "onnxslim": "onnxslim"}


def version(tool):
    """None when it is not installed."""
    try:
        return importlib.metadata.version(TOOLS[tool])
    except importlib.metadata.PackageNotFoundError:
        return None


def onnxruntime(source, result):
    """Its optimization ahead of time, without fusions."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = result
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", f"{result}.data")
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
    ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def onnxsim(source, result):
    import onnx
    import onnxsim as tool

    model, same = tool.simplify(onnx.load(source))
    if not same:
        sys.exit("its result differs")
    onnx.save(model, result, save_as_external_data=True, location=f"{result}.data")


def onnxslim(source, result):
    import onnxslim as tool

    tool.slim(source, result, save_as_external_data=True)


if __name__ == "__main__":
    name, source, result = sys.argv[1:]
    globals()[name](source, result)

"""How long opening a 100 MB model takes and how much memory of its own it needs, next to onnxruntime.

Usage: load.py [MEGABYTES]

Each engine opens the same model, turn by turn: Tenon to a graph that is ready to be compiled, to a session, to a session
with the compile cache, and from its compiled form to a session; onnxruntime to a session without and with its optimizations,
and from the model it optimized before, with prepacked weights in a file of their own. Memory is what the process has to itself
(Private_Clean and Private_Dirty), measured in a fresh process that opens the model once.
"""

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROUNDS = 15
LAYERS = 50
COLUMN = 34


def make_model(path, megabytes, external):
    """A stack of linear layers whose weights fill the given size."""
    width = int((megabytes * 1e6 / 4 / LAYERS) ** 0.5)
    random = np.random.default_rng(0)
    nodes, weights = [], []
    for i in range(LAYERS):
        matrix = random.normal(size=(width, width)).astype(np.float32)
        weights += [numpy_helper.from_array(matrix, f"w{i}"), numpy_helper.from_array(matrix[0], f"b{i}")]
        nodes += [
            helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"p{i}"]),
            helper.make_node("Add", [f"p{i}", f"b{i}"], [f"s{i}"]),
            helper.make_node("Relu", [f"s{i}"], [f"x{i + 1}"]),
        ]
    x = helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["batch", width])
    y = helper.make_tensor_value_info(f"x{LAYERS}", TensorProto.FLOAT, ["batch", width])
    model = helper.make_model(
        helper.make_graph(nodes, "layers", [x], [y], weights), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    if external:
        onnx.save(model, path, save_as_external_data=True, location=path.stem + ".data", size_threshold=1024)
    else:
        onnx.save(model, path)


def open_graph(path):
    from tenon import _tenon

    return _tenon.Model.load_file(str(path))


def open_session(path):
    import tenon

    return tenon.InferenceSession(path)


def open_onnxruntime(level):
    def open_it(path):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level(onnxruntime.GraphOptimizationLevel)
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    return open_it


def open_compiled(path):
    return open_session(compiled_path(path))


def open_cached(path):
    """With the compile cache, which the first round fills."""
    import tenon

    options = tenon.SessionOptions()
    options.add_session_config_entry("tenon.cache", "1")
    options.add_session_config_entry("tenon.cache_dir", str(path.parent / "cache"))
    return tenon.InferenceSession(path, options)


def open_optimized(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(optimized_path(path), options, providers=["CPUExecutionProvider"])


def compiled_path(path):
    return path.parent / "compiled" / f"{path.stem}_ctx.onnx"


def optimized_path(path):
    return path.with_name(f"{path.stem}_optimized.onnx")


def compile_model(path):
    import tenon

    tenon.compile(str(path)).save(path.parent / "compiled", [compiled_path(path).name], overwrite=True)


def optimize_model(path):
    """What onnxruntime offers for fast starts: its passes done, the weights packed and outside the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath = str(optimized_path(path))
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", f"{path.stem}.packed")
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
    options.add_session_config_entry("session.save_external_prepacked_constant_initializers", "1")
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


WAYS = {
    "tenon, graph": open_graph,
    "tenon, session": open_session,
    "tenon, session, from the cache": open_cached,
    "tenon, session, compiled before": open_compiled,
    "onnxruntime, session, no passes": open_onnxruntime(lambda levels: levels.ORT_DISABLE_ALL),
    "onnxruntime, session": open_onnxruntime(lambda levels: levels.ORT_ENABLE_ALL),
    "onnxruntime, optimized before": open_optimized,
}


def private_bytes():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))


def memory_in_fresh_process(way, path):
    command = [sys.executable, __file__, "--memory", way, path]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_memory(way, path, small):
    """What the second model adds, so that what the engine itself needs does not count."""
    first = WAYS[way](small)
    gc.collect()
    before = private_bytes()
    second = WAYS[way](path)
    gc.collect()
    print(private_bytes() - before)
    del first, second


def measure_times(path):
    times = {way: [] for way in WAYS}
    for round_number in range(ROUNDS + 1):
        for way, open_it in WAYS.items():
            start = time.perf_counter()
            opened = open_it(path)
            elapsed = time.perf_counter() - start
            del opened
            if round_number:  # the first round warms up
                times[way].append(elapsed)
    return times


def main():
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        for external in (False, True):
            path = Path(folder) / f"model{external:d}.onnx"
            make_model(path, megabytes, external)
            compile_model(path)
            optimize_model(path)
            print(f"\n{megabytes:.0f} MB, weights {'in a file of their own' if external else 'in the model'}")
            print(f"{'':{COLUMN}} {'min ms':>9} {'median ms':>9} {'private MB':>10} {'x graph':>8}")
            times = measure_times(path)
            base = min(times["tenon, graph"])
            for way, seconds in times.items():
                private = memory_in_fresh_process(way, path)
                print(
                    f"{way:{COLUMN}} {1e3 * min(seconds):9.2f} {1e3 * statistics.median(seconds):9.2f} "
                    f"{private / 1e6:10.1f} {min(seconds) / base:8.1f}"
                )


if __name__ == "__main__":
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    if sys.argv[1:2] == ["--memory"]:
        tiny = Path(sys.argv[3]).with_name(f"tiny{os.getpid()}.onnx")
        make_model(tiny, 0.1, False)
        compile_model(tiny)
        optimize_model(tiny)
        measure_memory(sys.argv[2], Path(sys.argv[3]), tiny)
    else:
        main()

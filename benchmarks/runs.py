"""What a run costs beside its arithmetic, next to onnxruntime.

Usage: runs.py [--threads N]

Models that compute next to nothing: chains of steps on eight numbers, loops and branches. The cost of a step is the
slope between a short and a long chain, the cost of a run what is left of the short one, the cost of a body the slope
between few and many iterations. From C with buffers of the caller (run_costs), and from Python. In Python both engines
take turns, and the least of many batches counts.
"""

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

ROOT = Path(__file__).resolve().parent.parent
FEW, MANY = 1, 101
SHAPE = [8]


def tensor(name, shape=SHAPE, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(w, n) for n, w in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def chain(op, length):
    nodes = [helper.make_node(op, [f"x{i}"], [f"x{i + 1}"]) for i in range(length)]
    return model_of(nodes, [tensor("x0")], [tensor(f"x{length}")])


def dense(length):
    """Products with weights, which the cpu target packs."""
    weight = np.eye(8, dtype=np.float32)
    nodes = [helper.make_node("MatMul", [f"x{i}", "w"], [f"x{i + 1}"]) for i in range(length)]
    return model_of(nodes, [tensor("x0", [1, 8])], [tensor(f"x{length}", [1, 8])], [("w", weight)])


def loop(trips):
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Neg", ["x"], ["y"])], "body",
        [tensor("i", [], TensorProto.INT64), tensor("c", [], TensorProto.BOOL), tensor("x")],
        [tensor("d", [], TensorProto.BOOL), tensor("y")],
    )  # fmt: skip
    node = helper.make_node("Loop", ["m", "", "x0"], ["y0"], body=body)
    return model_of([node], [tensor("x0")], [tensor("y0")], [("m", np.array(trips, np.int64))])


def scan(trips):
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "x"], ["t"])], "body", [tensor("s", [4]), tensor("x", [4])], [tensor("t", [4])]
    )
    node = helper.make_node("Scan", ["s0", "x0"], ["y0"], body=body, num_scan_inputs=1)
    return model_of([node], [tensor("s0", [4]), tensor("x0", [trips, 4])], [tensor("y0", [4])])


def branches(length):
    nodes = []
    for i in range(length):
        bodies = {
            f"{name}_branch": helper.make_graph([helper.make_node(op, [f"x{i}"], ["y"])], name, [], [tensor("y")])
            for name, op in (("then", "Neg"), ("else", "Abs"))
        }
        nodes.append(helper.make_node("If", ["c"], [f"x{i + 1}"], **bodies))
    return model_of(nodes, [tensor("c", [], TensorProto.BOOL), tensor("x0")], [tensor(f"x{length}")])


SUBJECTS = {
    "step": lambda n: chain("Neg", n),
    "packed product": dense,
    "Loop iteration": loop,
    "Scan iteration": scan,
    "If": branches,
}


def best_of(runs, seconds=1.5):
    """The least time of each of several functions, which take turns, in nanoseconds."""
    batches = []
    for run in runs:
        run()
        start, count = time.perf_counter_ns(), 0
        while time.perf_counter_ns() - start < 2e6:
            run()
            count += 1
        batches.append(max(1, count // 2))
    least = [float("inf")] * len(runs)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for k, run in enumerate(runs):
            start = time.perf_counter_ns()
            for _ in range(batches[k]):
                run()
            least[k] = min(least[k], (time.perf_counter_ns() - start) / batches[k])
    return least


def from_c(folder, threads):
    paths = sorted(folder.glob("*.onnx"))
    program = ROOT / "build" / "release" / "benchmarks" / "run_costs"
    text = subprocess.run([program, *paths], check=True, capture_output=True, text=True,
                          env={**os.environ, "TENON_BENCH_THREADS": str(threads)}).stdout
    return {Path(line.rsplit(" ", 1)[0]).stem: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()}


def from_python(folder, threads):
    import onnxruntime

    import tenon

    found = {}
    for path in sorted(folder.glob("*.onnx")):
        runs = []
        for module in (tenon, onnxruntime):
            options = module.SessionOptions()
            options.intra_op_num_threads = threads
            session = module.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            feeds = {i.name: np.ones(i.shape, bool if "bool" in i.type else np.float32) for i in session.get_inputs()}
            runs.append(lambda session=session, feeds=feeds: session.run(None, feeds))
        found[path.stem] = best_of(runs)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    threads = parser.parse_args().threads
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, make in SUBJECTS.items():
            for length in (FEW, MANY):
                save(make(length), folder / f"{name} {length}.onnx")
        c, python = from_c(folder, threads), from_python(folder, threads)
    print(f"{'nanoseconds':24}{'from C':>10}{'from Python':>14}{'onnxruntime, from Python':>28}")
    for name in SUBJECTS:
        few, many = f"{name} {FEW}", f"{name} {MANY}"
        slope = [(b - a) / (MANY - FEW) for a, b in [(c[few], c[many]), *zip(python[few], python[many])]]
        print(f"{'each ' + name:24}{slope[0]:10.0f}{slope[1]:14.0f}{slope[2]:28.0f}")
    rest = [value - slope_of for value, slope_of in zip([c["step 1"], *python["step 1"]], [
        (c["step 101"] - c["step 1"]) / 100, *((b - a) / 100 for a, b in zip(python["step 1"], python["step 101"]))])]
    print(f"{'each run':24}{rest[0]:10.0f}{rest[1]:14.0f}{rest[2]:28.0f}")


if __name__ == "__main__":
    main()

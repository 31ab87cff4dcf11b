"""One op at a time, next to onnxruntime.

Usage: ops.py [--only NAME,...] [--threads N] [--seconds N]

Each subject is a model of a single node, of a size that real models have. Both engines run in one process and take
turns; their results are compared before a time counts. The table begins where Tenon is furthest behind.
"""

import argparse
import time

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE, INT64, BOOL = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.BOOL
RANDOM = np.random.default_rng(7)


def floats(*shape):
    return RANDOM.standard_normal(shape, np.float32)


def doubles(*shape):
    return RANDOM.standard_normal(shape)


def indices(extent, *shape):
    return RANDOM.integers(0, extent, shape)


def distinct(extent, *shape):
    return RANDOM.permutation(extent)[: int(np.prod(shape))].reshape(shape)


class Subject:
    """A node; arrays named in `weights` are initializers, all others inputs."""

    def __init__(self, op, *arrays, weights=(), outputs=1, close=1e-4, **attributes):
        self.close = close
        names = ["" if a is None else f"x{i}" for i, a in enumerate(arrays)]
        results = [f"y{i}" for i in range(outputs)]
        given = {n: np.asarray(a) for n, a in zip(names, arrays) if a is not None}
        node = helper.make_node(op, names, results, **attributes)
        self.feeds = {n: a for n, a in given.items() if int(n[1:]) not in weights}
        inputs = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
            for n, a in self.feeds.items()
        ]
        graph = helper.make_graph(
            [node], op, inputs, [helper.make_empty_tensor_value_info(n) for n in results],
            [numpy_helper.from_array(a, n) for n, a in given.items() if n not in self.feeds],
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        self.model = model.SerializeToString()


def int_of(*values):
    return np.array(values, np.int64)


def corners(count):
    low = RANDOM.uniform(0, 600, (1, count, 2)).astype(np.float32)
    return np.concatenate([low, low + RANDOM.uniform(8, 60, (1, count, 2)).astype(np.float32)], 2)


def grid(*shape):
    return RANDOM.uniform(-1.05, 1.05, shape).astype(np.float32)


SUBJECTS = {
    "TopK 1x100000, 300": lambda: Subject("TopK", floats(1, 100000), int_of(300), weights=[1], outputs=2),
    "TopK 100x1000, 5": lambda: Subject("TopK", floats(100, 1000), int_of(5), weights=[1], outputs=2),
    "TopK 8x80x1050 axis 1": lambda: Subject("TopK", floats(8, 80, 1050), int_of(10), weights=[1], outputs=2, axis=1),
    "GatherND 1M": lambda: Subject("GatherND", floats(1000, 1000), indices(1000, 1000000, 2)),
    "GatherND rows": lambda: Subject("GatherND", floats(64, 128, 256), indices(64, 4000, 2)),
    "GatherElements 1M": lambda: Subject("GatherElements", floats(1000, 1000), indices(1000, 1000, 1000), axis=1),
    "GatherElements axis 0": lambda: Subject("GatherElements", floats(1000, 1000), indices(1000, 1000, 1000), axis=0),
    "ScatterElements 1M": lambda: Subject(
        "ScatterElements", floats(1000, 1000), np.argsort(floats(1000, 1000), 1), floats(1000, 1000), axis=1),
    "ScatterElements add": lambda: Subject(
        "ScatterElements", floats(1000, 1000), indices(1000, 1000, 1000), floats(1000, 1000), axis=1, reduction="add"),
    "ScatterND 1M": lambda: Subject("ScatterND", floats(1000000), distinct(1000000, 500000, 1), floats(500000)),
    "ScatterND rows": lambda: Subject("ScatterND", floats(8192, 256), distinct(8192, 4000, 1), floats(4000, 256)),
    "Gather rows": lambda: Subject("Gather", floats(8192, 256), indices(8192, 4000)),
    "Tile 1x1x256x256 by 8x3": lambda: Subject("Tile", floats(1, 1, 256, 256), int_of(8, 3, 1, 1), weights=[1]),
    "Tile of short rows": lambda: Subject("Tile", floats(4000, 1, 8), int_of(1, 16, 2), weights=[1]),
    "Expand": lambda: Subject("Expand", floats(64, 1, 512), int_of(64, 32, 512), weights=[1]),
    "Trilu 1024": lambda: Subject("Trilu", floats(4, 1024, 1024), upper=0),
    "CumSum last axis": lambda: Subject("CumSum", floats(1000, 1000), np.int64(1), weights=[1], close=1e-3),
    "CumSum first axis": lambda: Subject("CumSum", floats(1000, 1000), np.int64(0), weights=[1], close=1e-3),
    "CumSum of int64": lambda: Subject("CumSum", indices(9, 512, 512), np.int64(1), weights=[1]),
    "CumSum of a line": lambda: Subject("CumSum", floats(1, 48000), np.int64(1), weights=[1], close=1e-2),
    "ReverseSequence": lambda: Subject(
        "ReverseSequence", floats(200, 32, 128), np.full(32, 150), batch_axis=1, time_axis=0),
    "ConstantOfShape 1M": lambda: Subject("ConstantOfShape", int_of(1000, 1000)),
    "EyeLike 1024": lambda: Subject("EyeLike", floats(1024, 1024)),
    "OneHot 4000 of 256": lambda: Subject(
        "OneHot", indices(256, 4000), int_of(256), np.array([0, 1], np.float32), weights=[1, 2]),
    "Range 1M": lambda: Subject("Range", np.int64(0), np.int64(1000000), np.int64(1)),
    "NonZero 1M": lambda: Subject("NonZero", floats(1000, 1000) > 1),
    "Compress rows": lambda: Subject("Compress", floats(8192, 256), floats(8192) > 0, axis=0),
    "Unique 100000": lambda: Subject("Unique", indices(5000, 100000), outputs=4),
    "NonMaxSuppression 8400x80": lambda: Subject(
        "NonMaxSuppression", corners(8400), RANDOM.uniform(0, 1, (1, 80, 8400)).astype(np.float32),
        int_of(100), np.float32(0.5), np.float32(0.7), weights=[2, 3, 4]),
    "NonMaxSuppression 1 class": lambda: Subject(
        "NonMaxSuppression", corners(8400), RANDOM.uniform(0, 1, (1, 1, 8400)).astype(np.float32),
        int_of(300), np.float32(0.5), np.float32(0.3), weights=[2, 3, 4]),
    "DFT 16x4096": lambda: Subject("DFT", floats(16, 4096, 1), None, np.int64(1), weights=[2], close=2e-3),
    "DFT 1x4096 complex": lambda: Subject("DFT", floats(1, 4096, 2), None, np.int64(1), weights=[2], close=2e-3),
    "DFT 100x400 one side": lambda: Subject(
        "DFT", floats(100, 400, 1), None, np.int64(1), weights=[2], onesided=1, close=2e-3),
    "STFT 16000, 400 by 160": lambda: Subject(
        "STFT", floats(1, 16000, 1), np.int64(160), np.hanning(400).astype(np.float32), np.int64(400), weights=[1, 2, 3],
        onesided=1, close=2e-3),
    "STFT 16000, 512 by 128": lambda: Subject(
        "STFT", floats(1, 16000, 1), np.int64(128), np.hanning(512).astype(np.float32), np.int64(512), weights=[1, 2, 3],
        onesided=1, close=2e-3),
    "GridSample 256x256x64": lambda: Subject("GridSample", floats(1, 64, 256, 256), grid(1, 256, 256, 2), close=1e-3),
    "GridSample nearest": lambda: Subject(
        "GridSample", floats(1, 16, 128, 128), grid(1, 128, 128, 2), mode="nearest", close=None),
    "GridSample cubic": lambda: Subject(
        "GridSample", floats(1, 16, 128, 128), grid(1, 128, 128, 2), mode="cubic", close=1e-2),
    "Einsum scores": lambda: Subject(
        "Einsum", floats(1, 128, 12, 64), floats(1, 128, 12, 64), equation="bqhd,bkhd->bhqk", close=1e-3),
    "Einsum values": lambda: Subject(
        "Einsum", floats(1, 12, 128, 128), floats(1, 128, 12, 64), equation="bhqk,bkhd->bqhd", close=1e-3),
    "Einsum bilinear": lambda: Subject(
        "Einsum", floats(32, 64), floats(16, 64, 64), floats(32, 64), equation="bi,oij,bj->bo", close=1e-2),
    "Einsum rows": lambda: Subject("Einsum", floats(1000, 256), floats(1000, 256), equation="ij,ij->i", close=1e-3),
    "Einsum outer": lambda: Subject("Einsum", floats(2048), floats(32), equation="i,j->ij"),
    "MatMul in double": lambda: Subject("MatMul", doubles(256, 256), doubles(256, 256)),
    "Gemm in double": lambda: Subject("Gemm", doubles(256, 256), doubles(256, 256), doubles(256), transB=1),
    "Conv in double": lambda: Subject("Conv", doubles(1, 16, 32, 32), doubles(16, 16, 3, 3), pads=[1] * 4, weights=[1]),
    "Softmax in double": lambda: Subject("Softmax", doubles(256, 1000)),
    "ReduceSum in double": lambda: Subject("ReduceSum", doubles(1000, 1000), int_of(1), weights=[1]),
    "ReduceMean of columns in double": lambda: Subject("ReduceMean", doubles(1000, 1000), int_of(0), weights=[1]),
    "ReduceSum of int64": lambda: Subject("ReduceSum", indices(99, 1000, 1000), int_of(1), weights=[1]),
    "ReduceMax of int64": lambda: Subject("ReduceMax", indices(99, 1000, 1000), int_of(1), weights=[1]),
    "ArgMax of int64": lambda: Subject("ArgMax", indices(10**9, 1000, 1000), axis=1),
    "ReduceLogSumExp": lambda: Subject("ReduceLogSumExp", floats(1000, 1000), int_of(1), weights=[1]),
    "LpNormalization": lambda: Subject("LpNormalization", floats(1000, 512), axis=1),
    "LRN": lambda: Subject("LRN", floats(1, 96, 55, 55), size=5),
    "MeanVarianceNormalization": lambda: Subject("MeanVarianceNormalization", floats(4, 32, 64, 64)),
    "BatchNormalization": lambda: Subject(
        "BatchNormalization", floats(1, 64, 56, 56), floats(64), floats(64), floats(64), floats(64) ** 2,
        weights=[1, 2, 3, 4]),
    "QuantizeLinear": lambda: Subject(
        "QuantizeLinear", floats(1000, 1000), np.float32(0.02), np.uint8(128), weights=[1, 2], close=1),
    "DequantizeLinear": lambda: Subject(
        "DequantizeLinear", indices(255, 1000, 1000).astype(np.uint8), np.float32(0.02), np.uint8(128), weights=[1, 2]),
    "DepthToSpace": lambda: Subject("DepthToSpace", floats(1, 64, 128, 128), blocksize=2),
}


def session_of(module, subject, threads):
    options = module.SessionOptions()
    options.intra_op_num_threads = threads
    return module.InferenceSession(subject.model, options, providers=["CPUExecutionProvider"])


def disagreement(subject, ours, theirs):
    """What is wrong with our results, or None. Ways to break ties of rounding may differ where `close` is None."""
    for a, b in zip(ours, theirs):
        if a.shape != b.shape:
            return f"shape {a.shape} instead of {b.shape}"
        if subject.close is not None and not np.allclose(a.astype(float), b.astype(float), subject.close, subject.close):
            return f"differs by {np.abs(a.astype(float) - b.astype(float)).max()}"
    return None


def least_times(runs, seconds):
    """The least seconds of each of several functions, which take turns."""
    least = [float("inf")] * len(runs)
    end = time.monotonic() + seconds * len(runs)
    rounds = 0
    while rounds < 3 or time.monotonic() < end:
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            least[k] = min(least[k], time.perf_counter() - start)
        rounds += 1
    return least


def measure(name, threads, seconds):
    """The times of Tenon and onnxruntime, or a text that says why there are none."""
    import onnxruntime

    import tenon

    subject = SUBJECTS[name]()
    try:
        ours, theirs = (session_of(m, subject, threads) for m in (tenon, onnxruntime))
        problem = disagreement(subject, *(s.run(None, subject.feeds) for s in (ours, theirs)))
    except Exception as refusal:  # either engine may not have the op for these types
        problem = str(refusal).splitlines()[0][:100]
    if problem:
        return problem
    return least_times([lambda s=s: s.run(None, subject.feeds) for s in (ours, theirs)], seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="subjects whose names begin with one of these, separated by commas")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.15, help="of each engine, for each subject")
    arguments = parser.parse_args()
    wanted = tuple(arguments.only.split(",")) if arguments.only else ("",)
    results = {n: measure(n, arguments.threads, arguments.seconds) for n in SUBJECTS if n.startswith(wanted)}
    times = {name: result for name, result in results.items() if not isinstance(result, str)}
    print(f"{'milliseconds':36}{'Tenon':>10}{'onnxruntime':>14}{'times as long':>16}")
    for name, (ours, theirs) in sorted(times.items(), key=lambda item: -item[1][0] / item[1][1]):
        print(f"{name:36}{1e3 * ours:10.3f}{1e3 * theirs:14.3f}{ours / theirs:16.2f}")
    for name, result in results.items():
        if isinstance(result, str):
            print(f"{name:36} {result}")


if __name__ == "__main__":
    main()

"""How long new weights take, next to the best that onnxruntime can do for a live service.

Usage: swap.py [resnet|bert ...]

Each round, in turn: onnxruntime makes a new session with external initializers from memory; Tenon swaps all weights of a
session that is running, 1 % of them, and switches to a set that was baked before. Outputs are compared before a time
counts. Copying the packed bytes with memcpy says what the machine can do.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import tenon

ROUNDS = 15


class Graph:
    """Nodes and weights of a model that is being written."""

    def __init__(self, rng):
        self.rng, self.nodes, self.weights, self.count = rng, [], [], 0

    def weight(self, *shape, scale=None, positive=False):
        name = f"w{len(self.weights)}"
        scale = scale or (2.0 / np.prod(shape[1:] or shape)) ** 0.5
        values = self.rng.standard_normal(shape, dtype=np.float32) * np.float32(scale)
        self.weights.append(numpy_helper.from_array(np.abs(values) + np.float32(0.5) if positive else values, name))
        return name

    def node(self, op, *inputs, **attributes):
        self.count += 1
        output = f"v{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=f"{op}_{self.count}", **attributes))
        return output

    def model(self, inputs, output):
        # New weights must come from outside, so that both engines get them the same way.
        self.nodes[-1].output[0] = output.name
        graph = helper.make_graph(self.nodes, "model", inputs, [output], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def conv(g, x, inputs, outputs, size, stride, relu=True):
    y = g.node("Conv", x, g.weight(outputs, inputs, size, size), kernel_shape=[size, size], strides=[stride, stride],
               pads=[size // 2] * 4)
    y = g.node("BatchNormalization", y, g.weight(outputs, positive=True), g.weight(outputs),
               g.weight(outputs), g.weight(outputs, positive=True))
    return g.node("Relu", y) if relu else y


def resnet(rng):
    """ResNet-50, 25.6 million weights."""
    g = Graph(rng)
    x = g.node("MaxPool", conv(g, "x", 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            y = conv(g, conv(g, conv(g, x, channels, width, 1, 1), width, width, 3, step), width, width * 4, 1, 1, False)
            shortcut = conv(g, x, channels, width * 4, 1, step, False) if block == 0 else x
            x, channels = g.node("Relu", g.node("Add", y, shortcut)), width * 4
    x = g.node("Flatten", g.node("GlobalAveragePool", x))
    g.node("Gemm", x, g.weight(1000, 2048), g.weight(1000), transB=1)
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 64, 64])
    return g.model([image], helper.make_tensor_value_info("y", TensorProto.FLOAT, None))


def dense(g, x, inputs, outputs):
    return g.node("Add", g.node("MatMul", x, g.weight(inputs, outputs)), g.weight(outputs, scale=0.1))


def layer_norm(g, x, width):
    return g.node("LayerNormalization", x, g.weight(width, positive=True), g.weight(width, scale=0.1), axis=-1)


def bert(rng, layers=12, width=768, heads=12, vocabulary=30522):
    """BERT-base, 108 million weights."""
    g = Graph(rng)
    split, join, scale = (g.node("Constant", value=numpy_helper.from_array(value)) for value in (
        np.array([0, 0, heads, width // heads], np.int64), np.array([0, 0, width], np.int64),
        np.float32((width // heads) ** -0.5)))
    x = layer_norm(g, g.node("Gather", g.weight(vocabulary, width, scale=0.02), "ids"), width)
    for _ in range(layers):
        q, k, v = (g.node("Reshape", dense(g, x, width, width), split) for _ in range(3))
        q, v = (g.node("Transpose", side, perm=[0, 2, 1, 3]) for side in (q, v))
        scores = g.node("Mul", g.node("MatMul", q, g.node("Transpose", k, perm=[0, 2, 3, 1])), scale)
        y = g.node("MatMul", g.node("Softmax", scores, axis=-1), v)
        y = g.node("Reshape", g.node("Transpose", y, perm=[0, 2, 1, 3]), join)
        x = layer_norm(g, g.node("Add", dense(g, y, width, width), x), width)
        y = g.node("Gelu", dense(g, x, width, 4 * width), domain="com.microsoft")
        x = layer_norm(g, g.node("Add", dense(g, y, 4 * width, width), x), width)
    g.node("Identity", x)
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [1, 8])
    model = g.model([ids], helper.make_tensor_value_info("y", TensorProto.FLOAT, None))
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def feeds_of(model):
    value = model.graph.input[0]
    dims = [d.dim_value for d in value.type.tensor_type.shape.dim]
    rng = np.random.default_rng(5)
    ids = value.type.tensor_type.elem_type == TensorProto.INT64
    return {value.name: rng.integers(0, 1000, dims) if ids else rng.standard_normal(dims, dtype=np.float32)}


def arrays_of(model):
    return {t.name: numpy_helper.to_array(t) for t in model.graph.initializer if t.data_type == TensorProto.FLOAT}


class Onnxruntime:
    """A new session with the weights from memory, as its documentation recommends."""

    def __init__(self, path, sets):
        self.path = str(path)
        self.sets = [{k: onnxruntime.OrtValue.ortvalue_from_numpy(v) for k, v in s.items()} for s in sets]

    def swap(self, which):
        options = onnxruntime.SessionOptions()
        names, values = list(self.sets[which]), list(self.sets[which].values())
        options.add_external_initializers(names, values)
        return onnxruntime.InferenceSession(self.path, options, providers=["CPUExecutionProvider"])


def timed(f, *arguments):
    begin = time.perf_counter()
    result = f(*arguments)
    return time.perf_counter() - begin, result


def some_weights(arrays, share):
    """Names of weights that are about a share of the bytes, from the smallest large one."""
    total = sum(a.nbytes for a in arrays.values())
    chosen = min((name for name, a in arrays.items() if a.nbytes >= share * total), key=lambda n: arrays[n].nbytes,
                 default=max(arrays, key=lambda n: arrays[n].nbytes))
    return {chosen: arrays[chosen]}


def memcpy_seconds(size):
    """The best copy of so many bytes by one thread, between buffers that are there already."""
    source, target = np.ones(size // 4, np.float32), np.ones(size // 4, np.float32)
    return min(timed(np.copyto, target, source)[0] for _ in range(7))


def row(name, times, base=None):
    best, middle = min(times), statistics.median(times)
    ratio = "" if base is None else f"{statistics.median(base) / middle:10.1f}x"
    print(f"  {name:44s} {best * 1e3:10.3f} {middle * 1e3:10.3f} {ratio}")


def measure(name):
    make = MODELS[name]
    models = [make(np.random.default_rng(seed)) for seed in (1, 2)]
    sets, feeds = [arrays_of(model) for model in models], feeds_of(models[0])
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{which}.onnx" for which in "ab"]
        for model, path in zip(models, paths):
            onnx.save(model, path)
        external = Path(folder) / "external.onnx"
        onnx.save(models[0], external, save_as_external_data=True, location="external.data", size_threshold=0)
        compare(name, Onnxruntime(external, sets), sets, paths, feeds, Path(folder))


def compare(name, peer, sets, paths, feeds, folder):
    artifact = tenon.compile(str(paths[0]), ["net"], sources="embed")
    baked, _ = artifact.bake(sets[1], partial=True)
    files = [tenon.Artifact.load(a.save(folder / n)[0]) for a, n in ((artifact, "a"), (baked, "b"))]
    session, partly, live = artifact.session(), files[0].session(), files[0].session()
    mapped = [f.weights() for f in files]
    expected = [peer.swap(i).run(None, feeds)[0] for i in (0, 1)]
    small = [some_weights(s, 0.01) for s in sets]
    compare_runs(paths, sets, feeds)
    times = {key: [] for key in ("new session", "full", "part", "baked", "baked + run", "run")}
    packed = 0
    for turn in range(2 * ROUNDS):
        which = (turn + 1) % 2
        times["new session"].append(timed(peer.swap, which)[0])
        seconds, report = timed(lambda: session.set_weights(sets[which], partial=True))
        times["full"].append(seconds)
        packed = report["bytes_redone"]
        check(session.run(None, feeds)[0], expected[which])
        times["part"].append(timed(lambda: partly.set_weights(small[which], partial=True))[0])
        seconds, _ = timed(live.use_weights, mapped[which])
        times["baked"].append(seconds)
        run, result = timed(live.run, None, feeds)
        times["baked + run"].append(seconds + run)
        times["run"].append(timed(live.run, None, feeds)[0])
        check(result[0], expected[which])
    show(name, times, packed, sum(a.nbytes for a in small[0].values()) / sum(a.nbytes for a in sets[0].values()))


def compare_runs(paths, sets, feeds):
    """Runs of a session with swapped weights and of one compiled with them, in turn: the ratio of each pair."""
    fresh = tenon.compile(str(paths[1]), ["net"]).session()
    swapped = tenon.compile(str(paths[0]), ["net"], sources="embed").session()
    swapped.set_weights(sets[1], partial=True)
    pairs = [(timed(swapped.run, None, feeds)[0], timed(fresh.run, None, feeds)[0]) for _ in range(60)]
    ratios = [a / b for a, b in pairs]
    print(f"  a run with swapped weights takes {statistics.median(ratios):.3f} of one with compiled weights "
          f"(median of {len(ratios)} pairs)")


def resident(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))


def measure_memory(name):
    """What swaps add to the memory of a process of its own at most, in units of what they change."""
    make = MODELS[name]
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(make(np.random.default_rng(1)), Path(folder) / "net.onnx")
        (context,) = tenon.compile(Path(folder) / "net.onnx", sources="none").save(folder)
        sets = [arrays_of(make(np.random.default_rng(seed))) for seed in (1, 2)]
        feeds = feeds_of(make(np.random.default_rng(1)))
        session = tenon.InferenceSession(context)
        session.run(None, feeds)  # touches the weights that are there
        before = resident("VmRSS:")
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # the peak begins anew
        for turn, words in enumerate(("of the first full swap", "of the second", "of three more")):
            for _ in range(turn + 1):
                changed = session.set_weights(sets[turn % 2])["bytes_redone"]
            peak = resident("VmHWM:") - before
            print(f"  peak memory {words}: {peak / changed:.2f} times what a swap changes above that of the mapped file")


def check(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-2, atol=1e-3)


def show(name, times, packed, share):
    times = {key: values[2:] for key, values in times.items()}  # the first swaps meet fresh memory
    base = times["new session"]
    print(f"{name}: {packed / 1e6:.0f} MB packed; milliseconds, least and median, and how much faster than onnxruntime")
    row("onnxruntime: new session, weights from memory", base)
    row("tenon: all weights", times["full"], base)
    row(f"tenon: {share:.1%} of the weights", times["part"], base)
    row("tenon: weights baked before", times["baked"], base)
    row("tenon: weights baked before, and a run", times["baked + run"])
    row("tenon: a run", times["run"])
    copy = memcpy_seconds(packed)
    print(f"  memcpy of the packed bytes {copy * 1e3:.1f} ms: a full swap moves them at "
          f"{copy / statistics.median(times['full']):.2f} of its speed")


MODELS = {"resnet": resnet, "bert": bert}


def main():
    if sys.argv[1:2] == ["--memory"]:
        return measure_memory(sys.argv[2])
    for name in sys.argv[1:] or MODELS:
        measure(name)
        subprocess.run([sys.executable, __file__, "--memory", name], check=True)


if __name__ == "__main__":
    main()

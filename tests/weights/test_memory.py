"""What a swap takes: the entries that change, and no more than one scratch per worker beside them."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

LAYERS, WIDTH = 12, 1024
ENTRY = WIDTH * WIDTH * 4
THREADS = 2
SLACK = 3 << 20  # allocators round, and Python itself takes a little

# In a process of its own, so that nothing else moves its memory.
CHILD = textwrap.dedent("""
    import json, sys
    import numpy as np
    import tenon

    def resident(key):
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(key))

    context, weights, threads, swaps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    options = tenon.SessionOptions()
    options.intra_op_num_threads = threads
    session = tenon.InferenceSession(context, options)
    sets = [{k: v for k, v in np.load(weights).items()} for _ in range(2)]
    feeds = {"x": np.ones((1, 1024), np.float32)}
    session.run(None, feeds)  # touches the old weights
    before = resident("VmRSS:")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak begins anew
    redone = 0
    for turn in range(swaps):
        redone = session.set_weights(sets[turn % 2], partial=True)["bytes_redone"]
    print(json.dumps({"redone": redone, "added": resident("VmHWM:") - before}))
""")


def scaled_layers(rng):
    """Products that are multiplied by a constant, some stored transposed and some in half precision."""
    nodes, weights, value = [], [], "x"
    for i in range(LAYERS):
        array = rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) / WIDTH
        name = f"w{i}"
        if i % 3 == 1:
            array = array.astype(np.float16)
            nodes.append(helper.make_node("Cast", [name], [f"{name}.cast"], to=TensorProto.FLOAT))
            name = f"{name}.cast"
        if i % 3 == 2:
            nodes.append(helper.make_node("Transpose", [name], [f"{name}.t"], perm=[1, 0]))
            name = f"{name}.t"
        weights += [numpy_helper.from_array(array, f"w{i}"),
                    numpy_helper.from_array(rng.random(WIDTH, dtype=np.float32), f"s{i}")]
        nodes += [helper.make_node("MatMul", [value, name], [f"m{i}"]),
                  helper.make_node("Mul", [f"m{i}", f"s{i}"], [f"v{i}"])]
        value = f"v{i}"
    sides = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, WIDTH]) for name in ("x", value)]
    graph = helper.make_graph(nodes, "layers", sides[:1], sides[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.fixture(scope="module")
def layers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("layers")
    model = scaled_layers(np.random.default_rng(1))
    onnx.save(model, folder / "layers.onnx")
    (context,) = tenon.compile(folder / "layers.onnx", sources="embed").save(folder)
    return folder, context, {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}


def swap(layers, chosen, swaps):
    folder, context, arrays = layers
    np.savez(folder / "new.npz", **{name: arrays[name] for name in chosen})
    line = [sys.executable, "-c", CHILD, context, folder / "new.npz", THREADS, swaps]
    child = subprocess.run(list(map(str, line)), capture_output=True, text=True, timeout=120)
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


@pytest.mark.parametrize("swaps", [1, 2, 7])
def test_all_weights(layers, swaps):
    measured = swap(layers, list(layers[2]), swaps)
    assert measured["redone"] >= LAYERS * ENTRY
    # The first set stays with the artifact's mapping; from the second swap on there is one spare set.
    sets = min(swaps, 2)
    assert measured["added"] <= sets * measured["redone"] + THREADS * ENTRY + SLACK


@pytest.mark.parametrize("name", ["w0", "w1", "w2"])
def test_one_weight(layers, name):
    measured = swap(layers, [name], 1)
    assert ENTRY <= measured["redone"] <= ENTRY + WIDTH * 4
    assert measured["added"] <= measured["redone"] + THREADS * ENTRY + SLACK

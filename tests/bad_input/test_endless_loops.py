"""Loops that never end by themselves."""

import threading
import time

import numpy as np
import pytest
import tenon
from bad_input.refusals import model_of, node_model, refused, session
from onnx import helper, parser

HEADER = '<ir_version: 9, opset_import: ["" : 19]>\n'
ENDLESS = parser.parse_model(
    HEADER
    + """
    g (bool go) => (int64 last) {
      zero = Constant <value_int = 0> ()
      [culprit] last = Loop ("", go, zero) <body = b (int64 i, bool c, int64 n) => (bool again, int64 next) {
        again = Identity (c)
        next = Add (n, i)
      }>
    }"""
)
GROWING = parser.parse_model(
    HEADER
    + """
    g (bool go, float[1] x) => (float[M] last) {
      [culprit] last = Loop ("", go, x) <body = b (int64 i, bool c, float[N] n) => (bool again, float[K] next) {
        again = Identity (c)
        next = Concat <axis = 0> (n, n)
      }>
    }"""
)
COLLECTING = parser.parse_model(
    HEADER
    + """
    g (bool go) => (float[M, N] all) {
      size = Constant <value_ints = [65536]> ()
      x = ConstantOfShape (size)
      [culprit] all = Loop ("", go) <body = b (int64 i, bool c) => (bool again, float[K] part) {
        again = Identity (c)
        part = Identity (x)
      }>
    }"""
)
LISTING = parser.parse_model(
    HEADER
    + """
    g (bool go, float[1] x) => (seq(float[M]) last) {
      empty = SequenceEmpty ()
      [culprit] last = Loop ("", go, empty) <body = b (int64 i, bool c, seq(float[M]) n) => (bool again, seq(float[M]) next) {
        again = Identity (c)
        one = Add (x, x)
        next = SequenceInsert (n, one)
      }>
    }"""
)
RISING = parser.parse_model(
    HEADER
    + """
    g (bool go, float[1] x) => (float last) {
      front = Constant <value_ints = [0]> ()
      [culprit] last = Loop ("", go, x) <body = b (int64 i, bool c, float n) => (bool again, float next) {
        again = Identity (c)
        [rise] next = Unsqueeze (n, front)
      }>
    }"""
)
GO = {"go": np.array(True)}
X = {"x": np.ones(1, np.float32)}


def test_the_limit_of_iterations():
    refused(ENDLESS, GO, says="1000 iterations.*loop_limit", code="resource limit", loop_limit=1000)


NESTED = parser.parse_model(
    HEADER
    + """
    g (int64 many) => (int64 last) {
      zero = Constant <value_int = 0> ()
      [outer] last = Loop (many, "", zero) <body = b (int64 i, bool c, int64 n) => (bool on, int64 next) {
        on = Identity (c)
        [inner] next = Loop (many, "", n) <body = d (int64 j, bool e, int64 m) => (bool go, int64 more) {
          go = Identity (e)
          more = Add (m, j)
        }>
      }>
    }"""
)


def test_nested_loops_share_one_limit():
    many = {"many": np.array(30)}
    assert session(NESTED, loop_limit=930).run(None, many) == [13050]
    refused(NESTED, many, says="have made 929 iterations.*the limit is 929", place="inner", code="resource limit", loop_limit=929)
    # The limit is one of a run, not of a session.
    again = session(NESTED, loop_limit=930)
    assert again.run(None, many) == again.run(None, many) == [13050]


# Kernels ask every few milliseconds. What is tried here takes minutes, so a busy machine does not decide.
SOON = 10


def stopped(running, feeds, delay):
    """The run ends with an error soon after another thread asks for it."""
    options = tenon.RunOptions()
    asked = []

    def ask():
        asked.append(time.monotonic())
        options.terminate = True

    timer = threading.Timer(delay, ask)
    timer.start()
    with pytest.raises(tenon.Error, match="cancelled") as caught:
        running.run(None, feeds, options)
    timer.join()
    assert time.monotonic() - asked[0] < SOON
    assert caught.value.code == "cancelled"
    return options


@pytest.mark.parametrize("delay", [0, 0.05])
def test_termination_by_another_thread(delay):
    options = stopped(session(ENDLESS), GO, delay)
    options.terminate = False
    with pytest.raises(tenon.Error, match="loop_limit"):
        session(ENDLESS, loop_limit=3).run(None, GO, options)


def test_loops_that_grow_meet_the_memory_limit():
    refused(GROWING, GO | X, says="memory_limit", code="resource limit")
    refused(COLLECTING, GO, says="memory_limit", code="resource limit")


def test_ranks_that_grow_meet_a_limit():
    for value in (RISING.graph.output[0], *RISING.graph.node[1].attribute[0].g.output[1:],
                  *RISING.graph.node[1].attribute[0].g.input[2:]):  # fmt: skip
        value.type.tensor_type.ClearField("shape")
    message = refused(RISING, GO | X, says="65 dimensions; the limit is 64", code="resource limit")
    assert "'rise' (Unsqueeze)" in message


def test_lists_of_small_things_meet_the_memory_limit():
    refused(LISTING, GO | X, says="memory_limit", code="resource limit", memory_limit=1 << 20)


# Each would take minutes or more. What takes less even with all memory is in cancellation_test.cpp.
LARGE = {
    "LpPool": "y = LpPool <kernel_shape = [64, 1048576], pads = [32, 1048576, 32, 1048576]> (x)",
    "MaxPool": "y = MaxPool <kernel_shape = [64, 1048576], pads = [32, 1048576, 32, 1048576]> (x)",
    "Conv": "y = Conv <pads = [63, 63, 63, 63]> (many, many)",
    "MatMul": "y = MatMul (square, square)",
    "Gemm": "y = Gemm (square, square)",
    "Einsum": 'y = Einsum <equation = "ij,jk,kl->il"> (square, square, square)',
    "EinsumOfMany": 'y = Einsum <equation = "ij,jk->ik"> (square, square)',
    "DFT": "y = DFT (signal)",
    "STFT": "y = STFT (signal, step)",
    "LRN": "y = LRN <size = 1000000> (deep)",
    "Attention": "y = Attention <q_num_heads = 1, kv_num_heads = 1> (long, long, long)",
    "TopK": "y, z = TopK (row, half)",
    "Unique": "y = Unique <axis = 0> (tall)",
    "NonMaxSuppression": "y = NonMaxSuppression (boxes, scores, all, one)",
    "Resize": 'y = Resize <mode = "cubic", antialias = 1> (wide, "", "", small)',
    "ConvTranspose": "y = ConvTranspose (many, many)",
    "LSTM": "y = LSTM <hidden_size = 8000> (steps, gates, gates)",
    "GridSample": 'y = GridSample <mode = "cubic"> (many, grid)',
    "RoiAlign": "y = RoiAlign <output_height = 64, output_width = 64, sampling_ratio = 1000> (many, rois, batch)",
    "Loss": "y = SoftmaxCrossEntropyLoss (classes, labels)",
}
# What these read, beside x: ConstantOfShape makes it, so that models stay small.
SIZES = {
    "many": [64, 64, 64, 64], "square": [8000, 8000], "signal": [1, 999_983, 1], "deep": [1, 1_000_000, 4],
    "long": [1, 100_000, 64], "tall": [20_000, 20_000], "boxes": [1, 400_000, 4], "scores": [1, 1, 400_000],
    "wide": [1, 1, 20_000, 12_000], "steps": [100, 1, 8000], "gates": [1, 32_000, 8000], "grid": [64, 300, 300, 2],
    "rois": [100, 4], "row": [100_000_000], "classes": [10, 60_000_000],
}  # fmt: skip


CONSTANTS = {
    "half": np.array([50_000_000]), "step": np.array(1), "all": np.array([300_000_000]), "one": np.array(1, np.float32), "small": np.array([1, 1, 20_000, 11_999]),
    "batch": np.zeros(100, np.int64), "labels": np.zeros(10, np.int64),
}  # fmt: skip


# The cpu provider reads each element a few times, and is done sooner.
QUICK_ON_CPU = ["Resize", "TopK"]


@pytest.mark.parametrize(
    ("op_type", "provider"),
    [(op_type, provider) for op_type in LARGE for provider in ("reference", "cpu")
     if provider == "reference" or op_type not in QUICK_ON_CPU],
)  # fmt: skip
def test_large_kernels_can_be_stopped(op_type, provider):
    text = LARGE[op_type]
    read = text[text.rindex("(") + 1 : -1].replace('"', "").replace(" ", "").split(",")
    nodes = [parser.parse_node(f"[large] {text}")]
    weights = {name: value for name, value in CONSTANTS.items() if name in read}
    for name in {name for name in read if name in SIZES}:
        weights[f"{name}_shape"] = np.array(SIZES[name])
        nodes.insert(0, helper.make_node("ConstantOfShape", [f"{name}_shape"], [name]))
    x = helper.make_tensor_value_info("x", 1, [1, 1, 64, 64])
    model = model_of(nodes, [x], ["y"], weights, version=24 if op_type == "Attention" else 20)
    running = session(model, memory_limit=8 << 30, provider=provider)
    stopped(running, {"x": np.ones((1, 1, 64, 64), np.float32)}, 1.5)


def deep_tree(nodes):
    """Every branch leads to the next one."""
    leaves, count = nodes + 1, 2 * nodes + 1
    return {
        "n_targets": 1, "nodes_treeids": [0] * count, "nodes_nodeids": list(range(count)), "nodes_featureids": [0] * count,
        "nodes_values": [1.0] * count, "nodes_modes": ["BRANCH_LEQ"] * nodes + ["LEAF"] * leaves,
        "nodes_truenodeids": [*range(1, nodes), 2 * nodes] + [0] * leaves,
        "nodes_falsenodeids": [*range(nodes, 2 * nodes)] + [0] * leaves,
        "target_treeids": [0] * leaves, "target_nodeids": list(range(nodes, count)), "target_ids": [0] * leaves,
        "target_weights": [1.0] * leaves,
    }  # fmt: skip


# A search cannot be cancelled, the searches of one text can: each of these reads it to its end and finds one letter.
LONG_TEXT = np.array(["a" * 2_000_000], object)
FAR_LOOKING = "a|a[ab]*x"
# Every text takes a search about a tenth of a second, because each of its positions is another state.
DENSE_TEXTS = np.array(["".join(np.random.default_rng(1).choice(["a", "b"], 20_000))] * 10_000, object)
# One element or one row of these is all the work there is.
LARGE_ONES = {
    "RegexFullMatch": lambda: ([DENSE_TEXTS], {"pattern": "[ab]*a[ab]{900}", "version": 20}),
    "Tokenizer": lambda: ([LONG_TEXT], {"domain": "com.microsoft", "mark": 0, "mincharnum": 1, "pad_value": "#",
                                        "separators": [FAR_LOOKING, "y"]}),
    "TfIdfVectorizer": lambda: ([np.ones((1, 2_000_000), np.int64)],
                                {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 2_000_000,
                                 "ngram_counts": [0, 1], "ngram_indexes": [0, 1], "pool_int64s": [1, 1, 1]}),
    "TreeEnsembleRegressor": lambda: ([np.zeros((1_000_000, 1), np.float32)], {"domain": "ai.onnx.ml", **deep_tree(20_000)}),
    "Det": lambda: ([np.eye(6000, dtype=np.float32)], {}),
    "GridSample": lambda: ([np.ones([1] * 42, np.float32), np.full([1] * 41 + [40], 0.3, np.float32)],
                           {"padding_mode": "reflection", "mode": "linear", "version": 20}),
}  # fmt: skip


@pytest.mark.parametrize("op_type", LARGE_ONES)
def test_single_elements_can_be_given_up(op_type):
    inputs, attributes = LARGE_ONES[op_type]()
    model, feeds = node_model(op_type, inputs, attributes.pop("version", 21), constant=False, **attributes)
    for imported in model.opset_import:
        imported.version = 3 if imported.domain == "ai.onnx.ml" else imported.version
    stopped(session(model, memory_limit=4 << 30), feeds, 0.5)

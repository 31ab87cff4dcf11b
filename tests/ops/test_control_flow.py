"""Loop, Scan, If and SequenceMap, and the sequences and optionals that pass through them."""

import numpy as np
import pytest
import tenon
from onnx import TensorProto, helper, parser
from oracles.peer import run_peer


def model(text, version=19):
    header = f'<ir_version: 9, opset_import: ["" : {version}]>\n'
    return parser.parse_model(header + text).SerializeToString()


def run(text, version=19, **feeds):
    return tenon.InferenceSession(model(text, version)).run(None, feeds)


def check_same(text, version=19, **feeds):
    expected = run_peer(model(text, version), feeds)
    for got, want in zip(run(text, version, **feeds), expected, strict=True):
        if isinstance(want, list):
            assert len(got) == len(want)
        for g, w in zip(got, want, strict=True) if isinstance(want, list) else [(got, want)]:
            assert g.dtype == w.dtype and g.shape == w.shape
            np.testing.assert_allclose(g, w, rtol=1e-6)


LOOP = """
g (int64 trips, bool go, float[N] x, float limit) => (float[M] last, float[K, L] all) {
  last, all = Loop (trips, go, x) <body = b (int64 i, bool c, float[P] carried) => (bool again, float[P] next, float[P] part) {
    step = CastLike (i, limit)
    next = Add (carried, step)
    part = Add (next, limit)
    total = ReduceSum <keepdims = 0> (next)
    again = Less (total, limit)
  }>
}
"""


@pytest.mark.parametrize(("trips", "go"), [(4, True), (1, True), (100, True)])
def test_loop(trips, go):
    x, limit = np.array([1, 2], np.float32), np.array(40, np.float32)
    check_same(LOOP, trips=np.array(trips), go=np.array(go), x=x, limit=limit)


def test_loop_without_iterations():
    x = np.array([1, 2, 3], np.float32)
    for trips, go in [(0, True), (-3, True), (5, False)]:
        last, stacked = run(LOOP, trips=np.array(trips), go=np.array(go), x=x, limit=np.array(9, np.float32))
        np.testing.assert_array_equal(last, x)
        assert stacked.ndim == 2 and stacked.shape[0] == 0


def test_carried_shapes_may_grow():
    text = """
    g (int64 n) => (int64[M] grown) {
      start = Constant <value_ints = [7]> ()
      grown = Loop (n, , start) <body = b (int64 i, bool c, int64[P] list) => (bool again, int64[Q] longer) {
        again = Identity (c)
        one = Constant <value_ints = [1]> ()
        item = Reshape (i, one)
        longer = Concat <axis = 0> (list, item)
      }>
    }
    """
    (got,) = run(text, n=np.array(4))
    assert got.tolist() == [7, 0, 1, 2, 3]


def test_loop_limit_and_wrong_bodies():
    endless = """
    g (bool go) => (bool out) {
      out = Loop ( , go, go) <body = b (int64 i, bool c, bool s) => (bool again, bool t) {
        again = Identity (c)
        t = Identity (s)
      }>
    }
    """
    options = tenon.SessionOptions()
    options.add_session_config_entry("tenon.loop_limit", "1000")
    with pytest.raises(Exception, match="have made 1000 iterations and need 1 more; the limit is 1000"):
        tenon.InferenceSession(model(endless), options).run(None, {"go": np.array(True)})
    wrong = endless.replace("bool s)", "bool s, bool extra)")
    with pytest.raises(Exception, match="the body takes 4 inputs"):
        run(wrong, go=np.array(True))
    with pytest.raises(Exception, match="2 outputs, but the body returns"):
        run(endless.replace("out = Loop", "out, more = Loop"), go=np.array(True))


def test_stacked_parts_must_agree():
    text = """
    g (int64 n) => (int64[M, K] all) {
      all = Loop (n) <body = b (int64 i, bool c) => (bool again, int64[Q] part) {
        again = Identity (c)
        one = Constant <value_ints = [1]> ()
        count = Reshape (i, one)
        part = ConstantOfShape <value = int64[1] {3}> (count)
      }>
    }
    """
    with pytest.raises(Exception, match="different types or shapes"):
        run(text, n=np.array(3))


def test_loop_with_sequence():
    text = """
    g (int64 n) => (seq(float[N]) out) {
      empty = SequenceEmpty ()
      out = Loop (n, , empty) <body = b (int64 i, bool c, seq(float[N]) s) => (bool again, seq(float[N]) t) {
        again = Identity (c)
        one = Constant <value_ints = [1]> ()
        length = Reshape (i, one)
        part = ConstantOfShape (length)
        t = SequenceInsert (s, part)
      }>
    }
    """
    (got,) = run(text, n=np.array(3))
    assert [g.shape for g in got] == [(0,), (1,), (2,)]


SCAN = """
g (float[2] state, float[N, 2] x, float[2, N] y) => (float[2] last, float[N, 2] a, float[2, N] b) {
  last, a, b = Scan <num_scan_inputs = 2, scan_input_axes = [0, -1], scan_input_directions = [1, 0],
                     scan_output_axes = [0, -1], scan_output_directions = [0, 1],
                     body = body (float[2] s, float[2] p, float[2] q) => (float[2] t, float[2] u, float[2] v) {
    t = Add (s, p)
    u = Mul (t, q)
    v = Sub (p, q)
  }> (state, x, y)
}
"""


def test_scan():
    rng = np.random.default_rng(0)
    for n in (1, 5):
        feeds = {"state": rng.normal(size=2), "x": rng.normal(size=(n, 2)), "y": rng.normal(size=(2, n))}
        check_same(SCAN, 11, **{k: v.astype(np.float32) for k, v in feeds.items()})
    nothing = {"state": np.ones(2, np.float32), "x": np.zeros((0, 2), np.float32), "y": np.zeros((2, 0), np.float32)}
    last, a, b = run(SCAN, 16, **nothing)
    assert last.tolist() == [1, 1] and a.shape == (0, 2) and b.shape == (2, 0)
    with pytest.raises(Exception, match="5 and 4 steps"):
        run(SCAN, 16, state=np.ones(2, np.float32), x=np.ones((5, 2), np.float32), y=np.ones((2, 4), np.float32))
    with pytest.raises(Exception, match="scan_input_axes has 1 entries"):
        run(SCAN.replace("[0, -1], scan_input_dir", "[0], scan_input_dir"), 16, **nothing)
    with pytest.raises(Exception, match="num_scan_inputs is 9"):
        run(SCAN.replace("num_scan_inputs = 2", "num_scan_inputs = 9"), 16, **nothing)


def test_scan_of_version_8():
    text = """
    g (int64[B] lens, float[B, 2] state, float[B, N, 2] x) => (float[B, 2] last, float[B, N, 2] all) {
      last, all = Scan <num_scan_inputs = 1, directions = [1], body = body (float[2] s, float[2] p) => (float[2] t, float[2] u) {
        t = Add (s, p)
        u = Identity (t)
      }> (lens, state, x)
    }
    """
    x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    state, lens = np.ones((2, 2), np.float32), np.array([3, 2])
    last, stacked = run(text, 8, lens=lens, state=state, x=x)
    for b in range(2):
        steps = 1 + np.cumsum(x[b, : lens[b]][::-1], 0)
        np.testing.assert_array_equal(stacked[b, : lens[b]], steps)
        np.testing.assert_array_equal(last[b], steps[-1])
        assert not stacked[b, lens[b] :].any()
    with pytest.raises(Exception, match="length 4 of sequence 0"):
        run(text, 8, lens=np.array([4, 1]), state=state, x=x)


def test_sequence_ops():
    a, b = np.ones((2, 3), np.float32), np.zeros((1, 3), np.float32)
    text = """
    g (float[N, 3] a, float[M, 3] b, int64 at) => (seq(float[K, 3]) inserted, float[K, 3] item, int64 length, float[L, 3] joined, seq(float[K, 3]) rest) {
      start = SequenceConstruct (a, b)
      inserted = SequenceInsert (start, b, at)
      item = SequenceAt (inserted, at)
      length = SequenceLength (inserted)
      joined = ConcatFromSequence <axis = 0> (inserted)
      rest = SequenceErase (inserted, at)
    }
    """
    for at in (-2, -1, 0, 2):
        inserted, item, length, joined, rest = run(text, a=a, b=b, at=np.array(at))
        expected = [a, b]
        expected.insert(at, b)
        assert [i.shape for i in inserted] == [e.shape for e in expected]
        np.testing.assert_array_equal(item, expected[at])
        assert length == 3 and len(rest) == 2
        np.testing.assert_array_equal(joined, np.concatenate(expected))
    for at in (-3, 3):
        with pytest.raises(Exception, match=f"position {at} is outside -2..2"):
            run(text, a=a, b=b, at=np.array(at))
    with pytest.raises(Exception, match="elements 0 and 1 have different types"):
        run(text.replace("float[M, 3] b", "int64[M, 3] b"), a=a, b=b.astype(np.int64), at=np.array(0))


def test_split_to_sequence_and_back():
    text = """
    g (float[N, M] x, int64[K] sizes) => (seq(float[P, M]) parts, seq(float[M]) rows, seq(float[P, M]) pairs, float[N, Q] stacked) {
      parts = SplitToSequence <axis = 0> (x, sizes)
      rows = SplitToSequence <axis = 0, keepdims = 0> (x)
      two = Constant <value_int = 2> ()
      pairs = SplitToSequence <axis = -1> (x, two)
      stacked = ConcatFromSequence <axis = -1, new_axis = 1> (rows)
    }
    """
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    parts, rows, pairs, stacked = run(text, x=x, sizes=np.array([1, 0, 2]))
    assert [p.shape for p in parts] == [(1, 5), (0, 5), (2, 5)]
    assert [r.tolist() for r in rows] == x.tolist()
    assert [p.shape for p in pairs] == [(3, 2), (3, 2), (3, 1)]
    np.testing.assert_array_equal(stacked, x.T)
    with pytest.raises(Exception, match="leave 1 of 3 elements unused"):
        run(text, x=x, sizes=np.array([1, 1]))
    with pytest.raises(Exception, match="does not fit"):
        run(text, x=x, sizes=np.array([1, 9]))


def test_sequence_map():
    text = """
    g (seq(float[N]) xs, float[1] y) => (seq(float[N]) sums, seq(int64[1]) shapes) {
      sums, shapes = SequenceMap (xs, y) <body = b (float[N] x, float[1] c) => (float[N] s, int64[1] n) {
        s = Add (x, c)
        n = Shape (x)
      }>
    }
    """
    xs = [np.arange(n, dtype=np.float32) for n in (3, 0, 2)]
    sums, shapes = run(text, xs=xs, y=np.array([1], np.float32))
    assert [s.tolist() for s in sums] == [(x + 1).tolist() for x in xs]
    assert [s.tolist() for s in shapes] == [[3], [0], [2]]
    assert run(text, xs=[], y=np.array([1], np.float32)) == [[], []]


def test_optionals():
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [None])
    optional = helper.make_optional_type_proto(tensor)
    branch = [
        helper.make_graph([helper.make_node("Optional", ["x"], ["a"])], "t", [], [helper.make_value_info("a", optional)]),
        helper.make_graph([helper.make_node("Optional", [], ["b"], type=tensor)], "e", [], [helper.make_value_info("b", optional)]),
    ]
    nodes = [
        helper.make_node("If", ["c"], ["o"], then_branch=branch[0], else_branch=branch[1]),
        helper.make_node("Identity", ["o"], ["same"]),
        helper.make_node("OptionalHasElement", ["same"], ["has"]),
    ]
    inputs = [helper.make_tensor_value_info("c", TensorProto.BOOL, []), helper.make_value_info("x", tensor)]
    outputs = [helper.make_value_info("same", optional), helper.make_tensor_value_info("has", TensorProto.BOOL, [])]

    def session(graph_nodes, graph_outputs):
        graph = helper.make_graph(graph_nodes, "g", inputs, graph_outputs)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        return tenon.InferenceSession(made.SerializeToString())

    x = np.array([1, 2], np.float32)
    value, has = session(nodes, outputs).run(None, {"c": np.array(True), "x": x})
    assert has and value.tolist() == [1, 2]
    value, has = session(nodes, outputs).run(None, {"c": np.array(False), "x": x})
    assert not has and value is None
    nodes.append(helper.make_node("OptionalGetElement", ["same"], ["inside"]))
    outputs = [helper.make_value_info("inside", tensor)]
    assert session(nodes, outputs).run(None, {"c": np.array(True), "x": x})[0].tolist() == [1, 2]
    with pytest.raises(Exception, match="the optional is empty"):
        session(nodes, outputs).run(None, {"c": np.array(False), "x": x})


def test_shapes_are_computed_from_shapes():
    """Exporters build targets of Reshape from Shape, Gather, Slice and Concat; sessions must follow any batch."""
    text = """
    g (float[B, N, 6] x) => (float[B, P, Q] y, int64[K] r) {
      shape = Shape (x)
      zero = Constant <value_int = 0> ()
      batch = Gather (shape, zero)
      axes = Constant <value_ints = [0]> ()
      first = Unsqueeze (batch, axes)
      one = Constant <value_ints = [1]> ()
      two = Constant <value_ints = [2]> ()
      middle = Slice (shape, one, two)
      three = Constant <value_ints = [3, 2]> ()
      target = Concat <axis = 0> (first, middle, three)
      wide = Reshape (x, target)
      y = Flatten <axis = 3> (wide)
      step = Constant <value_int = 1> ()
      r = Range (zero, batch, step)
    }
    """
    session = tenon.InferenceSession(model(text))
    for batch in (1, 4, 0, 2):
        y, r = session.run(None, {"x": np.ones((batch, 5, 6), np.float32)})
        assert y.shape == (batch * 5 * 3, 2) and r.tolist() == list(range(batch))

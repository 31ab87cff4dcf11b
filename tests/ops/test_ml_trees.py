"""TreeEnsembleClassifier and TreeEnsembleRegressor of versions 1 to 3, and TreeEnsemble of version 5."""

import numpy as np
import pytest
from ml_models import POST_TRANSFORMS, assert_same, compare_with_onnxruntime, ml_model, run_tenon
from onnx import numpy_helper

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


def random_table(rng, trees, features, depth=3, modes=MODES, missing=False):
    """Random trees as the lists of nodes_* attributes, and the (tree, node) of every leaf."""
    table = {k: [] for k in "treeids nodeids featureids modes values truenodeids falsenodeids".split()}
    tracks, leaves = [], []
    for tree in range(trees):
        mode = str(rng.choice(modes))
        count = 2**depth - 1
        for node in range(2 * count + 1):
            is_leaf = node >= count
            table["treeids"].append(tree)
            table["nodeids"].append(node)
            table["featureids"].append(0 if is_leaf else int(rng.integers(features)))
            table["modes"].append("LEAF" if is_leaf else mode)
            table["values"].append(0.0 if is_leaf else float(np.float32(rng.integers(-4, 5) / 2)))
            table["truenodeids"].append(0 if is_leaf else 2 * node + 1)
            table["falsenodeids"].append(0 if is_leaf else 2 * node + 2)
            tracks.append(int(rng.integers(2)) if missing and not is_leaf else 0)
            if is_leaf:
                leaves.append((tree, node))
    attributes = {f"nodes_{k}": v for k, v in table.items()}
    if missing:
        attributes["nodes_missing_value_tracks_true"] = tracks
    return attributes, leaves


def leaf_weights(rng, prefix, leaves, ids, positive=False):
    """One weight for each leaf and id."""
    entries = [(tree, node, i) for tree, node in leaves for i in ids]
    weights = rng.uniform(0, 0.3, len(entries)) if positive else rng.normal(size=len(entries))
    return {
        f"{prefix}_treeids": [e[0] for e in entries],
        f"{prefix}_nodeids": [e[1] for e in entries],
        f"{prefix}_ids": [e[2] for e in entries],
        f"{prefix}_weights": weights.astype(np.float32).tolist(),
    }


def grid(rng, rows, features, dtype=np.float32):
    """Values that often hit thresholds exactly."""
    return (rng.integers(-5, 6, (rows, features)) / 2).astype(dtype)


@pytest.mark.parametrize("post", POST_TRANSFORMS)
@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("base", [0, 1])
def test_binary_classifier_with_one_score(post, strings, positive, base):
    rng = np.random.default_rng(1)
    nodes, leaves = random_table(rng, 5, 4)
    labels = {"classlabels_strings": ["no", "yes"]} if strings else {"classlabels_int64s": [3, 8]}
    x = grid(rng, 40, 4)
    attributes = nodes | leaf_weights(rng, "class", leaves, [0], positive) | labels
    if base:
        attributes["base_values"] = [0.05]
    if post == "PROBIT":  # onnxruntime leaves the second score unwritten
        none = run_tenon(ml_model("TreeEnsembleClassifier", {"X": x}, 2, **attributes), {"X": x})
        model = ml_model("TreeEnsembleClassifier", {"X": x}, 2, post_transform=post, **attributes)
        label, scores = run_tenon(model, {"X": x})
        assert label.tolist() == none[0].tolist()
        np.testing.assert_array_equal(scores[:, 0], -scores[:, 1])
        return
    compare_with_onnxruntime("TreeEnsembleClassifier", {"X": x}, 2, post_transform=post, **attributes)


@pytest.mark.parametrize("post", POST_TRANSFORMS[:4])
def test_binary_classifier_whose_weights_are_for_the_second_class(post):
    rng = np.random.default_rng(2)
    nodes, leaves = random_table(rng, 5, 4)
    attributes = nodes | leaf_weights(rng, "class", leaves, [1]) | {"classlabels_int64s": [3, 8]}
    compare_with_onnxruntime("TreeEnsembleClassifier", {"X": grid(rng, 40, 4)}, 2, post_transform=post, **attributes)


@pytest.mark.parametrize("post", POST_TRANSFORMS)
@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("base", [False, True])
def test_multi_class_classifier(post, strings, base):
    rng = np.random.default_rng(3)
    nodes, leaves = random_table(rng, 6, 4)
    labels = {"classlabels_strings": ["a", "b", "c"]} if strings else {"classlabels_int64s": [3, 8, -2]}
    attributes = nodes | leaf_weights(rng, "class", leaves, [0, 1, 2], positive=True) | labels
    if post == "PROBIT":  # wants probabilities
        attributes["class_weights"] = [w / 4 for w in attributes["class_weights"]]
    if base:
        attributes["base_values"] = [0.1, 0.02, 0.3]
    compare_with_onnxruntime(
        "TreeEnsembleClassifier", {"X": grid(rng, 40, 4)}, 2, post_transform=post, **attributes
    )


def test_label_is_the_best_of_the_classes_that_have_a_score():
    rng = np.random.default_rng(4)
    nodes, leaves = random_table(rng, 3, 2)
    attributes = nodes | leaf_weights(rng, "class", leaves, [0]) | {"classlabels_int64s": [1, 2, 3, 4]}
    attributes["class_ids"] = [int(i) for i in rng.integers(0, 4, len(attributes["class_ids"]))]
    compare_with_onnxruntime("TreeEnsembleClassifier", {"X": grid(rng, 50, 2)}, 2, **attributes)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("version", [1, 3])
def test_classifier_input_types(dtype, version):
    rng = np.random.default_rng(5)
    nodes, leaves = random_table(rng, 6, 4)
    attributes = nodes | leaf_weights(rng, "class", leaves, [0, 1, 2]) | {"classlabels_int64s": [0, 1, 2]}
    x = grid(rng, 30, 4).astype(dtype)
    compare_with_onnxruntime("TreeEnsembleClassifier", {"X": x}, 2, version=version, **attributes)


def test_two_scored_classes_choose_the_higher_score():
    nodes = stump()
    weights = {"class_treeids": [0] * 4, "class_nodeids": [1, 1, 2, 2], "class_ids": [0, 1, 0, 1]}
    model = ml_model(
        "TreeEnsembleClassifier", {"X": np.zeros((2, 1), np.float32)}, 2, **nodes, **weights,
        class_weights=[0.7, 0.3, 0.2, 0.8], classlabels_int64s=[5, 7], base_values=[0.0, 0.25],
    )
    label, scores = run_tenon(model, {"X": np.array([[0], [1]], np.float32)})
    assert label.tolist() == [5, 7]
    np.testing.assert_allclose(scores, [[0.7, 0.55], [0.2, 1.05]], rtol=1e-6)


def test_one_class_answers_yes_or_no():
    weights = {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 0], "class_weights": [0.7, -0.2]}
    x = np.array([[0], [1]], np.float32)
    compare_with_onnxruntime("TreeEnsembleClassifier", {"X": x}, 2, **stump(), **weights, classlabels_int64s=[1])


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("base", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_regressor(aggregate, targets, base, dtype):
    rng = np.random.default_rng(6)
    nodes, leaves = random_table(rng, 6, 4)
    attributes = nodes | leaf_weights(rng, "target", leaves, range(targets))
    if base:
        attributes["base_values"] = rng.normal(size=targets).astype(np.float32).tolist()
    x = grid(rng, 40, 4, dtype)
    attributes |= {"aggregate_function": aggregate, "n_targets": targets}
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": x}, **attributes)


@pytest.mark.parametrize("post", POST_TRANSFORMS)
@pytest.mark.parametrize("targets", [1, 3])
def test_regressor_post_transform(post, targets):
    rng = np.random.default_rng(7)
    nodes, leaves = random_table(rng, 3, 4)
    attributes = nodes | leaf_weights(rng, "target", leaves, range(targets), positive=True)
    attributes |= {"n_targets": targets, "post_transform": post}
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": grid(rng, 40, 4)}, **attributes)


@pytest.mark.parametrize("mode", MODES)
def test_missing_values_follow_their_track(mode):
    rng = np.random.default_rng(8)
    nodes, leaves = random_table(rng, 5, 3, modes=[mode], missing=True)
    x = grid(rng, 60, 3)
    x[rng.random(x.shape) < 0.4] = np.nan
    attributes = nodes | leaf_weights(rng, "target", leaves, [0]) | {"n_targets": 1}
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": x}, **attributes)
    del attributes["nodes_missing_value_tracks_true"]
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": x}, **attributes)


def test_double_tensors_are_compared_as_doubles():
    nodes = stump()
    threshold = 0.1 + 1e-12
    del nodes["nodes_values"]
    nodes["nodes_values_as_tensor"] = numpy_helper.from_array(np.array([threshold, 0, 0]))
    weights = {"target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0]}
    weights["target_weights_as_tensor"] = numpy_helper.from_array(np.array([1.0, 2.0]))
    x = np.array([[0.1], [0.1 + 2e-12]])
    model = ml_model("TreeEnsembleRegressor", {"X": x}, n_targets=1, **nodes, **weights)
    assert run_tenon(model, {"X": x})[0].tolist() == [[1.0], [2.0]]
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": x}, n_targets=1, **nodes, **weights)
    weights["base_values_as_tensor"] = numpy_helper.from_array(np.array([0.5]))
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": x}, n_targets=1, **nodes, **weights)


def test_integers_meet_float_thresholds_as_floats():
    nodes = stump() | {"nodes_values": [16777216.0, 0.0, 0.0]}
    weights = {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 0], "class_weights": [-1.0, 1.0]}
    x = np.array([[16777217], [16777219]], np.int64)
    compare_with_onnxruntime("TreeEnsembleClassifier", {"X": x}, 2, classlabels_int64s=[0, 1], **nodes, **weights)


def test_weights_may_come_in_any_order_and_trees_in_any_numbering():
    rng = np.random.default_rng(9)
    nodes, leaves = random_table(rng, 4, 3)
    nodes["nodes_treeids"] = [10 - t for t in nodes["nodes_treeids"]]
    attributes = nodes | leaf_weights(rng, "target", [(10 - t, n) for t, n in leaves], [0, 1])
    order = rng.permutation(len(attributes["target_ids"]))
    for key in ["target_treeids", "target_nodeids", "target_ids", "target_weights"]:
        attributes[key] = [attributes[key][i] for i in order]
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": grid(rng, 30, 3)}, n_targets=2, **attributes)


def test_branches_may_meet_again():
    """Converters write "x is one of" as equalities whose true branches share a leaf."""
    nodes = {
        "nodes_treeids": [0] * 4, "nodes_nodeids": [0, 1, 2, 3], "nodes_featureids": [0] * 4,
        "nodes_modes": ["BRANCH_EQ", "BRANCH_EQ", "LEAF", "LEAF"], "nodes_values": [40.0, 50.0, 0.0, 0.0],
        "nodes_truenodeids": [2, 2, 0, 0], "nodes_falsenodeids": [1, 3, 0, 0],
    }  # fmt: skip
    weights = {"target_treeids": [0, 0], "target_nodeids": [2, 3], "target_ids": [0, 0], "target_weights": [1.0, 2.0]}
    x = np.array([[40], [50], [60]], np.float32)
    model = ml_model("TreeEnsembleRegressor", {"X": x}, n_targets=1, **nodes, **weights)
    assert run_tenon(model, {"X": x})[0].ravel().tolist() == [1, 1, 2]


def test_tree_that_is_one_leaf():
    nodes = {
        "nodes_treeids": [0], "nodes_nodeids": [0], "nodes_featureids": [0], "nodes_modes": ["LEAF"],
        "nodes_values": [0.0], "nodes_truenodeids": [0], "nodes_falsenodeids": [0],
    }  # fmt: skip
    weights = {"target_treeids": [0], "target_nodeids": [0], "target_ids": [0], "target_weights": [4.5]}
    x = np.zeros((3, 1), np.float32)
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": x}, n_targets=1, **nodes, **weights)


def test_weights_of_inner_nodes_do_not_count():
    weights = {"target_treeids": [0] * 3, "target_nodeids": [0, 1, 2], "target_ids": [0] * 3}
    x = np.array([[0], [1]], np.float32)
    attributes = stump() | weights | {"target_weights": [100.0, 1.0, 2.0], "n_targets": 1}
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": x}, **attributes)


def test_a_leaf_for_one_target_has_one_weight():
    """Decision paths are exported with every weight repeated for each class."""
    weights = {"target_treeids": [0] * 4, "target_nodeids": [1, 1, 2, 2], "target_ids": [0] * 4}
    x = np.array([[0], [1]], np.float32)
    attributes = stump() | weights | {"target_weights": [3.0, 30.0, 4.0, 40.0], "n_targets": 1}
    compare_with_onnxruntime("TreeEnsembleRegressor", {"X": x}, **attributes)


@pytest.mark.parametrize("rows", [0, 1])
def test_few_rows(rows):
    weights = {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 0], "class_weights": [-1.0, 1.0]}
    x = np.ones((rows, 1), np.float32)
    model = ml_model("TreeEnsembleClassifier", {"X": x}, 2, classlabels_strings=["a", "b"], **stump(), **weights)
    label, scores = run_tenon(model, {"X": x})
    assert label.tolist() == ["b"] * rows and scores.tolist() == [[-1, 1]] * rows
    if rows:
        flat = ml_model("TreeEnsembleClassifier", {"X": x[0]}, 2, classlabels_strings=["a", "b"], **stump(), **weights)
        assert run_tenon(flat, {"X": x[0]})[0].tolist() == ["b"]


def stump():
    """x[0] <= 0.5 goes to node 1, else to node 2."""
    return {
        "nodes_treeids": [0, 0, 0], "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [0.5, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0],
    }  # fmt: skip


STUMP_WEIGHTS = {"target_treeids": [0, 0], "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0]}
TWO_LEVELS = {
    "nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0] * 3,
    "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], "nodes_values": [0.5, 0.2, 0.0],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes_featureids": [0, 0]}, "nodes_featureids has 2 elements, but nodes_modes has 3"),
        ({"nodes_truenodeids": [1, 0, 0, 0]}, "nodes_truenodeids has 4 elements"),
        ({"nodes_values": [0.5]}, "nodes_splits has 1 elements"),
        ({"nodes_missing_value_tracks_true": [1]}, "nodes_missing_value_tracks_true has 1 elements"),
        ({"nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAVE"]}, "'LEAVE', which is not a valid mode"),
        ({"nodes_nodeids": [0, 1, 1]}, "node 1 of tree 0 occurs twice"),
        ({"nodes_truenodeids": [9, 0, 0]}, "leads to node 9, which does not exist"),
        ({"nodes_falsenodeids": [-1, 0, 0]}, "leads to node -1, which does not exist"),
        ({"nodes_falsenodeids": [1, 0, 0]}, "tree 0 has several roots"),
        ({"nodes_treeids": [0, 0, 1]}, "node 2 of tree 0, which does not exist"),
        ({"nodes_featureids": [7, 0, 0]}, "is 7; X has 1 features"),
        ({"nodes_featureids": [-1, 0, 0]}, "nodes_featureids"),
        ({"target_nodeids": [1, 5]}, "node 5 of tree 0, which does not exist"),
        ({"target_ids": [0, 1]}, "leaf_targetids\\[1\\] is 1, which is out of range: there are 1 targets"),
        ({"target_ids": [0, -1]}, "leaf_targetids\\[1\\] is -1"),
        ({"target_ids": [0]}, "2 tree ids, 2 node ids and 1 targets"),
        ({"target_weights": [1.0]}, "leaf_weights has 1 elements"),
        ({"base_values": [1.0, 2.0]}, "base_values has 2 elements"),
        ({"n_targets": 0}, "n_targets is 0"),
        ({"aggregate_function": "MEAN"}, "aggregate_function is 'MEAN'"),
        ({"post_transform": "EXP"}, "post_transform is 'EXP'"),
        (TWO_LEVELS | {"nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 2, 0]}, "cycle|several roots"),
        (TWO_LEVELS | {"nodes_truenodeids": [0, 2, 0], "nodes_falsenodeids": [1, 2, 0]}, "cycle"),
        (TWO_LEVELS | {"nodes_truenodeids": [1, 1, 0], "nodes_falsenodeids": [2, 2, 0]}, "cycle"),
    ],
)
def test_wrong_tables_are_refused(change, message):
    x = np.zeros((2, 1), np.float32)
    attributes = stump() | STUMP_WEIGHTS | {"n_targets": 1} | change
    with pytest.raises(Exception, match=message):
        run_tenon(ml_model("TreeEnsembleRegressor", {"X": x}, **attributes), {"X": x})


def test_class_ids_out_of_range_are_refused():
    x = np.zeros((2, 1), np.float32)
    weights = {"class_treeids": [0, 0], "class_nodeids": [1, 2], "class_ids": [0, 2], "class_weights": [1.0, 1.0]}
    model = ml_model("TreeEnsembleClassifier", {"X": x}, 2, classlabels_int64s=[0, 1], **stump(), **weights)
    with pytest.raises(Exception, match="is 2, which is out of range: there are 2 targets"):
        run_tenon(model, {"X": x})


# Version 5.


def tree_five(dtype=np.float32, **change):
    """x[0] <= 0.5: leaf 0, else x[1] in {1, 3}: leaf 1 or leaf 2."""
    attributes = {
        "n_targets": 2, "tree_roots": [0], "nodes_featureids": [0, 1],
        "nodes_modes": numpy_helper.from_array(np.array([0, 6], np.uint8)),
        "nodes_splits": numpy_helper.from_array(np.array([0.5, 0], dtype)),
        "nodes_truenodeids": [0, 1], "nodes_trueleafs": [1, 1],
        "nodes_falsenodeids": [1, 2], "nodes_falseleafs": [0, 1],
        "membership_values": numpy_helper.from_array(np.array([1, 3, np.nan], dtype)),
        "leaf_targetids": [0, 1, 0], "leaf_weights": numpy_helper.from_array(np.array([1, 2, 4], dtype)),
    }  # fmt: skip
    return {k: v for k, v in (attributes | change).items() if v is not None}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_tree_ensemble_five(dtype):
    x = np.array([[0, 0], [1, 3], [1, 2], [1, 1], [np.nan, 2.5]], dtype)
    model = ml_model("TreeEnsemble", {"X": x}, version=5, **tree_five(dtype))
    (y,) = run_tenon(model, {"X": x})
    assert_same([y], [np.array([[1, 0], [0, 2], [4, 0], [0, 2], [4, 0]], dtype)])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("aggregate", [0, 1, 2, 3])
@pytest.mark.parametrize("post", [0, 3, 4])
def test_tree_ensemble_five_like_onnxruntime(dtype, aggregate, post):
    rng = np.random.default_rng(10)
    change = {
        "tree_roots": [0, 0], "leaf_weights": numpy_helper.from_array(np.array([0.2, 0.3, 0.4], dtype)),
        "nodes_missing_value_tracks_true": [1, 0], "n_targets": 1, "leaf_targetids": [0, 0, 0],
        "aggregate_function": aggregate, "post_transform": post,
    }  # fmt: skip
    x = grid(rng, 30, 2, dtype)
    x[::5, 0] = np.nan
    compare_with_onnxruntime("TreeEnsemble", {"X": x}, version=5, **tree_five(dtype, **change))


@pytest.mark.parametrize(("code", "name"), list(enumerate(POST_TRANSFORMS)))
def test_post_transform_codes_of_version_five(code, name):
    """As the schema numbers them: 1 is SOFTMAX, 2 is LOGISTIC."""
    rng = np.random.default_rng(11)
    leaves = numpy_helper.from_array(np.array([0.2, 0.3, 0.4], np.float32))
    x = grid(rng, 20, 2)
    new = ml_model("TreeEnsemble", {"X": x}, version=5, **tree_five(post_transform=code, leaf_weights=leaves))
    old_nodes = {
        "nodes_treeids": [0] * 7, "nodes_nodeids": list(range(7)), "nodes_featureids": [0, 0, 1, 1, 0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "BRANCH_EQ", "BRANCH_EQ", "LEAF", "LEAF", "LEAF"],
        "nodes_values": [0.5, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 4, 5, 0, 0, 0], "nodes_falsenodeids": [2, 0, 3, 6, 0, 0, 0],
        "target_treeids": [0] * 4, "target_nodeids": [1, 4, 5, 6], "target_ids": [0, 1, 1, 0],
        "target_weights": [0.2, 0.3, 0.3, 0.4], "n_targets": 2, "post_transform": name,
    }  # fmt: skip
    old = ml_model("TreeEnsembleRegressor", {"X": x}, **old_nodes)
    np.testing.assert_array_equal(run_tenon(new, {"X": x})[0], run_tenon(old, {"X": x})[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tree_roots": [2]}, "tree_roots\\[0\\] is 2, which is out of range: there are 2 nodes"),
        ({"tree_roots": [-1]}, "tree_roots\\[0\\] is -1"),
        ({"nodes_truenodeids": [5, 1]}, "nodes_truenodeids\\[0\\] is 5, which is out of range: there are 3 leaves"),
        ({"nodes_falsenodeids": [0, 2]}, "cycle: node 0 leads back to node 0"),
        ({"nodes_falsenodeids": [1, 0], "nodes_falseleafs": [0, 0]}, "cycle: node 1 leads back to node 0"),
        ({"nodes_falseleafs": [0]}, "nodes_falseleafs has 1 elements, but nodes_modes has 2"),
        ({"nodes_featureids": [0, 2]}, "nodes_featureids\\[1\\] is 2; X has 2 features"),
        ({"nodes_modes": numpy_helper.from_array(np.array([0, 9], np.uint8))}, "nodes_modes\\[1\\] is 9"),
        ({"nodes_modes": numpy_helper.from_array(np.array([0, 6], np.int64))}, "nodes_modes is int64"),
        ({"nodes_modes": None}, "needs attribute 'nodes_modes'"),
        ({"membership_values": None}, "membership_values has 0 sets, but node 1 needs another"),
        ({"membership_values": numpy_helper.from_array(np.array([1, np.nan, 2], np.float32))}, "more sets than the 1 that the"),
        ({"leaf_targetids": [0, 1, 2]}, "leaf_targetids\\[2\\] is 2, which is out of range: there are 2 targets"),
        ({"leaf_targetids": [0, 1]}, "leaves|leaf_weights has 3 elements"),
        ({"nodes_splits": numpy_helper.from_array(np.array([0.5], np.float32))}, "nodes_splits has 1 elements"),
        ({"aggregate_function": 4}, "aggregate_function is 4"),
        ({"post_transform": 5}, "post_transform is 5"),
        ({"n_targets": None}, "n_targets is 0"),
    ],
)
def test_wrong_ensembles_of_version_five_are_refused(change, message):
    x = np.ones((2, 2), np.float32)
    with pytest.raises(Exception, match=message):
        run_tenon(ml_model("TreeEnsemble", {"X": x}, version=5, **tree_five(**change)), {"X": x})


def test_a_long_chain_of_nodes_needs_no_stack():
    depth = 200_000
    ids = list(range(depth))
    attributes = tree_five(
        n_targets=1, nodes_featureids=[0] * depth, membership_values=None, leaf_targetids=[0, 0],
        nodes_modes=numpy_helper.from_array(np.zeros(depth, np.uint8)),
        nodes_splits=numpy_helper.from_array(np.zeros(depth, np.float32)),
        nodes_truenodeids=[0] * depth, nodes_trueleafs=[1] * depth,
        nodes_falsenodeids=[i + 1 for i in ids[:-1]] + [1], nodes_falseleafs=[0] * (depth - 1) + [1],
        leaf_weights=numpy_helper.from_array(np.array([1, 2], np.float32)),
    )  # fmt: skip
    x = np.array([[0], [1]], np.float32)
    model = ml_model("TreeEnsemble", {"X": x}, version=5, **attributes)
    assert run_tenon(model, {"X": x})[0].tolist() == [[1], [2]]


def test_wrong_input_shapes_are_refused():
    x = np.ones((2, 2, 2), np.float32)
    with pytest.raises(Exception, match="X must be"):
        run_tenon(ml_model("TreeEnsemble", {"X": x}, version=5, **tree_five()), {"X": x})

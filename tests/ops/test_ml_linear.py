"""LinearClassifier, LinearRegressor, SVMClassifier and SVMRegressor."""

import numpy as np
import pytest
from ml_models import POST_TRANSFORMS, compare_with_onnxruntime, ml_model, run_tenon

INPUT_TYPES = [np.float32, np.float64, np.int32, np.int64]


def labels(count, strings, ints_name="classlabels_ints"):
    return {"classlabels_strings": [f"c{i}" for i in range(count)]} if strings else {
        ints_name: [10 * i + 3 for i in range(count)]
    }


def floats(rng, *shape):
    return rng.normal(size=shape).astype(np.float32).ravel().tolist()


def probabilities(rng, rows, features):
    return rng.uniform(0.05, 0.3, (rows, features)).astype(np.float32)


@pytest.mark.parametrize("post", POST_TRANSFORMS)
@pytest.mark.parametrize("strings", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_classifier_with_a_row_for_each_class(post, strings, classes):
    rng = np.random.default_rng(classes)
    x = probabilities(rng, 30, 4)
    weights = {"coefficients": rng.uniform(0, 0.9, classes * 4).tolist(), "intercepts": [0.01] * classes}
    compare_with_onnxruntime(
        "LinearClassifier", {"X": x}, 2, post_transform=post, **weights, **labels(classes, strings)
    )


@pytest.mark.parametrize("post", POST_TRANSFORMS[:4])
@pytest.mark.parametrize("strings", [False, True])
def test_binary_classifier_with_one_row(post, strings):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30, 4)).astype(np.float32)
    weights = {"coefficients": floats(rng, 4), "intercepts": [0.2]}
    compare_with_onnxruntime("LinearClassifier", {"X": x}, 2, post_transform=post, **weights, **labels(2, strings))


def test_probit_of_a_binary_classifier_is_symmetric():
    rng = np.random.default_rng(2)
    x = probabilities(rng, 5, 3)
    weights = {"coefficients": [0.5, 0.7, 0.9], "intercepts": [0.1]}
    model = ml_model("LinearClassifier", {"X": x}, 2, post_transform="PROBIT", **weights, **labels(2, False))
    scores = run_tenon(model, {"X": x})[1]
    one_column = ml_model("LinearRegressor", {"X": x}, post_transform="PROBIT", **weights)
    np.testing.assert_array_equal(scores[:, 1:], run_tenon(one_column, {"X": x})[0])
    np.testing.assert_array_equal(scores[:, 0], -scores[:, 1])


@pytest.mark.parametrize("dtype", INPUT_TYPES)
def test_classifier_input_types(dtype):
    rng = np.random.default_rng(3)
    x = rng.integers(-5, 6, (20, 3)).astype(dtype)
    weights = {"coefficients": floats(rng, 3, 3), "intercepts": floats(rng, 3)}
    compare_with_onnxruntime("LinearClassifier", {"X": x}, 2, version=1, **weights, **labels(3, False))


def test_classifier_of_one_row_without_labels_says_one_or_zero():
    x = np.array([[1.0], [-1.0]], np.float32)
    weights = {"coefficients": [1.0], "intercepts": [0.5]}
    for post in POST_TRANSFORMS[:4]:
        compare_with_onnxruntime("LinearClassifier", {"X": x}, 2, post_transform=post, **weights)


def test_classifier_without_intercepts():
    x = np.array([[1.0, 2.0]], np.float32)
    model = ml_model("LinearClassifier", {"X": x}, 2, coefficients=[1.0, 0.0, 0.0, 1.0], **labels(2, False))
    label, scores = run_tenon(model, {"X": x})
    assert label.tolist() == [13] and scores.tolist() == [[1, 2]]


def test_one_dimensional_input_is_one_row():
    x = np.array([1.0, 2.0], np.float32)
    weights = {"coefficients": [1.0, 0.0, 0.0, 1.0], "intercepts": [0.0, 0.0]}
    compare_with_onnxruntime("LinearClassifier", {"X": x}, 2, **weights, **labels(2, True))


@pytest.mark.parametrize("post", POST_TRANSFORMS)
@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("intercepts", [False, True])
def test_regressor(post, targets, intercepts):
    rng = np.random.default_rng(4)
    x = probabilities(rng, 20, 4)
    attributes = {"coefficients": rng.uniform(0, 0.9, targets * 4).tolist(), "targets": targets}
    if intercepts:
        attributes["intercepts"] = [0.03] * targets
    compare_with_onnxruntime("LinearRegressor", {"X": x}, post_transform=post, **attributes)


@pytest.mark.parametrize("dtype", INPUT_TYPES)
def test_regressor_input_types(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    model = ml_model("LinearRegressor", {"X": x}, coefficients=[1.0, 2.0, 3.0], intercepts=[0.5])
    (y,) = run_tenon(model, {"X": x})
    assert y.dtype == np.float32 and y.tolist() == [[8.5], [26.5]]


@pytest.mark.parametrize("rows", [0, 1])
def test_regressor_of_few_rows(rows):
    x = np.ones((rows, 3), np.float32)
    model = ml_model("LinearRegressor", {"X": x}, coefficients=[1.0, 2.0, 3.0])
    assert run_tenon(model, {"X": x})[0].tolist() == [[6]] * rows


KERNELS = {
    "LINEAR": [0.0, 0.0, 0.0],
    "POLY": [0.4, 0.3, 3.0],
    "RBF": [0.5, 0.0, 0.0],
    "SIGMOID": [0.2, 0.1, 0.0],
}


def svm(rng, kernel, counts, features=4, proba=False):
    classes, vectors = len(counts), sum(counts)
    pairs = classes * (classes - 1) // 2
    attributes = {
        "kernel_type": kernel, "kernel_params": KERNELS[kernel], "vectors_per_class": counts,
        "support_vectors": floats(rng, vectors, features), "coefficients": floats(rng, classes - 1, vectors),
        "rho": floats(rng, pairs),
    }  # fmt: skip
    if proba:
        attributes |= {"prob_a": (-rng.uniform(0.5, 2, pairs)).tolist(), "prob_b": floats(rng, pairs)}
    return attributes


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("counts", [[3, 4], [2, 3, 1], [1, 2, 2, 3]])
@pytest.mark.parametrize("proba", [False, True])
@pytest.mark.parametrize("strings", [False, True])
def test_svm_classifier(kernel, counts, proba, strings):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(25, 4)).astype(np.float32)
    attributes = svm(rng, kernel, counts, proba=proba) | labels(len(counts), strings)
    compare_with_onnxruntime("SVMClassifier", {"X": x}, 2, rtol=1e-3, atol=1e-4, **attributes)


@pytest.mark.parametrize("post", POST_TRANSFORMS[:4])
@pytest.mark.parametrize("counts", [[3, 4], [2, 3, 1]])
@pytest.mark.parametrize("proba", [False, True])
def test_svm_classifier_post_transform(post, counts, proba):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(25, 4)).astype(np.float32)
    attributes = svm(rng, "RBF", counts, proba=proba) | labels(len(counts), False)
    compare_with_onnxruntime("SVMClassifier", {"X": x}, 2, rtol=1e-3, atol=1e-4, post_transform=post, **attributes)


@pytest.mark.parametrize("dtype", INPUT_TYPES)
def test_svm_classifier_input_types(dtype):
    rng = np.random.default_rng(7)
    x = rng.integers(-3, 4, (25, 4)).astype(dtype)
    attributes = svm(rng, "RBF", [2, 3, 1]) | labels(3, False)
    compare_with_onnxruntime("SVMClassifier", {"X": x}, 2, rtol=1e-3, atol=1e-4, **attributes)


@pytest.mark.parametrize("post", POST_TRANSFORMS[:4])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("positive", [False, True])
def test_svm_classifier_without_support_vectors(post, classes, positive):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(25, 4)).astype(np.float32)
    coefficients = np.array(floats(rng, classes, 4))
    attributes = {
        "coefficients": (np.abs(coefficients) if positive else coefficients).tolist(), "rho": [0.1],
        "kernel_params": [0.0, 0.0, 0.0], "kernel_type": "LINEAR", "post_transform": post,
    }  # fmt: skip
    compare_with_onnxruntime("SVMClassifier", {"X": x}, 2, **attributes, **labels(classes, False))


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("one_class", [0, 1])
def test_svm_regressor(kernel, one_class):
    rng = np.random.default_rng(9)
    x = rng.normal(size=(25, 4)).astype(np.float32)
    attributes = {
        "kernel_type": kernel, "kernel_params": KERNELS[kernel], "n_supports": 6, "one_class": one_class,
        "support_vectors": floats(rng, 6, 4), "coefficients": floats(rng, 6), "rho": [0.3],
    }  # fmt: skip
    compare_with_onnxruntime("SVMRegressor", {"X": x}, rtol=1e-3, atol=1e-4, **attributes)


def test_svm_regressor_without_support_vectors():
    rng = np.random.default_rng(10)
    x = rng.normal(size=(25, 4)).astype(np.float32)
    attributes = {"coefficients": floats(rng, 4), "rho": [0.3], "kernel_params": [0.0] * 3, "n_supports": 0}
    compare_with_onnxruntime("SVMRegressor", {"X": x}, **attributes)
    integers = x.astype(np.int64)
    (y,) = run_tenon(ml_model("SVMRegressor", {"X": integers}, **attributes), {"X": integers})
    np.testing.assert_allclose(y[:, 0], integers @ np.array(attributes["coefficients"]) + 0.3, rtol=1e-5)


@pytest.mark.parametrize(
    ("op", "change", "message"),
    [
        ("LinearClassifier", {"coefficients": [1.0] * 5}, "coefficients has 5 elements, which cannot be divided evenly into 2 rows"),
        ("LinearClassifier", {"coefficients": [1.0] * 6}, "X has 4 features, but the coefficients need 3"),
        ("LinearClassifier", {"classlabels_ints": [1]}, "1 class labels are given, but there are 2 classes"),
        ("LinearClassifier", {"classlabels_strings": ["a", "b"]}, "both as integers and as strings"),
        ("LinearClassifier", {"post_transform": "SOFT"}, "post_transform is 'SOFT'"),
        ("LinearClassifier", {"intercepts": [1.0], "classlabels_ints": [1, 2, 3]}, "two class labels, but 3 are given"),
        ("LinearRegressor", {"targets": 3}, "coefficients has 8 elements, which cannot be divided evenly into 3 rows"),
        ("LinearRegressor", {"targets": 0}, "targets is 0"),
        ("LinearRegressor", {"intercepts": [1.0]}, "intercepts has 1 elements but needs 2"),
    ],
)
def test_wrong_linear_models_are_refused(op, change, message):
    attributes = {"coefficients": [1.0] * 8, "intercepts": [0.0, 0.0]}
    attributes |= {"classlabels_ints": [0, 1]} if op == "LinearClassifier" else {"targets": 2}
    x = np.zeros((2, 4), np.float32)
    with pytest.raises(Exception, match=message):
        run_tenon(ml_model(op, {"X": x}, 2 if op == "LinearClassifier" else 1, **(attributes | change)), {"X": x})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vectors_per_class": [2, 3]}, "support_vectors has 24 elements, which cannot be divided evenly into 5 rows"),
        ({"vectors_per_class": [2, -3, 7]}, "negative"),
        ({"vectors_per_class": [2**62, 2**62, 2**62]}, "cannot be divided evenly|too large"),
        ({"vectors_per_class": [2, 4]}, "vectors_per_class has 2 elements, but there are 3 classes"),
        ({"support_vectors": [1.0] * 7}, "support_vectors has 7 elements, which cannot be divided evenly into 6 rows"),
        ({"support_vectors": [1.0] * 6}, "X has 4 features, but the support vectors need 1"),
        ({"coefficients": [1.0] * 14}, "coefficients have the shape \\[2, 7\\]; it must be \\[2, 6\\]"),
        ({"rho": [1.0]}, "rho has 1 elements but needs 3"),
        ({"prob_a": [1.0] * 3}, "prob_a and prob_b must be given together"),
        ({"prob_a": [1.0] * 2, "prob_b": [1.0] * 2}, "prob_a has 2 elements but needs 3"),
        ({"kernel_type": "COSINE"}, "kernel_type is 'COSINE'"),
        ({"kernel_params": [1.0]}, "kernel_params has 1 elements"),
        ({"classlabels_ints": []}, "coefficients|classlabels"),
    ],
)
def test_wrong_svms_are_refused(change, message):
    rng = np.random.default_rng(11)
    x = np.zeros((2, 4), np.float32)
    attributes = svm(rng, "RBF", [2, 3, 1]) | {"classlabels_ints": [0, 1, 2]} | change
    with pytest.raises(Exception, match=message):
        run_tenon(ml_model("SVMClassifier", {"X": x}, 2, **attributes), {"X": x})

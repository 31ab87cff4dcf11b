"""ArrayFeatureExtractor, Binarizer, FeatureVectorizer, Imputer, Normalizer, OneHotEncoder, Scaler."""

import numpy as np
import pytest
from ml_models import compare_with_onnxruntime, ml_model, run_tenon

NUMBERS = [np.float32, np.float64, np.int32, np.int64]


def one_output(op_type, x, **attributes):
    return run_tenon(ml_model(op_type, {"X": x}, **attributes), {"X": x})[0]


@pytest.mark.parametrize("dtype", [*NUMBERS, object])
@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 3, 5)])
def test_array_feature_extractor(dtype, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(str if dtype is object else dtype).astype(dtype)
    feeds = {"X": x, "Y": np.array([4, 0, 4], np.int64)}
    compare_with_onnxruntime("ArrayFeatureExtractor", feeds, version=1)


def test_array_feature_extractor_takes_indices_of_any_shape():
    feeds = {"X": np.arange(8, dtype=np.float32).reshape(2, 4), "Y": np.array([[3, 1]], np.int64)}
    compare_with_onnxruntime("ArrayFeatureExtractor", feeds)


@pytest.mark.parametrize("index", [-1, 4])
def test_array_feature_extractor_refuses_wrong_indices(index):
    feeds = {"X": np.zeros((2, 4), np.float32), "Y": np.array([0, index], np.int64)}
    with pytest.raises(Exception, match=f"Y\\[1\\] is {index}, but X has 4 features"):
        run_tenon(ml_model("ArrayFeatureExtractor", feeds), feeds)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_binarizer(dtype):
    x = np.array([[-1, 0, 1], [2, 3, 4]], dtype)
    y = one_output("Binarizer", x, threshold=1.5)
    assert y.dtype == dtype and y.tolist() == [[0, 0, 0], [1, 1, 1]]
    assert one_output("Binarizer", x).tolist() == [[0, 0, 1], [1, 1, 1]]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_feature_vectorizer(dtype):
    feeds = {"A": np.arange(6).reshape(2, 3).astype(dtype), "B": np.arange(4).reshape(2, 2).astype(dtype)}
    for dimensions in ([3, 2], [2, 2], [4, 3]):
        compare_with_onnxruntime("FeatureVectorizer", feeds, inputdimensions=dimensions)
    expected = np.concatenate(list(feeds.values()), axis=1).astype(np.float32)
    assert run_tenon(ml_model("FeatureVectorizer", feeds), feeds)[0].tolist() == expected.tolist()


def test_feature_vectorizer_refuses_what_does_not_fit():
    feeds = {"A": np.zeros((2, 3), np.float32), "B": np.zeros((3, 2), np.float32)}
    with pytest.raises(Exception, match="input 1 has 3 rows, but input 0 has 2"):
        run_tenon(ml_model("FeatureVectorizer", feeds, inputdimensions=[3, 2]), feeds)
    with pytest.raises(Exception, match="inputdimensions has 1 elements, but there are 2 inputs"):
        run_tenon(ml_model("FeatureVectorizer", feeds, inputdimensions=[3]), feeds)
    with pytest.raises(Exception, match="inputdimensions\\[1\\] is -1"):
        run_tenon(ml_model("FeatureVectorizer", feeds, inputdimensions=[3, -1]), feeds)


@pytest.mark.parametrize("values", [[7.5], [1.5, 2.5, 3.5]])
@pytest.mark.parametrize("replaced", [0.0, float("nan")])
def test_imputer_of_floats(values, replaced):
    x = np.array([[0, np.nan, 2], [3, 0, np.nan]], np.float32)
    attributes = {"imputed_value_floats": values, "replaced_value_float": replaced}
    compare_with_onnxruntime("Imputer", {"X": x}, **attributes)
    wide = x.astype(np.float64)
    y = one_output("Imputer", wide, **attributes)
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y, one_output("Imputer", x, **attributes))


@pytest.mark.parametrize("values", [[7], [1, 2, 3]])
def test_imputer_of_integers(values):
    x = np.array([[0, 5, 2], [3, 0, 5]], np.int64)
    attributes = {"imputed_value_int64s": values, "replaced_value_int64": 5}
    compare_with_onnxruntime("Imputer", {"X": x}, **attributes)
    y = one_output("Imputer", x.astype(np.int32), **attributes)
    assert y.dtype == np.int32 and y.tolist() == one_output("Imputer", x, **attributes).tolist()


def test_imputer_refuses_wrong_values():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(Exception, match="2 elements for 3 features"):
        one_output("Imputer", x, imputed_value_floats=[1.0, 2.0])
    with pytest.raises(Exception, match="exactly one of imputed_value_floats"):
        one_output("Imputer", x)
    with pytest.raises(Exception, match="input 1 is int64"):
        one_output("Imputer", x, imputed_value_int64s=[1])


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
@pytest.mark.parametrize("shape", [(4, 3), (6,)])
def test_normalizer(dtype, norm, shape):
    rng = np.random.default_rng(1)
    x = rng.integers(-9, 10, shape).astype(dtype)
    x[0] = 0
    compare_with_onnxruntime("Normalizer", {"X": x}, norm=norm)


def test_normalizer_refuses_unknown_norms_and_more_axes():
    with pytest.raises(Exception, match="norm is 'L3'"):
        one_output("Normalizer", np.zeros((2, 3), np.float32), norm="L3")
    with pytest.raises(Exception, match="X must be"):
        one_output("Normalizer", np.zeros((2, 3, 1), np.float32))


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("length", [1, 3])
@pytest.mark.parametrize("shape", [(2, 3), (3,), (0, 3)])
def test_scaler(dtype, length, shape):
    x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    attributes = {"offset": [0.5, 1.0, -2.0][:length], "scale": [2.0, 0.25, 3.0][:length]}
    compare_with_onnxruntime("Scaler", {"X": x}, **attributes)


def test_scaler_with_one_of_its_lists():
    x = np.array([[1, 2]], np.float32)
    assert one_output("Scaler", x, scale=[2.0, 3.0]).tolist() == [[2, 6]]
    assert one_output("Scaler", x, offset=[1.0]).tolist() == [[0, 1]]
    with pytest.raises(Exception, match="scale has 3 elements for 2 features"):
        one_output("Scaler", x, scale=[1.0, 2.0, 3.0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_one_hot_encoder_of_numbers(dtype):
    x = np.array([[3, 5], [7, 3]], dtype)
    compare_with_onnxruntime("OneHotEncoder", {"X": x}, cats_int64s=[5, 3, 9])


def test_one_hot_encoder_takes_what_is_no_number_for_unknown():
    x = np.array([np.nan, np.inf, -1e30, 3.9], np.float32)
    assert one_output("OneHotEncoder", x, cats_int64s=[3, 0]).tolist() == [[0, 0], [0, 0], [0, 0], [1, 0]]
    assert one_output("OneHotEncoder", x[3:].astype(np.int32), cats_int64s=[3, 0]).tolist() == [[1, 0]]


def test_one_hot_encoder_of_strings():
    x = np.array([["b", "x"], ["a", ""]], object)
    compare_with_onnxruntime("OneHotEncoder", {"X": x}, cats_strings=["a", "b", "a"])


def test_one_hot_encoder_refuses_unknown_categories_when_told():
    with pytest.raises(Exception, match="X\\[1\\] is 8, which is not one of the categories"):
        one_output("OneHotEncoder", np.array([3, 8], np.int64), cats_int64s=[3], zeros=0)
    with pytest.raises(Exception, match="X is int64, but the categories are strings"):
        one_output("OneHotEncoder", np.array([3], np.int64), cats_strings=["a"])
    with pytest.raises(Exception, match="exactly one of cats_int64s"):
        one_output("OneHotEncoder", np.array([3], np.int64))

"""LabelEncoder of every version, CategoryMapper, and the ops on maps."""

import numpy as np
import pytest
from ml_models import ONNX_TYPES, compare_with_onnxruntime, ml_model, run_onnxruntime, run_tenon
from onnx import TensorProto, helper, numpy_helper

TYPES = {
    "string": object, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "float": np.float32, "double": np.float64,
}  # fmt: skip
LISTS = {"string": "strings", "int64": "int64s", "float": "floats"}


def sample(kind, numbers):
    if kind == "string":
        return np.array([f"s{n}" for n in numbers], object)
    return np.array(numbers).astype(TYPES[kind])


def tensor(array):
    if array.dtype == object:
        return helper.make_tensor("t", TensorProto.STRING, array.shape, [s.encode() for s in array])
    return numpy_helper.from_array(array)


def listed(prefix, kind, array):
    return {f"{prefix}_{LISTS[kind]}": array.tolist()}


@pytest.mark.parametrize("key", list(LISTS))
@pytest.mark.parametrize("value", list(LISTS))
@pytest.mark.parametrize("version", [2, 4])
def test_label_encoder_with_lists(key, value, version):
    attributes = listed("keys", key, sample(key, [1, 5, 7])) | listed("values", value, sample(value, [4, 0, 2]))
    attributes |= {"default_string": "none", "default_int64": 42, "default_float": 4.25}
    x = sample(key, [5, 1, 8, 7]).reshape(2, 2)
    compare_with_onnxruntime("LabelEncoder", {"X": x}, version=version, **attributes)
    without_defaults = {k: v for k, v in attributes.items() if not k.startswith("default")}
    compare_with_onnxruntime("LabelEncoder", {"X": x}, version=version, **without_defaults)


@pytest.mark.parametrize("key", list(TYPES))
@pytest.mark.parametrize("value", list(TYPES))
def test_label_encoder_with_tensors(key, value):
    values = sample(value, [4, 0, 2])
    attributes = {
        "keys_tensor": tensor(sample(key, [1, 5, 7])), "values_tensor": tensor(values),
        "default_tensor": tensor(sample(value, [9])),
    }  # fmt: skip
    x = sample(key, [5, 1, 8, 7])
    (y,) = run_tenon(ml_model("LabelEncoder", {"X": x}, version=4, **attributes), {"X": x})
    assert y.dtype == values.dtype and y.tolist() == sample(value, [0, 4, 9, 2]).tolist()


@pytest.mark.parametrize(("value", "default"), [("int16", -1), ("int32", -1), ("double", 0.0), ("float", 0.0)])
def test_label_encoder_defaults_of_tensor_values(value, default):
    attributes = {"keys_strings": ["s1"], "values_tensor": tensor(sample(value, [4]))}
    x = sample("string", [1, 2])
    assert run_tenon(ml_model("LabelEncoder", {"X": x}, version=4, **attributes), {"X": x})[0].tolist() == [4, default]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_label_encoder_finds_nan(dtype):
    attributes = {
        "keys_tensor": numpy_helper.from_array(np.array([np.nan, 0.0, np.inf], dtype)),
        "values_tensor": numpy_helper.from_array(np.array([1, 2, 3], np.int64)),
        "default_tensor": numpy_helper.from_array(np.array([0], np.int64)),
    }
    x = np.array([0.0, -0.0, -np.nan, np.inf, -np.inf, 1.0], dtype)
    compare_with_onnxruntime("LabelEncoder", {"X": x}, version=4, **attributes)


def test_label_encoder_takes_the_first_of_equal_keys():
    x = np.array([1, 2], np.int64)
    compare_with_onnxruntime("LabelEncoder", {"X": x}, keys_int64s=[1, 1, 2], values_strings=["a", "b", "c"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys_int64s": [1]}, "1 keys but 2 values"),
        ({"keys_strings": ["a", "b"]}, "exactly one of the keys_\\* attributes must be given, but there are 2"),
        ({"values_strings": None}, "exactly one of the values_\\* attributes must be given, but there are 0"),
        ({"default_tensor": numpy_helper.from_array(np.array([1], np.int64))}, "default must be one string"),
    ],
)
def test_wrong_label_encoders_are_refused(change, message):
    attributes = {"keys_int64s": [1, 2], "values_strings": ["a", "b"]} | change
    x = np.array([1], np.int64)
    with pytest.raises(Exception, match=message):
        run_tenon(
            ml_model("LabelEncoder", {"X": x}, version=4, **{k: v for k, v in attributes.items() if v}), {"X": x}
        )


def test_label_encoder_refuses_keys_of_another_type():
    x = np.array([1.0], np.float32)
    with pytest.raises(Exception, match="X is float, but the keys are int64"):
        run_tenon(ml_model("LabelEncoder", {"X": x}, keys_int64s=[1], values_int64s=[2]), {"X": x})


@pytest.mark.parametrize("x", [np.array([["b", "z"]], object), np.array([0, 1, 2, -7], np.int64)])
@pytest.mark.parametrize("defaults", [{}, {"default_string": "none", "default_int64": 42}])
def test_label_encoder_of_version_one(x, defaults):
    compare_with_onnxruntime("LabelEncoder", {"X": x}, version=1, classes_strings=["a", "b", "a"], **defaults)


@pytest.mark.parametrize("x", [np.array([["b", "z"]], object), np.array([10, 20, 30, -7], np.int64)])
@pytest.mark.parametrize("defaults", [{}, {"default_string": "none", "default_int64": 42}])
def test_category_mapper(x, defaults):
    attributes = {"cats_strings": ["a", "b", "c", "b"], "cats_int64s": [10, 20, 30, 10]}
    compare_with_onnxruntime("CategoryMapper", {"X": x}, version=1, **attributes, **defaults)


def test_category_mapper_refuses_lists_of_different_lengths():
    x = np.array([1], np.int64)
    with pytest.raises(Exception, match="cats_strings has 1 elements, but cats_int64s has 2"):
        run_tenon(ml_model("CategoryMapper", {"X": x}, cats_strings=["a"], cats_int64s=[1, 2]), {"X": x})


def map_type(key, value):
    kinds = {"int64": TensorProto.INT64, "string": TensorProto.STRING}
    inner = helper.make_tensor_type_proto(ONNX_TYPES[np.dtype(TYPES[value])], [])
    return helper.make_map_type_proto(kinds[key], inner)


def map_model(op_type, key, value, **attributes):
    return ml_model(op_type, {"X": map_type(key, value)}, **attributes)


FORMS = [{"map_form": "DENSE"}, {"map_form": "SPARSE", "max_map": 5}]


@pytest.mark.parametrize("cast_to", ["TO_FLOAT", "TO_INT64", "TO_STRING"])
@pytest.mark.parametrize("form", FORMS)
def test_cast_map_of_numbers(cast_to, form):
    model = map_model("CastMap", "int64", "float", cast_to=cast_to, **form)
    feeds = {"X": {4: 1.5, 0: -2.25, 7: 3.0}}
    (y,), (expected,) = run_tenon(model, feeds), run_onnxruntime(model, feeds)
    assert y.shape == expected.shape and y.dtype == expected.dtype and y.tolist() == expected.tolist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("cast_to", "texts", "values", "padding"),
    [
        ("TO_FLOAT", ["-2.25", " +1e2x", "3"], [-2.25, 100.0, 3.0], 0.0),
        ("TO_INT64", ["-2", " +7.9", "3"], [-2, 7, 3], 0),
        ("TO_STRING", ["a", "", "b"], ["a", "", "b"], "0.f"),
    ],
)
def test_cast_map_of_strings(form, cast_to, texts, values, padding):
    model = map_model("CastMap", "int64", "string", cast_to=cast_to, **form)
    feed = {4: texts[1], 0: texts[0], 7: texts[2]}
    expected = values if form["map_form"] == "DENSE" else [values[0], padding, padding, padding, values[1]]
    assert run_tenon(model, {"X": feed})[0].tolist() == [expected]


@pytest.mark.parametrize(
    ("attributes", "feed", "message"),
    [
        ({"cast_to": "TO_BOOL"}, {0: 1.0}, "cast_to is 'TO_BOOL'"),
        ({"map_form": "THIN"}, {0: 1.0}, "map_form is 'THIN'"),
        ({"map_form": "SPARSE", "max_map": 0}, {0: 1.0}, "max_map is 0"),
        ({"map_form": "SPARSE", "max_map": 4}, {-1: 1.0}, "the key -1 is not a position"),
        ({"cast_to": "TO_INT64"}, {0: float("nan")}, "does not fit into int64"),
    ],
)
def test_wrong_cast_maps_are_refused(attributes, feed, message):
    with pytest.raises(Exception, match=message):
        run_tenon(map_model("CastMap", "int64", "float", **attributes), {"X": feed})


def test_cast_map_refuses_texts_that_are_no_numbers():
    with pytest.raises(Exception, match="'one' is not a number"):
        run_tenon(map_model("CastMap", "int64", "string"), {"X": {0: "one"}})


@pytest.mark.parametrize("key", ["int64", "string"])
def test_dict_vectorizer(key):
    feed = {3: 1.5, 9: -2.5} if key == "int64" else {"c": 1.5, "x": -2.5}
    vocabulary = {"int64_vocabulary": [9, 1, 3, 9]} if key == "int64" else {"string_vocabulary": ["x", "a", "c", "x"]}
    model = map_model("DictVectorizer", key, "float", **vocabulary)
    (y,) = run_tenon(model, {"X": feed})
    assert y.dtype == np.float32 and y.tolist() == [[-2.5, 0, 1.5, -2.5]]
    assert y.tolist() == run_onnxruntime(model, {"X": feed})[0].tolist()


def test_dict_vectorizer_of_strings():
    model = map_model("DictVectorizer", "int64", "string", int64_vocabulary=[2, 1])
    assert run_tenon(model, {"X": {1: "one"}})[0].tolist() == [["", "one"]]


def test_dict_vectorizer_needs_a_vocabulary_of_the_keys_type():
    with pytest.raises(Exception, match="a kind of map that this op does not accept"):
        run_tenon(map_model("DictVectorizer", "string", "float", int64_vocabulary=[1]), {"X": {"a": 1.0}})
    with pytest.raises(Exception, match="exactly one of int64_vocabulary"):
        run_tenon(map_model("DictVectorizer", "string", "float"), {"X": {"a": 1.0}})


@pytest.mark.parametrize("labels", [{"classlabels_int64s": [7, 3]}, {"classlabels_strings": ["yes", "no"]}])
@pytest.mark.parametrize("shape", [(3, 2), (1, 2), (2,)])
def test_zip_map(labels, shape):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    model = ml_model("ZipMap", {"X": x}, **labels)
    actual, expected = run_tenon(model, {"X": x})[0], run_onnxruntime(model, {"X": x})[0]
    assert [list(row.items()) for row in actual] == [list(row.items()) for row in expected]


def test_zip_map_feeds_a_dict_vectorizer_and_refuses_other_widths():
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(Exception, match="X has 3 features, but the class labels need 2"):
        run_tenon(ml_model("ZipMap", {"X": x}, classlabels_int64s=[1, 2]), {"X": x})
    with pytest.raises(Exception, match="exactly one of classlabels_int64s"):
        run_tenon(ml_model("ZipMap", {"X": x}), {"X": x})

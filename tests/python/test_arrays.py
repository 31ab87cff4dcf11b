"""Arrays of every kind go in and come out as they are."""

import ml_dtypes
import numpy as np
import pytest
from python.models import FLOAT, add, identity, model, node, optional_type, passing, sequence_type, state, tensor
from onnx import TensorProto

import tenon

NUMBER = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
          "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15}
PLAIN = [name for name in NUMBER if not name.startswith("complex")]
ML = {"bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19, "float8_e5m2fnuz": 20, "uint4": 21,
      "int4": 22, "float4_e2m1fn": 23, "float8_e8m0fnu": 24, "uint2": 25, "int2": 26,
      "float6_e2m3fn": 27, "float6_e3m2fn": 28}


@pytest.mark.parametrize("name", PLAIN)
def test_plain_dtypes(ort, name):
    x = np.array([0, 1, 2, 3, 100]).astype(name)
    (y,) = ort.InferenceSession(identity(NUMBER[name])).run(None, {"x": x})
    assert y.dtype == x.dtype and y.tolist() == x.tolist()


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_dtypes(name):
    x = np.array([1 + 2j, -3j]).astype(name)
    (y,) = tenon.InferenceSession(identity(NUMBER[name])).run(None, {"x": x})
    assert y.dtype == x.dtype and y.tolist() == x.tolist()


@pytest.mark.parametrize("name", ML)
def test_ml_dtypes(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    x = np.array([1, 1, 1, 1, 0] if name != "float8_e8m0fnu" else [1, 2, 4, 1, 2]).astype(dtype)
    if name in ("int4", "int2"):
        x[1] = -1
    (y,) = tenon.InferenceSession(identity(ML[name])).run(None, {"x": x})
    assert y.dtype == dtype
    assert y.astype(np.float32).tolist() == x.astype(np.float32).tolist()
    assert y.flags.writeable


def test_every_bit_pattern_of_small_types():
    sizes = {"uint4": 4, "int4": 4, "float4_e2m1fn": 4, "uint2": 2, "int2": 2, "float8_e4m3fn": 8}
    for name, bits in sizes.items():
        dtype = np.dtype(getattr(ml_dtypes, name))
        patterns = np.arange(2**bits, dtype=np.uint8)
        x = np.resize(patterns, 2**bits + 1)
        if name in ("int4", "int2"):  # ml_dtypes keeps them sign-extended
            x |= np.where(x >= 2 ** (bits - 1), 256 - 2**bits, 0).astype(np.uint8)
        (y,) = tenon.InferenceSession(identity(ML[name])).run(None, {"x": x.view(dtype)})
        assert y.view(np.uint8).tolist() == x.tolist()


@pytest.mark.parametrize("make", [
    lambda x: x.T.copy().T, lambda x: np.repeat(x, 2, axis=0)[::2], lambda x: x[::-1][::-1], np.asfortranarray,
    lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape),
], ids=["transposed", "strided", "reversed", "fortran", "unaligned"])
def test_layouts(ort, make):
    x = np.array([[1, 2], [3, 4]], np.float32)
    y = np.array([10, 20], np.float32)
    (z,) = ort.InferenceSession(add()).run(None, {"x": make(x), "y": y})
    np.testing.assert_array_equal(z, x + y)


def test_broadcast_and_read_only_arrays(ort):
    x = np.broadcast_to(np.array([1, 2], np.float32), (3, 2))
    y = np.array([10, 20], np.float32)
    y.flags.writeable = False
    (z,) = ort.InferenceSession(add()).run(None, {"x": x, "y": y})
    assert z.tolist() == [[11, 22]] * 3


def test_other_byte_order():
    x = np.array([[1, 2]], ">f4")
    (z,) = tenon.InferenceSession(add()).run(None, {"x": x, "y": np.array([10, 20], np.float32)})
    assert z.tolist() == [[11, 22]] and z.dtype == np.float32


def test_zero_size(ort):
    y = np.array([10, 20], np.float32)
    (z,) = ort.InferenceSession(add()).run(None, {"x": np.empty((0, 2), np.float32), "y": y})
    assert z.shape == (0, 2) and z.dtype == np.float32


def test_scalars(ort):
    (y,) = ort.InferenceSession(identity(shape=[])).run(None, {"x": np.array(3, np.float32)})
    assert y.shape == () and y == 3


@pytest.mark.parametrize("number, item, expected", [
    (FLOAT, 3, 3.0), (FLOAT, 2.5, 2.5), (FLOAT, np.float32(4), 4.0), (TensorProto.INT64, 7, 7),
    (TensorProto.BOOL, True, True), (TensorProto.BFLOAT16, 1.5, 1.5), (TensorProto.STRING, "word", "word"),
])
def test_python_scalars(number, item, expected):
    (y,) = tenon.InferenceSession(identity(number, [])).run(None, {"x": item})
    assert y.tolist() == expected


@pytest.mark.parametrize("number, item", [
    (TensorProto.INT64, 1.5), (TensorProto.INT4, 1.5), (FLOAT, "1"), (TensorProto.STRING, 1), (TensorProto.BOOL, 2),
    (FLOAT, np.float64(1)), (FLOAT, None), (FLOAT, object()),
])
def test_scalars_that_would_lose_something(number, item):
    with pytest.raises(state(tenon).InvalidArgument):
        tenon.InferenceSession(identity(number, [])).run(None, {"x": item})


@pytest.mark.parametrize("x", [np.array(["a", "", "ä日"], object), np.array(["a", "", "ä日"])], ids=["object", "U"])
def test_strings(ort, x):
    (y,) = ort.InferenceSession(identity(TensorProto.STRING)).run(None, {"x": x})
    assert y.dtype == object and y.tolist() == ["a", "", "ä日"]


def test_bytes_as_strings():
    (y,) = tenon.InferenceSession(identity(TensorProto.STRING)).run(None, {"x": np.array([b"a\0b", b""], object)})
    assert y.tolist() == ["a\0b", ""]


def test_strings_of_any_shape(ort):
    x = np.array([["a", "b"], ["c", "d"]], object).T
    (y,) = ort.InferenceSession(identity(TensorProto.STRING, ["n", "m"])).run(None, {"x": x})
    assert y.tolist() == [["a", "c"], ["b", "d"]]
    (y,) = tenon.InferenceSession(identity(TensorProto.STRING, ["n", "m"])).run(None, {"x": np.empty((0, 3), object)})
    assert y.shape == (0, 3)


def test_sequences_of_strings_and_nothing(ort):
    session = ort.InferenceSession(passing(sequence_type(TensorProto.STRING)))
    (y,) = session.run(None, {"x": [np.array(["a"]), np.array(["b", "c"])]})
    assert [s.tolist() for s in y] == [["a"], ["b", "c"]]
    assert tenon.InferenceSession(passing(sequence_type())).run(None, {"x": []})[0] == []


def test_wrong_kinds():
    errors = state(tenon)
    with pytest.raises(errors.InvalidArgument):
        tenon.InferenceSession(passing(sequence_type())).run(None, {"x": np.ones(2, np.float32)})
    with pytest.raises(errors.InvalidArgument):
        tenon.InferenceSession(passing(sequence_type())).run(None, {"x": [np.ones(2, np.float64)]})
    with pytest.raises(errors.InvalidArgument):
        tenon.InferenceSession(passing(optional_type())).run(None, {"x": np.ones(2, np.int32)})
    with pytest.raises(errors.InvalidArgument, match="no ONNX element type"):
        tenon.InferenceSession(identity()).run(None, {"x": np.zeros(2, "M8[s]")})


def test_many_dimensions(ort):
    shape = [2] * 12
    (y,) = ort.InferenceSession(identity(shape=shape)).run(None, {"x": np.ones(shape, np.float32)})
    assert y.shape == tuple(shape) and y.sum() == 4096


def test_subclasses_of_arrays(ort):
    x = np.ones(3, np.float32).view(np.recarray)
    (y,) = ort.InferenceSession(identity()).run(None, {"x": x})
    assert type(y) is np.ndarray and y.tolist() == [1, 1, 1]


def test_one_input_used_twice():
    data = model([node("Add", "x x", "y")], [tensor("x", FLOAT, [2])], [tensor("y", FLOAT, [2])])
    assert tenon.InferenceSession(data).run(None, {"x": np.ones(2, np.float32)})[0].tolist() == [2, 2]


@pytest.mark.parametrize(("name", "number"), [("uint8", 300), ("uint8", -1), ("int64", 2**63), ("int8", -129)])
def test_numbers_that_do_not_fit_are_refused(name, number):
    session = tenon.InferenceSession(identity(NUMBER[name]))
    with pytest.raises(tenon.Error, match=f"input 'x': {number} is not a number of type {name}"):
        session.run(None, {"x": [number]})


def test_numbers_that_do_not_fit_below_a_byte_are_refused():
    session = tenon.InferenceSession(identity(ML["int4"]))
    assert session.run(None, {"x": [-8, 7]})[0].astype(int).tolist() == [-8, 7]
    with pytest.raises(tenon.Error, match="8 is not a number of type int4"):
        session.run(None, {"x": [8]})


def test_lists_that_are_no_arrays_name_the_input():
    with pytest.raises(tenon.Error, match="input 'x'"):
        tenon.InferenceSession(identity(FLOAT)).run(None, {"x": [[1, 2], [3]]})

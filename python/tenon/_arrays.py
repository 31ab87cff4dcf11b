"""Between numpy arrays and Tenon values."""

import ml_dtypes
import numpy as np

from . import _tenon

# ONNX element type number -> numpy dtype. Types numpy lacks come from ml_dtypes.
NUMPY_TYPES = {
    1: np.dtype(np.float32),
    2: np.dtype(np.uint8),
    3: np.dtype(np.int8),
    4: np.dtype(np.uint16),
    5: np.dtype(np.int16),
    6: np.dtype(np.int32),
    7: np.dtype(np.int64),
    8: np.dtype(object),
    9: np.dtype(np.bool_),
    10: np.dtype(np.float16),
    11: np.dtype(np.float64),
    12: np.dtype(np.uint32),
    13: np.dtype(np.uint64),
    14: np.dtype(np.complex64),
    15: np.dtype(np.complex128),
    16: np.dtype(ml_dtypes.bfloat16),
    17: np.dtype(ml_dtypes.float8_e4m3fn),
    18: np.dtype(ml_dtypes.float8_e4m3fnuz),
    19: np.dtype(ml_dtypes.float8_e5m2),
    20: np.dtype(ml_dtypes.float8_e5m2fnuz),
    21: np.dtype(ml_dtypes.uint4),
    22: np.dtype(ml_dtypes.int4),
    23: np.dtype(ml_dtypes.float4_e2m1fn),
    24: np.dtype(ml_dtypes.float8_e8m0fnu),
    25: np.dtype(ml_dtypes.uint2),
    26: np.dtype(ml_dtypes.int2),
}
# The names that onnxruntime prints.
TYPE_NAMES = (
    "undefined", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double",
    "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
    "float8e5m2fnuz", "uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2",
)  # fmt: skip
STRING = 8
FIRST_ML_DTYPE = 16
_CODES = {dtype: code for code, dtype in NUMPY_TYPES.items() if code != STRING}


def dtype_code(dtype):
    """The ONNX number of a numpy dtype, or None."""
    dtype = np.dtype(dtype)
    if dtype.kind in "OUST":
        return STRING
    return _CODES.get(dtype.newbyteorder("="))


def _string_bytes(item):
    return item if isinstance(item, bytes) else str(item).encode("utf-8", "surrogateescape")


def value_from_array(array):
    """A tensor over the array's memory; copies only strings, sub-byte elements and arrays that are not row-major."""
    array = np.asarray(array)
    code = dtype_code(array.dtype)
    if code is None:
        raise TypeError(f"arrays of dtype {array.dtype} have no ONNX element type")
    if code == STRING:
        return _tenon.Value.from_strings([_string_bytes(s) for s in array.ravel()], list(array.shape))
    shape = array.shape
    array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("=")).reshape(shape)
    if code >= FIRST_ML_DTYPE:  # as bit patterns
        array = array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)
    return _tenon.Value.from_array(array, code)


def array_from_value(value):
    """The tensor's elements without a copy (strings and sub-byte elements are copied)."""
    code = value.dtype
    if code == STRING:
        array = np.empty(len(strings := value.strings()), dtype=object)
        array[:] = [s.decode("utf-8", "surrogateescape") for s in strings]
        return array.reshape(value.dims)
    array = value.array()
    dtype = NUMPY_TYPES[code]
    return array if array.dtype == dtype else array.view(dtype)


KIND_TENSOR, KIND_SEQUENCE, KIND_OPTIONAL, KIND_MAP = 1, 2, 3, 4


def to_python(value):
    """Arrays for tensors, lists for sequences, dicts for maps, None for an empty optional."""
    if value is None:
        return None
    if value.kind == KIND_TENSOR:
        return array_from_value(value)
    if value.kind == KIND_SEQUENCE:
        return [to_python(value.item(i)) for i in range(len(value))]
    if value.kind == KIND_OPTIONAL:
        return to_python(value.inside())
    keys, values = value.keys_and_values()
    return dict(zip(array_from_value(keys).tolist(), array_from_value(values).tolist()))


def from_python(item, declared):
    """The value for an input of the declared type."""
    if isinstance(item, _tenon.Value):
        return item
    if declared.kind == KIND_OPTIONAL:
        element = declared.element
        if item is None:
            return _tenon.Value.optional(None, element)
        return _tenon.Value.optional(from_python(item, element), element)
    if declared.kind == KIND_SEQUENCE:
        element = declared.element
        return _tenon.Value.sequence([from_python(i, element) for i in item], element)
    if declared.kind == KIND_MAP:
        keys = np.array(list(item.keys()), dtype=object if declared.dtype == STRING else np.int64)
        element = declared.element
        values = np.array(list(item.values()), dtype=NUMPY_TYPES[element.dtype])
        return _tenon.Value.map(value_from_array(keys), value_from_array(values))
    if not isinstance(item, np.ndarray) and not np.isscalar(item) and not isinstance(item, np.generic):
        item = np.asarray(item, dtype=NUMPY_TYPES.get(declared.dtype))
    return value_from_array(item)

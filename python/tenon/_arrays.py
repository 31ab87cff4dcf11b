"""Converts between Python objects and Tenon values. The native part handles plain arrays, this module the rest."""

import ml_dtypes
import numpy as np

from . import _tenon
from ._errors import Error, InvalidArgument

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
    27: np.dtype(ml_dtypes.float6_e2m3fn),
    28: np.dtype(ml_dtypes.float6_e3m2fn),
}
# The names that onnxruntime prints.
TYPE_NAMES = (
    "undefined", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16", "double",
    "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
    "float8e5m2fnuz", "uint4", "int4", "float4e2m1", "float8e8m0", "uint2", "int2", "float6e2m3", "float6e3m2",
)  # fmt: skip
STRING = 8
FIRST_ML_DTYPE = 16
INTEGERS = frozenset((2, 3, 4, 5, 6, 7, 12, 13, 21, 22, 25, 26))
SUB_BYTE = frozenset((21, 22, 23, 25, 26, 27, 28))
_CODES = {dtype: code for code, dtype in NUMPY_TYPES.items() if code != STRING}

KIND_TENSOR, KIND_SEQUENCE, KIND_OPTIONAL, KIND_MAP = 1, 2, 3, 4


def dtype_code(dtype):
    """The ONNX number of a numpy dtype, or None."""
    dtype = np.dtype(dtype)
    if dtype.kind in "OUST":
        return STRING
    return _CODES.get(dtype.newbyteorder("="))


def element_code(element_type):
    """The ONNX number of a numpy type or of an ONNX number."""
    if isinstance(element_type, (int, np.integer)) and not isinstance(element_type, bool):
        if int(element_type) not in NUMPY_TYPES:
            raise InvalidArgument(f"{element_type} is not a valid element type")
        return int(element_type)
    code = dtype_code(element_type)
    if code is None:
        raise InvalidArgument(f"{element_type} has no ONNX element type")
    return code


def _string_bytes(item):
    return item if isinstance(item, bytes) else str(item).encode("utf-8", "surrogateescape")


def _plain(array):
    """The array as row-major, aligned and in the machine's byte order; the array itself if it already is."""
    native = array.dtype.newbyteorder("=")
    if array.flags.c_contiguous and array.flags.aligned and array.dtype == native:
        return array
    return np.require(array, dtype=native, requirements=("C", "A")).reshape(array.shape)


def value_from_array(array, copy=False, code=None):
    """A tensor over the array's memory. Strings, sub-byte elements and arrays that are not plain are always copied."""
    array = np.asarray(array)
    if code is None:
        code = dtype_code(array.dtype)
        if code is None:
            raise InvalidArgument(f"arrays of dtype {array.dtype} have no ONNX element type")
    if code == STRING:
        return _tenon.Value.from_strings([_string_bytes(s) for s in array.ravel()], list(array.shape))
    array = _plain(array)
    if code >= FIRST_ML_DTYPE:  # as bit patterns
        array = array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)
    return _tenon.Value.from_array(array, code, copy)


def array_from_value(value):
    """The tensor's elements without a copy; strings and sub-byte elements are copied."""
    code = value.dtype
    if code == STRING:
        array = np.empty(len(strings := value.strings()), dtype=object)
        array[:] = [s.decode("utf-8", "surrogateescape") for s in strings]
        return array.reshape(value.dims)
    if code in SUB_BYTE:
        return value.unpacked().array().view(NUMPY_TYPES[code])
    return value.array()


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


def _castable(kind, code):
    """Python's numbers have no exact type, but a float is not an integer and a text is not a number."""
    if code == STRING or kind in "OUST":
        return code == STRING and kind in "OUST"
    if NUMPY_TYPES[code].kind == "b":
        return kind == "b"
    return kind in "biu" or code not in INTEGERS


def _check_range(array, code):
    if code not in INTEGERS or array.dtype.kind not in "iu" or not array.size:
        return
    limits = ml_dtypes.iinfo(NUMPY_TYPES[code])
    for number in (int(array.min()), int(array.max())):
        if not limits.min <= number <= limits.max:
            raise InvalidArgument(f"{number} is not a number of type {TYPE_NAMES[code]}")


def _tensor(item, declared, copy):
    if item is None:
        raise InvalidArgument("the value is None, but the input is not optional")
    if isinstance(item, np.ndarray):
        return value_from_array(item, copy)
    array = np.asarray(item)
    wanted = NUMPY_TYPES.get(declared.dtype)
    typed = hasattr(item, "dtype")  # scalars of numpy, tensors of other frameworks
    if not typed and wanted is not None and array.dtype != wanted:
        if not _castable(array.dtype.kind, declared.dtype):
            raise InvalidArgument(f"expected {TYPE_NAMES[declared.dtype]}, but the value is {array.dtype}")
        _check_range(array, declared.dtype)
        array = array.astype(wanted)
    return value_from_array(array, copy)


def _map(item, declared):
    keys = np.array(list(item.keys()), dtype=object if declared.dtype == STRING else np.int64)
    values = np.array(list(item.values()), dtype=NUMPY_TYPES[declared.element.dtype])
    return _tenon.Value.map(value_from_array(keys), value_from_array(values))


def from_python(item, declared, copy=False):
    """The value for an input of the declared type. The contents of sequences, optionals and maps are copied, so that
    results, which may contain them, never share memory with the caller's arrays."""
    native = getattr(item, "_native", item)
    if isinstance(native, _tenon.Value):
        return native
    sparse = getattr(item, "_sparse", item)
    if hasattr(sparse, "dense_shape"):
        return value_from_array(sparse._dense(), True)
    if declared.kind == KIND_OPTIONAL:
        element = declared.element
        if item is None:
            return _tenon.Value.optional(None, element)
        return _tenon.Value.optional(from_python(item, element, True), element)
    if declared.kind == KIND_SEQUENCE:
        if not isinstance(item, (list, tuple)):
            raise InvalidArgument(f"expected a list, not {type(item).__name__}")
        element = declared.element
        return _tenon.Value.sequence([from_python(i, element, True) for i in item], element)
    if declared.kind == KIND_MAP:
        if not isinstance(item, dict):
            raise InvalidArgument(f"expected a dict, not {type(item).__name__}")
        return _map(item, declared)
    return _tensor(item, declared, copy)


def input_from_python(name, item, declared):
    """The value for an input of a model; errors name the input."""
    try:
        return from_python(item, declared)
    except Error as error:
        raise type(error)(f"input '{name}': {error}") from None
    except (TypeError, ValueError) as error:  # numpy's own, about lists that are no arrays
        raise InvalidArgument(f"input '{name}': {error}") from None


def explain_names(feed, session):
    """Raises an error if the names of a feed are wrong, as onnxruntime does."""
    names = [session.input_name(i) for i in range(session.input_count)]
    required = [name for i, name in enumerate(names) if not session.input_has_default(i)]
    missing = [name for name in required if name not in feed]
    if missing:
        raise ValueError(f"Required inputs ({missing}) are missing from input feed ({list(feed)}).")
    for name in feed:
        if name not in names:
            raise InvalidArgument(f"Invalid input name: {name}")


_tenon.set_package(
    np.ndarray,
    [None if code in SUB_BYTE or code == STRING else NUMPY_TYPES.get(code) for code in range(len(TYPE_NAMES))],
    input_from_python,
    to_python,
    explain_names,
)

"""OrtValue: a tensor, sequence, optional or map that outlives a run."""

import operator

import numpy as np

from . import _tenon
from ._arrays import (
    KIND_OPTIONAL,
    KIND_SEQUENCE,
    KIND_TENSOR,
    NUMPY_TYPES,
    STRING,
    SUB_BYTE,
    TYPE_NAMES,
    array_from_value,
    element_code,
    value_from_array,
)
from ._devices import require_cpu
from ._errors import InvalidArgument, NotImplemented
from ._sparse import SparseTensor


def _type_text(value):
    if value.kind == KIND_TENSOR:
        return f"tensor({TYPE_NAMES[value.dtype]})"
    if value.kind == KIND_SEQUENCE:
        return f"seq({_type_text(value.item(0)) if len(value) else 'tensor'})"
    if value.kind == KIND_OPTIONAL:
        inside = value.inside()
        return f"optional({_type_text(inside) if inside is not None else 'tensor'})"
    keys, values = value.keys_and_values()
    return f"map({TYPE_NAMES[keys.dtype]},{_type_text(values)})"


class OrtValue:
    """A value of a model. Tensors share the memory of the array they come from and are returned without a copy."""

    __slots__ = ("_native", "_sparse", "_writeable", "__weakref__")

    def __init__(self, ortvalue, numpy_obj=None, session=None):
        if isinstance(ortvalue, OrtValue):
            self._native, self._sparse, self._writeable = ortvalue._native, ortvalue._sparse, ortvalue._writeable
        elif isinstance(ortvalue, _tenon.Value):
            self._native, self._sparse, self._writeable = ortvalue, None, True
        else:
            raise ValueError("`Provided ortvalue` needs to be of type `OrtValue`.")

    @classmethod
    def _of(cls, native, writeable=True):
        value = cls(native)
        value._writeable = writeable
        return value

    def _get_c_value(self):
        return self

    @property
    def _ortvalue(self):
        """onnxruntime's native value, which has the methods of this one."""
        return self

    @property
    def _is_webgpu_buffer(self):
        return False

    @classmethod
    def ortvalue_from_numpy(cls, numpy_obj, /, device_type="cpu", device_id=0, vendor_id=-1):
        """A tensor over the array's memory; later changes of the array are changes of the tensor. Strings, sub-byte
        elements and arrays that are not row-major are copied."""
        require_cpu(device_type)
        if not isinstance(numpy_obj, np.ndarray):
            raise InvalidArgument(f"expected a numpy array, not {type(numpy_obj).__name__}")
        return cls._of(value_from_array(numpy_obj), numpy_obj.flags.writeable)

    @classmethod
    def ortvalue_from_numpy_with_onnx_type(cls, data, /, onnx_element_type):
        """Uses the array's bits as elements of an ONNX type of that size; sub-byte types take one element per byte."""
        code = element_code(onnx_element_type)
        wanted = NUMPY_TYPES[code]
        if code == STRING or data.dtype.kind in "OUST":
            raise InvalidArgument("strings have no bits to share; use ortvalue_from_numpy")
        if data.dtype.itemsize != wanted.itemsize:
            raise InvalidArgument(
                f"elements of {TYPE_NAMES[code]} have {wanted.itemsize} bytes, those of the array {data.dtype.itemsize}"
            )
        data = data if data.dtype == wanted else np.ascontiguousarray(data).reshape(data.shape).view(wanted)
        return cls._of(value_from_array(data, code=code), data.flags.writeable)

    @classmethod
    def ortvalue_from_shape_and_type(cls, shape, element_type, device_type="cpu", device_id=0, vendor_id=-1,
                                     memory_info=None):
        """A tensor with its own memory: uninitialised numbers, or empty strings."""
        require_cpu(device_type)
        return cls(_tenon.Value.allocate(element_code(element_type), [operator.index(extent) for extent in shape]))

    @classmethod
    def ort_value_from_sparse_tensor(cls, sparse_tensor):
        value = object.__new__(cls)
        value._native, value._sparse, value._writeable = None, sparse_tensor, False
        return value

    @classmethod
    def from_dlpack(cls, data, /):
        """A tensor over the memory of another framework's tensor, or of a DLPack capsule."""
        return cls._of(_tenon.Value.from_dlpack(data), getattr(getattr(data, "flags", None), "writeable", True))

    def __dlpack__(self, *, stream=None, **options):
        return self._tensor().dlpack().__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0)

    def as_sparse_tensor(self):
        if not isinstance(self._sparse, SparseTensor):
            raise InvalidArgument("the value is not a sparse tensor")
        return self._sparse

    def _tensor(self):
        if self._native is None or self._native.kind != KIND_TENSOR:
            raise InvalidArgument("the value is not a tensor")
        return self._native

    def data_ptr(self):
        """The address of the first element."""
        if self._tensor().dtype == STRING:
            raise InvalidArgument("strings have no address")
        return self._native.address

    def device_name(self):
        return "cpu"

    def shape(self):
        return self._tensor().dims if self._sparse is None else self._sparse.dense_shape()

    def data_type(self):
        return _type_text(self._native) if self._sparse is None else self._sparse.data_type()

    def element_type(self):
        return self._tensor().dtype

    def tensor_size_in_bytes(self):
        return self._tensor().bytes

    def has_value(self):
        if self._native is None:
            return True
        return self._native.kind != KIND_OPTIONAL or self._native.inside() is not None

    def is_tensor(self):
        return self._native is not None and self._native.kind == KIND_TENSOR

    def is_sparse_tensor(self):
        return self._sparse is not None

    def is_tensor_sequence(self):
        return self._native is not None and self._native.kind == KIND_SEQUENCE

    def numpy(self):
        """The elements as an array over the same memory; strings and sub-byte elements are copied."""
        array = array_from_value(self._tensor())
        if not self._writeable:
            array.flags.writeable = False
        return array

    def __array__(self, dtype=None, copy=None):
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError("a different dtype needs a copy")
            return array.astype(dtype)
        return array.copy() if copy else array

    def update_inplace(self, data):
        """Overwrites the elements with those of an array or value of the same type and number."""
        if isinstance(data, OrtValue):
            data = data.numpy()
        elif not isinstance(data, np.ndarray):
            raise TypeError("data must be a numpy.ndarray or an OrtValue.")
        code = self._tensor().dtype
        if code == STRING or code in SUB_BYTE:
            raise NotImplemented(f"values of {TYPE_NAMES[code]} cannot be updated in place")
        target = self.numpy()
        if target.dtype != data.dtype.newbyteorder("="):
            raise InvalidArgument(f"the value holds {target.dtype}, the array {data.dtype}")
        if target.size != data.size:
            raise InvalidArgument(f"the value has {target.size} elements, the array {data.size}")
        if not self._writeable:
            raise InvalidArgument("the value was made from a read-only array")
        np.copyto(target, data.reshape(target.shape))


class OrtValueVector(list):
    """A list of OrtValues with onnxruntime's extra methods."""

    def push_back(self, value):
        self.append(OrtValue(value))

    def push_back_batch(self, tensors, data_pointers, element_types, shapes, devices):
        """Tensors over memory at addresses; `tensors` own it and must live as long as the values are used."""
        for pointer, element_type, shape in zip(data_pointers, element_types, shapes):
            self.append(OrtValue(_tenon.Value.from_address(int(pointer), element_code(element_type), list(shape))))

    def reserve(self, count):
        """Does nothing: lists grow by themselves."""

    def shrink_to_fit(self):
        """Does nothing."""

    def element_type_at(self, index):
        return self[index].element_type()

    def bool_tensor_indices(self):
        return [i for i, value in enumerate(self) if value.is_tensor() and value.element_type() == 9]

    def dlpack_at(self, index):
        return self[index].__dlpack__()

    def to_dlpacks(self, to_tensor=None):
        capsules = [value.__dlpack__() for value in self]
        return capsules if to_tensor is None else [to_tensor(capsule) for capsule in capsules]


def copy_tensors(src, dst, stream=None):
    """Copies the elements of tensors into others of the same type and number."""
    if len(src) != len(dst):
        raise ValueError(f"{len(src)} sources and {len(dst)} destinations are given")
    for source, target in zip(src, dst):
        target.update_inplace(source)

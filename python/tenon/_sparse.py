"""SparseTensor: coordinates and values, as in onnxruntime. A model receives it as a dense tensor."""

import math

import numpy as np

from ._arrays import TYPE_NAMES, dtype_code
from ._enums import OrtSparseFormat
from ._errors import InvalidArgument, NotImplemented


def _checked(indices, extent, what):
    if indices.size and not (0 <= indices.min() and indices.max() < extent):
        wrong = next(int(index) for index in indices if not 0 <= index < extent)
        raise InvalidArgument(f"the {what} {wrong} is outside 0 to {extent - 1}")
    return indices


class Indices:
    """A view of the indices of one format."""

    def __init__(self, **arrays):
        for name, array in arrays.items():
            setattr(self, name, lambda array=array: array)


class SparseTensor:
    """A tensor given by the positions and values of some elements. Created by the two sparse_*_from_numpy functions."""

    def __init__(self, sparse_tensor):
        if not isinstance(sparse_tensor, SparseTensor):
            raise ValueError("`Provided object` needs to be of type `SparseTensor`.")
        self.__dict__.update(sparse_tensor.__dict__)

    @classmethod
    def _make(cls, dense_shape, values, kind, indices):
        tensor = object.__new__(cls)
        tensor._shape = [int(extent) for extent in dense_shape]
        tensor._values = np.ascontiguousarray(values)
        tensor._format = kind
        tensor._indices = {name: np.ascontiguousarray(array, dtype=np.int64) for name, array in indices.items()}
        if dtype_code(tensor._values.dtype) is None:
            raise InvalidArgument(f"arrays of dtype {values.dtype} have no ONNX element type")
        return tensor

    @staticmethod
    def sparse_coo_from_numpy(dense_shape, values, coo_indices, ort_device):
        """Coordinates: one linear index per value, or one row of indices per value."""
        count = np.asarray(values).size
        if np.asarray(coo_indices).size not in (count, count * len(dense_shape)):
            raise InvalidArgument(f"{count} values need {count} linear indices or as many rows of indices")
        return SparseTensor._make(dense_shape, values, OrtSparseFormat.ORT_SPARSE_COO, {"indices": coo_indices})

    @staticmethod
    def sparse_csr_from_numpy(dense_shape, values, inner_indices, outer_indices, ort_device):
        """Compressed rows of a matrix: columns of the values, and where each row begins."""
        if len(dense_shape) != 2 or len(outer_indices) != int(dense_shape[0]) + 1:
            raise InvalidArgument("compressed rows need a matrix and one outer index more than it has rows")
        return SparseTensor._make(dense_shape, values, OrtSparseFormat.ORT_SPARSE_CSRC,
                                  {"inner": inner_indices, "outer": outer_indices})

    def _get_c_tensor(self):
        return self

    def _positions(self):
        """The linear index of every value; an index outside the shape is an error."""
        shape, count = self._shape, self._values.size
        if self._format == OrtSparseFormat.ORT_SPARSE_COO:
            indices = self._indices["indices"]
            if indices.size == count:
                return _checked(indices.reshape(-1), math.prod(shape), "linear index")
            axes = [_checked(column, extent, f"index of axis {axis}")
                    for axis, (column, extent) in enumerate(zip(indices.reshape(count, -1).T, shape))]
            return np.ravel_multi_index(axes, shape) if count else np.zeros(0, np.int64)
        columns, starts = _checked(self._indices["inner"], shape[1], "column"), self._indices["outer"]
        lengths = np.diff(starts)
        if starts[0] != 0 or starts[-1] != count or columns.size != count or (lengths < 0).any():
            raise InvalidArgument(f"the outer indices of {count} values must rise from 0 to {count}")
        return np.repeat(np.arange(shape[0]), lengths) * shape[1] + columns

    def _dense(self):
        """The tensor with every element; elements without a value are zero or the empty text."""
        positions = self._positions()
        strings = self._values.dtype.kind in "OUST"
        dense = np.full(self._shape, "", object) if strings else np.zeros(self._shape, self._values.dtype)
        dense.reshape(-1)[positions] = self._values.reshape(-1)
        return dense

    def _view(self, kind):
        if self._format != kind:
            raise InvalidArgument(f"the sparse tensor has the format {self._format.name}")
        return Indices(**self._indices)

    def values(self):
        return self._values

    def as_coo_view(self):
        return self._view(OrtSparseFormat.ORT_SPARSE_COO)

    def as_csrc_view(self):
        return self._view(OrtSparseFormat.ORT_SPARSE_CSRC)

    def as_blocksparse_view(self):
        return self._view(OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE)

    def to_cuda(self, ort_device):
        raise NotImplemented("Tenon computes on the CPU")

    def format(self):
        return self._format

    def dense_shape(self):
        return list(self._shape)

    def data_type(self):
        return f"sparse_tensor({TYPE_NAMES[dtype_code(self._values.dtype)]})"

    def device_name(self):
        return "cpu"

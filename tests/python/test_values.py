"""OrtValue, OrtDevice, SparseTensor."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from python.models import add, identity, optional_type, passing, sequence_type

import tenon

X = np.array([[1, 2]], np.float32)
Y = np.array([10, 20], np.float32)


def test_values_share_memory_with_arrays(ort):
    x = X.copy()
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert value.data_ptr() == x.ctypes.data
    array = value.numpy()
    assert array.ctypes.data == x.ctypes.data
    value.update_inplace(np.full((1, 2), 7, np.float32))
    assert x.tolist() == array.tolist() == [[7, 7]]
    value.update_inplace(ort.OrtValue.ortvalue_from_numpy(X))
    assert x.tolist() == X.tolist()


def test_properties(ort):
    value = ort.OrtValue.ortvalue_from_numpy(X)
    assert (value.device_name(), value.shape()) == ("cpu", [1, 2])
    assert (value.data_type(), value.element_type()) == ("tensor(float)", 1)
    assert value.has_value() and value.is_tensor() and not value.is_sparse_tensor() and not value.is_tensor_sequence()
    assert value.tensor_size_in_bytes() == 8
    assert np.asarray(value).tolist() == X.tolist()


def test_copied_layouts(ort):
    value = ort.OrtValue.ortvalue_from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3).T)
    assert value.numpy().tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("element_type, name", [
    (np.float32, "float"), (np.int8, "int8"), (np.dtype("int64"), "int64"), (1, "float"), (16, "bfloat16"), (9, "bool"),
])
def test_allocated_values(ort, element_type, name):
    value = ort.OrtValue.ortvalue_from_shape_and_type([2, 3], element_type)
    assert (value.shape(), value.data_type()) == ([2, 3], f"tensor({name})")


def test_bits_as_an_onnx_type(ort):
    bits = np.array([0x3F80, 0x4000], np.uint16)
    value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 16)
    assert (value.data_type(), value.shape(), value.data_ptr()) == ("tensor(bfloat16)", [2], bits.ctypes.data)
    with pytest.raises(RuntimeError):
        ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, 1)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e5m2", "int4", "uint4", "float4_e2m1fn", "float6_e2m3fn"])
def test_ml_dtypes(name):
    array = np.array([0, 1, 1], getattr(ml_dtypes, name))
    value = tenon.OrtValue.ortvalue_from_numpy(array)
    assert value.numpy().dtype == array.dtype and value.numpy().astype(float).tolist() == [0, 1, 1]


def test_string_values():
    value = tenon.OrtValue.ortvalue_from_numpy(np.array(["a", "b"]))
    assert (value.data_type(), value.numpy().tolist()) == ("tensor(string)", ["a", "b"])
    with pytest.raises(tenon.Error):
        value.data_ptr()


@pytest.mark.parametrize("wrong", [np.zeros(3, np.float32), [1.0, 2.0]])
def test_updates_that_do_not_fit(ort, wrong):
    value = ort.OrtValue.ortvalue_from_numpy(X.copy())
    with pytest.raises((RuntimeError, TypeError)):
        value.update_inplace(wrong)
    assert value.numpy().tolist() == X.tolist()


def test_updates_of_another_type_and_of_read_only_memory():
    value = tenon.OrtValue.ortvalue_from_numpy(X.copy())
    with pytest.raises(tenon.Error, match="float64"):
        value.update_inplace(X.astype(np.float64))
    fixed = X.copy()
    fixed.flags.writeable = False
    value = tenon.OrtValue.ortvalue_from_numpy(fixed)
    assert not value.numpy().flags.writeable
    with pytest.raises(tenon.Error, match="read-only"):
        value.update_inplace(X)


def test_other_devices(ort):
    with pytest.raises(RuntimeError):
        ort.OrtValue.ortvalue_from_numpy(X, "cuda", 0)
    with pytest.raises(RuntimeError):
        ort.OrtValue.ortvalue_from_shape_and_type([1], np.float32, "cuda")
    with pytest.raises(Exception, match="Unsupported device type: nowhere"):
        ort.OrtValue.ortvalue_from_numpy(X, "nowhere", 0)


def test_dlpack_out(ort):
    (value,) = ort.InferenceSession(add()).run_with_ort_values(
        None, {"x": ort.OrtValue.ortvalue_from_numpy(X), "y": ort.OrtValue.ortvalue_from_numpy(Y)})
    assert value.__dlpack_device__() == (1, 0)
    array = np.from_dlpack(value)
    assert array.tolist() == [[11, 22]] and array.ctypes.data == value.data_ptr()
    del value
    assert array.tolist() == [[11, 22]]


def test_dlpack_in(ort):
    x = X.copy()
    for source in (x, x.__dlpack__()):
        value = ort.OrtValue.from_dlpack(source)
        assert (value.data_type(), value.data_ptr()) == ("tensor(float)", x.ctypes.data)
        assert value.numpy().tolist() == X.tolist()


def test_dlpack_types_that_onnxruntime_lacks():
    value = tenon.OrtValue.from_dlpack(np.array([True, False]))
    assert (value.data_type(), value.numpy().tolist()) == ("tensor(bool)", [True, False])
    value = tenon.OrtValue.ortvalue_from_numpy(np.array([1.5], ml_dtypes.bfloat16))
    again = tenon.OrtValue.from_dlpack(value)
    assert (again.data_type(), again.data_ptr()) == ("tensor(bfloat16)", value.data_ptr())
    assert again.numpy().tolist() == [1.5]
    with pytest.raises(tenon.Error, match="DLPack has no element type"):
        tenon.OrtValue.ortvalue_from_numpy(np.array([1], ml_dtypes.int4)).__dlpack__()


def test_run_with_values(ort):
    session = ort.InferenceSession(add())
    feed = {"x": ort.OrtValue.ortvalue_from_numpy(X), "y": ort.OrtValue.ortvalue_from_numpy(Y)}
    (value,) = session.run_with_ort_values(["z"], feed)
    assert isinstance(value, ort.OrtValue) and value.numpy().tolist() == [[11, 22]]
    assert value.numpy().ctypes.data == value.data_ptr()
    with pytest.raises(ValueError, match="missing"):
        session.run_with_ort_values(["z"], {"x": feed["x"]})


def test_values_of_other_kinds():
    (value,) = tenon.InferenceSession(passing(sequence_type())).run_with_ort_values(
        None, {"x": tenon.OrtValue(_sequence())})
    assert value.is_tensor_sequence() and not value.is_tensor() and value.data_type() == "seq(tensor(float))"
    with pytest.raises(tenon.Error):
        value.numpy()


def _sequence():
    from tenon import _tenon
    from tenon._arrays import value_from_array

    return _tenon.Value.sequence([value_from_array(X), value_from_array(Y)])


def test_run_with_value_vectors():
    session = tenon.InferenceSession(add())
    vector = tenon.capi.onnxruntime_pybind11_state.OrtValueVector
    feeds, fetches = vector(), vector()
    feeds.push_back(tenon.OrtValue.ortvalue_from_numpy(X))
    feeds.push_back(tenon.OrtValue.ortvalue_from_numpy(Y))
    session.run_with_ortvaluevector(None, ["x", "y"], feeds, ["z"], fetches, [])
    assert [v.numpy().tolist() for v in fetches] == [[[11, 22]]]
    assert (feeds.element_type_at(0), feeds.bool_tensor_indices(), len(feeds.to_dlpacks())) == (1, [], 2)


def test_copies_of_tensors():
    source = tenon.OrtValue.ortvalue_from_numpy(X)
    target = tenon.OrtValue.ortvalue_from_shape_and_type([1, 2], np.float32)
    tenon.copy_tensors([source], [target])
    assert target.numpy().tolist() == X.tolist()
    with pytest.raises(ValueError):
        tenon.copy_tensors([source], [])


def test_sparse_tensors(ort):
    device = ort.OrtDevice.make("cpu", 0)
    coo = ort.SparseTensor.sparse_coo_from_numpy(
        np.array([3, 3], np.int64), np.array([1, 2], np.float32), np.array([0, 4], np.int64), device)
    assert (coo.format().name, list(coo.dense_shape()), coo.data_type(), coo.device_name()) == (
        "ORT_SPARSE_COO", [3, 3], "sparse_tensor(float)", "cpu")
    assert coo.values().tolist() == [1, 2] and coo.as_coo_view().indices().tolist() == [0, 4]
    csr = ort.SparseTensor.sparse_csr_from_numpy(
        np.array([2, 3], np.int64), np.array([1, 2], np.float32), np.array([0, 2], np.int64),
        np.array([0, 1, 2], np.int64), device)
    assert (csr.as_csrc_view().inner().tolist(), csr.as_csrc_view().outer().tolist()) == ([0, 2], [0, 1, 2])
    value = ort.OrtValue.ort_value_from_sparse_tensor(coo)
    assert value.is_sparse_tensor() and value.as_sparse_tensor().values().tolist() == [1, 2]


def sparse_model():
    """y = 2 x for a sparse x of two by three numbers."""
    x = onnx.ValueInfoProto(name="x")
    x.type.sparse_tensor_type.elem_type = TensorProto.FLOAT
    for extent in (2, 3):
        x.type.sparse_tensor_type.shape.dim.add(dim_value=extent)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "sparse", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10).SerializeToString()


CPU = tenon.OrtDevice.make("cpu", 0)
DENSE = [[0, 0, 5], [7, 0, 0]]
SPARSE = {
    "linear": lambda values: tenon.SparseTensor.sparse_coo_from_numpy([2, 3], values, np.array([2, 3]), CPU),
    "pairs": lambda values: tenon.SparseTensor.sparse_coo_from_numpy([2, 3], values, np.array([[0, 2], [1, 0]]), CPU),
    "rows": lambda values: tenon.SparseTensor.sparse_csr_from_numpy([2, 3], values, [2, 0], [0, 1, 2], CPU),
}


@pytest.mark.parametrize("form", SPARSE)
def test_sparse_tensors_are_fed(form):
    session = tenon.InferenceSession(sparse_model())
    sparse = SPARSE[form](np.array([5, 7], np.float32))
    expected = 2 * np.array(DENSE, np.float32)
    for fed in (sparse, tenon.OrtValue.ort_value_from_sparse_tensor(sparse), np.array(DENSE, np.float32)):
        assert session.run(None, {"x": fed})[0].tolist() == expected.tolist()
    value = tenon.OrtValue.ort_value_from_sparse_tensor(sparse)
    assert session.run_with_ort_values(None, {"x": value})[0].numpy().tolist() == expected.tolist()


def test_wrong_indices_of_sparse_tensors_are_named():
    session, values = tenon.InferenceSession(sparse_model()), np.array([5, 7], np.float32)
    wrong = {
        "linear index 6": tenon.SparseTensor.sparse_coo_from_numpy([2, 3], values, np.array([2, 6]), CPU),
        "index of axis 1 -1": tenon.SparseTensor.sparse_coo_from_numpy([2, 3], values, np.array([[0, -1], [1, 0]]), CPU),
        "column 3": tenon.SparseTensor.sparse_csr_from_numpy([2, 3], values, [3, 0], [0, 1, 2], CPU),
        "outer indices": tenon.SparseTensor.sparse_csr_from_numpy([2, 3], values, [2, 0], [0, 3, 2], CPU),
    }
    for message, sparse in wrong.items():
        with pytest.raises(tenon.Error, match=message):
            session.run(None, {"x": sparse})


def test_devices(ort):
    device = ort.OrtDevice.make("cpu", 0)
    assert (device.device_type(), device.device_id()) == (0, 0)
    assert (device.device_mem_type(), device.device_vendor_id()) == (0, 0)
    assert ort.OrtDevice.make("cuda", 1).device_id() == 1
    with pytest.raises(Exception, match="Unsupported device type"):
        ort.OrtDevice.make("nowhere", 0)
    info = ort.OrtMemoryInfo("Cpu", ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, ort.OrtMemType.DEFAULT)
    assert (info.name, info.device_id, info.allocator_type.name) == ("Cpu", 0, "ORT_ARENA_ALLOCATOR")
    assert ort.OrtArenaCfg({"max_mem": 4}).max_mem == 4
    assert ort.get_ep_devices()[0].ep_name == "CPUExecutionProvider"


def test_optionals():
    from tenon import _tenon

    assert not tenon.OrtValue(_tenon.Value.optional(None)).has_value()
    (value,) = tenon.InferenceSession(passing(optional_type())).run_with_ort_values(
        None, {"x": tenon.OrtValue.ortvalue_from_numpy(Y)})
    assert value.has_value()

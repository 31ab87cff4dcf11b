"""IOBinding."""

import gc

import numpy as np
import pytest
from python.models import FLOAT, add, model, node, passing, sequence_type, tensor, two_outputs, typed
from onnx import TensorProto

import tenon

X = np.array([[1, 2], [3, 4]], np.float32)
Y = np.array([10, 20], np.float32)


def bound(ort):
    session = ort.InferenceSession(add())
    binding = session.io_binding()
    binding.bind_cpu_input("x", X)
    binding.bind_cpu_input("y", Y)
    return session, binding


def test_outputs_that_are_allocated(ort):
    session, binding = bound(ort)
    binding.bind_output("z")
    session.run_with_iobinding(binding)
    assert [o.numpy().tolist() for o in binding.get_outputs()] == [(X + Y).tolist()]
    assert [o.tolist() for o in binding.copy_outputs_to_cpu()] == [(X + Y).tolist()]
    assert len(binding.get_outputs_as_ortvaluevector()) == 1


def test_addresses(ort):
    x, z = X.copy(), np.zeros((2, 2), np.float32)
    session = ort.InferenceSession(add())
    binding = session.io_binding()
    binding.bind_input("x", "cpu", 0, np.float32, [2, 2], x.ctypes.data)
    binding.bind_input(name="y", device_type="cpu", device_id=0, element_type=np.float32, shape=(2,),
                       buffer_ptr=Y.ctypes.data)
    binding.bind_output("z", "cpu", 0, np.float32, [2, 2], z.ctypes.data)
    session.run_with_iobinding(binding)
    assert z.tolist() == (X + Y).tolist()
    assert binding.get_outputs()[0].data_ptr() == z.ctypes.data
    x += 1
    session.run_with_iobinding(binding)
    assert z.tolist() == (X + 1 + Y).tolist()


def test_addresses_with_onnx_numbers(ort):
    z = np.zeros((2, 2), np.float32)
    session, binding = bound(ort)
    binding.bind_output("z", "cpu", 0, FLOAT, [2, 2], z.ctypes.data)
    session.run_with_iobinding(binding)
    assert z.tolist() == (X + Y).tolist()


def test_values(ort):
    session = ort.InferenceSession(add())
    binding = session.io_binding()
    z = ort.OrtValue.ortvalue_from_shape_and_type([2, 2], np.float32)
    binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(X))
    binding.bind_ortvalue_input("y", ort.OrtValue.ortvalue_from_numpy(Y))
    binding.bind_ortvalue_output("z", z)
    session.run_with_iobinding(binding)
    assert z.numpy().tolist() == (X + Y).tolist()


def test_bound_arrays_are_read_when_a_run_begins(ort):
    session, binding = bound(ort)
    x = X.copy()
    binding.bind_cpu_input("x", x)
    binding.bind_output("z")
    session.run_with_iobinding(binding)
    first = binding.copy_outputs_to_cpu()[0]
    x[:] = 0
    session.run_with_iobinding(binding)
    assert first.tolist() == (X + Y).tolist()
    assert binding.copy_outputs_to_cpu()[0].tolist() == [[10, 20]] * 2


def test_order_and_choice_of_outputs(ort):
    session = ort.InferenceSession(two_outputs())
    binding = session.io_binding()
    binding.bind_cpu_input("x", -Y)
    binding.bind_cpu_input("y", Y)
    binding.bind_output("r")
    binding.bind_output("s")
    session.run_with_iobinding(binding)
    assert [o.tolist() for o in binding.copy_outputs_to_cpu()] == [[0, 0], [0, 0]]
    binding.clear_binding_outputs()
    assert list(binding.get_outputs()) == []
    binding.bind_output("s")
    session.run_with_iobinding(binding)
    assert len(binding.copy_outputs_to_cpu()) == 1


def test_what_goes_wrong(ort):
    session, binding = bound(ort)
    with pytest.raises(RuntimeError, match="At least one output should be requested"):
        session.run_with_iobinding(binding)
    with pytest.raises(RuntimeError, match="Failed to find NodeArg with name: q in the def list"):
        binding.bind_cpu_input("q", X)
    with pytest.raises(ValueError, match="`element_type` and `shape` are to be provided"):
        binding.bind_output("z", "cpu", 0, buffer_ptr=X.ctypes.data)
    too_big = np.zeros((3, 2), np.float32)
    binding.bind_output("z", "cpu", 0, np.float32, [3, 2], too_big.ctypes.data)
    with pytest.raises(RuntimeError):
        session.run_with_iobinding(binding)
    binding.clear_binding_inputs()
    binding.bind_output("z")
    with pytest.raises(RuntimeError):
        session.run_with_iobinding(binding)
    binding.bind_cpu_input("x", X.astype(np.float64))
    binding.bind_cpu_input("y", Y)
    with pytest.raises(RuntimeError):
        session.run_with_iobinding(binding)
    with pytest.raises(ValueError, match="session that created it"):
        ort.InferenceSession(add()).run_with_iobinding(binding)


def test_names_and_devices_that_do_not_exist():
    session, binding = bound(tenon)
    with pytest.raises(tenon.Error, match="Invalid output name: q"):
        binding.bind_output("q")
    with pytest.raises(tenon.Error, match="not available"):
        binding.bind_output("z", "cuda")
    binding.bind_output("z")
    with pytest.raises(tenon.Error, match="no value before"):
        binding.get_outputs()
    assert binding.synchronize_inputs() is None and binding.synchronize_outputs() is None


def test_bindings_keep_what_they_bind():
    session = tenon.InferenceSession(add())
    binding = session.io_binding()
    binding.bind_cpu_input("x", np.ones((1000, 2), np.float32))
    binding.bind_cpu_input("y", Y.copy())
    binding.bind_output("z")
    gc.collect()
    filler = [np.zeros((1000, 2), np.float32) for _ in range(20)]
    session.run_with_iobinding(binding)
    assert (binding.copy_outputs_to_cpu()[0] == [11, 21]).all() and len(filler) == 20


def test_results_that_were_read_stay():
    session, binding = bound(tenon)
    binding.bind_output("z")
    session.run_with_iobinding(binding)
    (first,) = binding.get_outputs()
    binding.bind_cpu_input("x", np.zeros((2, 2), np.float32))
    session.run_with_iobinding(binding)
    assert first.numpy().tolist() == (X + Y).tolist()


def test_outputs_over_inputs():
    matrix = np.array([[0, 1], [1, 1]], np.float32)
    data = model([node("MatMul", "x w", "y")], [tensor("x", FLOAT, [2, 2])], [tensor("y", FLOAT, [2, 2])],
                 {"w": matrix})
    session = tenon.InferenceSession(data)
    state = tenon.OrtValue.ortvalue_from_numpy(np.eye(2, dtype=np.float32))
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", state)
    binding.bind_ortvalue_output("y", state)
    for _ in range(5):
        session.run_with_iobinding(binding)
    assert state.numpy().tolist() == np.linalg.matrix_power(matrix, 5).tolist()


def test_other_kinds_of_values():
    session = tenon.InferenceSession(passing(sequence_type()))
    made = model([node("SequenceConstruct", "a", "s")], [tensor("a", FLOAT, [2])], [typed("s", sequence_type())])
    (sequence,) = tenon.InferenceSession(made).run_with_ort_values(None, {"a": tenon.OrtValue.ortvalue_from_numpy(Y)})
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", sequence)
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    assert [a.tolist() for a in binding.copy_outputs_to_cpu()[0]] == [[10, 20]]

    strings = tenon.InferenceSession(model([node("Identity", "x", "y")], [tensor("x", TensorProto.STRING, [2])],
                                           [tensor("y", TensorProto.STRING, [2])]))
    binding = strings.io_binding()
    binding.bind_cpu_input("x", np.array(["a", "b"]))
    binding.bind_output("y")
    strings.run_with_iobinding(binding)
    assert binding.copy_outputs_to_cpu()[0].tolist() == ["a", "b"]


def test_read_only_memory_is_not_written():
    session = tenon.InferenceSession(add())
    frozen = np.frombuffer(bytes(16), np.float32).reshape(2, 2)
    for value in (tenon.OrtValue.ortvalue_from_numpy(frozen), tenon.OrtValue.from_dlpack(frozen)):
        binding = session.io_binding()
        with pytest.raises(tenon.Error, match="read-only"):
            binding.bind_ortvalue_output("z", value)
        assert not value.numpy().flags.writeable
    with pytest.raises(TypeError, match="OrtValue"):
        session.io_binding().bind_ortvalue_input("x", None)

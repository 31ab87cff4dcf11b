"""Weights of 2, 4 and 8 bits with one scale per block: MatMulNBits and GatherBlockQuantized."""

import ml_dtypes
import numpy as np
import pytest
from microsoft_models import assert_close, compare_with_onnxruntime, normal, run_onnxruntime, run_tenon


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def packed(numbers, bits):
    """Numbers of a few bits into bytes along the last axis, lowest bits first, the last byte filled up with zeros."""
    per_byte = 8 // bits
    padding = -numbers.shape[-1] % per_byte
    padded = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, padding)])
    groups = padded.reshape(*numbers.shape[:-1], -1, per_byte).astype(np.uint32)
    return (groups << (bits * np.arange(per_byte))).sum(axis=-1).astype(np.uint8)


class Weights:
    """A quantized matrix [n, k] as MatMulNBits takes it, and what it stands for."""

    def __init__(self, rng, n, k, bits, block, zeros, dtype=np.float32, groups=None):
        blocks = -(-k // block)
        self.attributes = {"N": n, "K": k, "bits": bits, "block_size": block}
        numbers = rng.integers(0, 2**bits, (n, blocks * block))
        scales = rng.uniform(0.01, 0.1, (n, blocks)).astype(dtype)
        self.inputs = {"B": packed(numbers.reshape(n, blocks, block), bits), "scales": scales}
        if zeros == "packed":
            zero = rng.integers(0, 2**bits, (n, blocks))
            self.inputs["zero_points"] = packed(zero, bits)
        elif zeros == "float":
            zero = rng.uniform(0, 2**bits, (n, blocks)).astype(dtype)
            self.inputs["zero_points"] = zero
        else:
            zero = np.full((n, blocks), 2 ** (bits - 1))
            self.inputs["zero_points"] = None
        block_of = np.arange(k) // block if groups is None else groups[:k]
        wide = zero.astype(np.float64)[:, block_of], scales.astype(np.float64)[:, block_of]
        self.real = (numbers[:, :k] - wide[0]) * wide[1]

    def with_activations(self, a, groups=None, bias=None):
        return {"A": a} | self.inputs | {"g_idx": groups, "bias": bias}


def trimmed(inputs):
    """Without the absent inputs at the end."""
    names = list(inputs)
    while inputs[names[-1]] is None:
        names.pop()
    return {name: inputs[name] for name in names}


def product_error(a, w, dtype):
    """A few roundings of every product, and of a bias."""
    return 4 * float(ml_dtypes.finfo(dtype).eps) * (np.abs(a).astype(np.float64) @ np.abs(w) + 1)


def check_product(rng, n=5, k=64, bits=4, block=16, zeros=None, dtype=np.float32, batch=(3,), bias=False, **attributes):
    w = Weights(rng, n, k, bits, block, zeros, dtype)
    a = normal(rng, *batch, k, dtype=dtype)
    b = normal(rng, n, dtype=dtype) if bias else None
    inputs = trimmed(w.with_activations(a, bias=b))
    constants = [name for name in inputs if name != "A" and inputs[name] is not None]
    (y,) = run_tenon("MatMulNBits", inputs, constants=constants, **w.attributes, **attributes)
    expected = a.astype(np.float64) @ w.real.T + (0 if b is None else b.astype(np.float64))
    assert y.dtype == dtype and y.shape == expected.shape
    error = product_error(a, w.real.T, dtype)
    assert (np.abs(y.astype(np.float64) - expected) <= error).all()
    return inputs, constants, w, y, error


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("block", [16, 32, 64, 128, 256])
@pytest.mark.parametrize("zeros", [None, "packed"])
def test_matmul_of_every_block_size(rng, bits, block, zeros):
    # K ends inside a block, and the zero points of a row inside a byte.
    for k in (3 * block, 2 * block + 8):
        inputs, constants, w, y, error = check_product(rng, k=k, bits=bits, block=block, zeros=zeros)
        (theirs,) = run_onnxruntime("MatMulNBits", inputs, constants=constants, **w.attributes)
        assert (np.abs(y - theirs) <= 2 * error).all()


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("batch", [(1,), (2, 3), (2, 1, 3), (0,)])
def test_matmul_of_batches(rng, bits, batch):
    check_product(rng, bits=bits, zeros="packed", batch=batch, bias=True)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", [None, "packed", "float"])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_matmul_of_every_type(rng, bits, zeros, bias, dtype):
    check_product(rng, bits=bits, zeros=zeros, bias=bias, dtype=dtype, k=40)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bias", [False, True])
def test_matmul_like_onnxruntime(rng, dtype, bias):
    inputs, constants, w, y, error = check_product(rng, n=9, k=96, block=32, zeros="packed", dtype=dtype, bias=bias)
    (theirs,) = run_onnxruntime("MatMulNBits", inputs, constants=constants, **w.attributes)
    assert (np.abs(y.astype(np.float64) - theirs) <= 2 * error).all()


def test_matmul_with_float_zero_points_like_onnxruntime(rng):
    inputs, constants, w, y, error = check_product(rng, n=9, k=64, block=32, zeros="float")
    (theirs,) = run_onnxruntime("MatMulNBits", inputs, constants=constants, **w.attributes)
    assert (np.abs(y - theirs) <= 4 * error).all()


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
def test_accuracy_level_is_the_least_that_is_given(rng, level):
    check_product(rng, accuracy_level=level)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", [None, "packed", "float"])
@pytest.mark.parametrize("padded", [False, True])
def test_matmul_with_a_block_for_each_column(rng, bits, zeros, padded):
    n, k, block = 5, 40, 16
    groups = rng.integers(0, 3, 48 if padded else k).astype(np.int32)
    w = Weights(rng, n, k, bits, block, zeros, groups=groups)
    inputs = trimmed(w.with_activations(normal(rng, 3, k), groups))
    constants = [name for name in inputs if name != "A" and inputs[name] is not None]
    (y,) = run_tenon("MatMulNBits", inputs, constants=constants, **w.attributes)
    np.testing.assert_allclose(y, inputs["A"].astype(np.float64) @ w.real.T, rtol=1e-5, atol=1e-5)
    # onnxruntime knows these for 4 bits, and not packed zero points with them.
    if bits == 4 and zeros != "packed" and padded:
        (theirs,) = run_onnxruntime("MatMulNBits", inputs, constants=constants, **w.attributes)
        np.testing.assert_allclose(y, theirs, rtol=1e-5, atol=1e-5)


def test_matmul_with_flat_scales_and_weights_that_are_inputs(rng):
    w = Weights(rng, 5, 40, 4, 16, "packed")
    inputs = trimmed(w.with_activations(normal(rng, 3, 40)))
    flat = inputs | {"scales": inputs["scales"].ravel(), "zero_points": inputs["zero_points"].ravel()}
    (y,) = run_tenon("MatMulNBits", flat, **w.attributes)
    (same,) = run_tenon("MatMulNBits", inputs, **w.attributes)
    np.testing.assert_array_equal(y, same)
    np.testing.assert_allclose(y, inputs["A"].astype(np.float64) @ w.real.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("message", "changes", "attributes"),
    [
        ("bits is 3", {}, {"bits": 3}),
        ("block_size is 24", {}, {"block_size": 24}),
        ("block_size is 8", {}, {"block_size": 8}),
        ("N is 0 and K is 40", {}, {"N": 0}),
        ("N is 9223372036854775807", {}, {"N": 2**63 - 1}),
        ("B has the shape .*; it must be", {}, {"K": 64}),
        ("B has the shape .*; it must be", {}, {"bits": 8}),
        ("scales has the shape .*; it must be \\[5, 3\\]", {"scales": np.ones((5, 2), np.float32)}, {}),
        ("scales is float16; it must be float", {"scales": np.ones((5, 3), np.float16)}, {}),
        ("zero_points has the shape .*; it must be \\[5, 2\\]", {"zero_points": np.ones((5, 3), np.uint8)}, {}),
        ("zero_points is float16", {"zero_points": np.ones((5, 3), np.float16)}, {}),
        ("g_idx has the shape .*; it must be \\[40\\]", {"g_idx": np.zeros(41, np.int32)}, {}),
        ("bias has the shape .*; it must be \\[5\\]", {"bias": np.zeros(4, np.float32)}, {}),
        ("inner dimensions", {"A": np.zeros((2, 39), np.float32)}, {}),
        ("weight_prepacked is 1", {}, {"weight_prepacked": 1}),
        ("index|indices", {"g_idx": np.full(40, 3, np.int32)}, {}),
    ],
)
def test_matmul_refuses(rng, message, changes, attributes):
    w = Weights(rng, 5, 40, 4, 16, "packed")
    inputs = w.with_activations(normal(rng, 3, 40)) | changes
    with pytest.raises(Exception, match=message):
        run_tenon("MatMulNBits", inputs, **(w.attributes | attributes))


NORMAL_FLOATS = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
]  # fmt: skip
FLOATS = [0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4]
FLOATS += [-x for x in FLOATS]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize(("n", "k", "block"), [(6, 32, 16), (5, 7, 16), (3, 40, 64), (4, 128, 256)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("transposed", [0, 1])
def test_matmul_with_code_books(rng, kind, n, k, block, dtype, transposed):
    codes = rng.integers(0, 16, n * k)
    halves = np.append(codes, 0)[: n * k + n * k % 2].reshape(-1, 2)
    largest = rng.uniform(0.5, 2, -(-n * k // block)).astype(dtype)
    parts = np.array([FLOATS, NORMAL_FLOATS][kind])[codes]
    w = (parts * largest.astype(np.float64)[np.arange(n * k) // block]).reshape(n, k)
    inputs = {
        "A": normal(rng, 2, 3, k if transposed else n, dtype=dtype),
        "B": (halves[:, 0] * 16 + halves[:, 1]).astype(np.uint8), "absmax": largest,
    }  # fmt: skip
    attributes = {"N": n, "K": k, "block_size": block, "quant_type": kind, "transB": transposed}
    (y,) = run_tenon("MatMulBnb4", inputs, constants=["B", "absmax"], **attributes)
    w = w.T if transposed else w
    assert y.dtype == dtype
    error = product_error(inputs["A"], w, dtype)
    assert (np.abs(y - inputs["A"].astype(np.float64) @ w) <= error).all()
    if dtype == np.float32 and transposed:
        (theirs,) = run_onnxruntime("MatMulBnb4", inputs, constants=["B", "absmax"], **attributes)
        assert (np.abs(y - theirs) <= 2 * error).all()


def test_matmul_with_code_books_refuses(rng):
    inputs = {"A": normal(rng, 3, 8), "B": np.zeros(16, np.uint8), "absmax": np.ones(2, np.float32)}
    attributes = {"N": 4, "K": 8, "block_size": 16, "quant_type": 1}
    for message, changes in [
        ("quant_type is 2", {"quant_type": 2}), ("block_size is 0", {"block_size": 0}), ("K is -1", {"K": -1}),
        ("elements|reshape", {"K": 16}), ("inner dimensions", {"transB": 0}), ("elements|reshape", {"block_size": 32}),
    ]:  # fmt: skip
        with pytest.raises(Exception, match=message):
            run_tenon("MatMulBnb4", inputs, **(attributes | changes))


class Table:
    """A quantized tensor as GatherBlockQuantized takes it, and what it stands for."""

    def __init__(self, rng, shape, axis, block, dtype, bits=4, zeros=True, scale_type=np.float32):
        scale_shape = list(shape)
        scale_shape[axis] = -(-shape[axis] // block)
        low, high = (-8, 8) if dtype == ml_dtypes.int4 else (0, 2**bits)
        numbers, zero = rng.integers(low, high, shape), rng.integers(low, high, scale_shape)
        if not zeros:
            zero = np.full(scale_shape, 2 ** (bits - 1) if dtype == np.uint8 else 0)
        self.scales = rng.uniform(0.01, 0.1, scale_shape).astype(scale_type)

        def stored(x):
            return packed(x, bits) if dtype == np.uint8 and bits < 8 else x.astype(dtype)

        self.data, self.zero_points = stored(numbers), stored(zero) if zeros else None

        def each(x):
            return np.take(x.astype(np.float64), np.arange(shape[axis]) // block, axis=axis)

        self.real = (numbers - each(zero)) * each(self.scales)

    def inputs(self, indices):
        return trimmed({"data": self.data, "indices": indices, "scales": self.scales, "zero_points": self.zero_points})


def check_gather(table, indices, gather_axis=0, compare=True, **attributes):
    inputs = table.inputs(indices)
    constants = [name for name in inputs if name != "indices"]
    attributes["gather_axis"] = gather_axis
    (y,) = run_tenon("GatherBlockQuantized", inputs, constants=constants, **attributes)
    assert_close(y, np.take(table.real, indices, axis=gather_axis).astype(table.scales.dtype))
    if compare:
        compare_with_onnxruntime("GatherBlockQuantized", inputs, constants=constants, **attributes)


INDICES = [np.array([[3, 0], [-1, 3]]), np.array(2), np.array([], np.int64), np.array([1, -4], np.int32)]


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("scale_type", [np.float32, np.float16])
@pytest.mark.parametrize("indices", INDICES)
def test_gather_of_four_bits(rng, dtype, zeros, scale_type, indices):
    table = Table(rng, (4, 3, 37), 2, 16, dtype, zeros=zeros, scale_type=scale_type)
    check_gather(table, indices, quantize_axis=-1, block_size=16)


@pytest.mark.parametrize("gather_axis", [0, 1, -1])
@pytest.mark.parametrize("quantize_axis", [0, 1, 2])
def test_gather_along_every_axis(rng, gather_axis, quantize_axis):
    table = Table(rng, (19, 18, 17), quantize_axis, 16, ml_dtypes.uint4)
    indices = np.array([[3, 0], [-1, 16]])
    check_gather(table, indices, gather_axis, quantize_axis=quantize_axis, block_size=16)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("scale_type", [np.float32, np.float16])
@pytest.mark.parametrize("indices", INDICES)
def test_gather_of_bytes(rng, bits, zeros, scale_type, indices):
    # 40 numbers in blocks of 16: three zero points per row, which end inside a byte.
    table = Table(rng, (4, 40), 1, 16, np.uint8, bits, zeros, scale_type)
    check_gather(table, indices, quantize_axis=1, block_size=16, bits=bits)


def test_gather_of_bytes_of_three_axes_and_default_attributes(rng):
    check_gather(Table(rng, (4, 3, 136), 2, 32, np.uint8, 4), INDICES[0], quantize_axis=2, block_size=32)
    check_gather(Table(rng, (4, 136), 1, 128, np.uint8, 4), INDICES[0])
    table = Table(rng, (4, 40), 1, 16, np.uint8, 4, scale_type=ml_dtypes.bfloat16)
    check_gather(table, INDICES[0], block_size=16, compare=False)
    table = Table(rng, (19, 40), 0, 16, np.uint8, 8, zeros=False)
    check_gather(table, INDICES[0], compare=False, quantize_axis=0, block_size=16, bits=8)


@pytest.mark.parametrize(
    ("message", "changes", "attributes"),
    [
        ("block_size is 17", {}, {"block_size": 17}),
        ("data is uint8 and bits is 3", {}, {"bits": 3}),
        ("data is int8", {"data": np.zeros((4, 20), np.int8)}, {}),
        ("gather_axis", {}, {"gather_axis": 2}),
        ("quantize_axis", {}, {"quantize_axis": -3}),
        ("packed data has its blocks along the last axis", {}, {"quantize_axis": 0}),
        ("packed data has its blocks along the last axis", {}, {"gather_axis": 1}),
        ("data has 2 axes", {"scales": np.ones(3, np.float32)}, {}),
        ("does not match", {"scales": np.ones((4, 2), np.float32), "zero_points": None}, {}),
        ("they must be the same", {"scales": np.ones((4, 2), np.float32)}, {}),
        ("they must be the same", {"zero_points": np.ones((4, 1), np.uint8)}, {}),
        ("index|indices", {"indices": np.array([4])}, {}),
    ],
)
def test_gather_refuses(rng, message, changes, attributes):
    inputs = Table(rng, (4, 40), 1, 16, np.uint8, 4).inputs(np.array([0])) | changes
    with pytest.raises(Exception, match=message):
        run_tenon("GatherBlockQuantized", inputs, **({"block_size": 16} | attributes))

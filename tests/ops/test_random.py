"""Random operators: the documented generator bit for bit, seeds, distributions, old Dropouts."""

import statistics
import struct

import ml_dtypes
import numpy as np
import pytest
import tenon
from math_models import FLOATS, check, numbers, one_node, run
from onnx import TensorProto, helper


def philox(counter, key):
    counter, key = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        mask = 0xFFFFFFFF
        counter = [(b >> 32) ^ counter[1] ^ key[0], b & mask, (a >> 32) ^ counter[3] ^ key[1], a & mask]
        key = [(key[0] + 0x9E3779B9) & mask, (key[1] + 0xBB67AE85) & mask]
    return counter


def bits(key, count):
    """The documented stream of 64-bit numbers."""
    result = []
    for block in range((count + 1) // 2):
        words = philox([block & 0xFFFFFFFF, block >> 32, 0, 0], [key & 0xFFFFFFFF, key >> 32])
        result += [words[1] << 32 | words[0], words[3] << 32 | words[2]]
    return result[:count]


def float_key(seed):
    return struct.unpack("<I", struct.pack("<f", seed))[0]


def test_philox_has_its_published_values():
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    pi = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344], [0xA4093822, 0x299F31D0]
    assert philox(*pi) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


DIGITS = {np.float64: 53, np.float32: 24, np.float16: 11, ml_dtypes.bfloat16: 8}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("seed", [0.0, 42.0, -1.5])
def test_uniform_is_documented(dtype, seed):
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    actual = run("RandomUniform", shape=[3, 7], dtype=code, seed=seed, low=-1.0, high=3.0)
    digits = DIGITS[dtype]
    unit = np.array([(b >> (64 - digits)) * 2.0**-digits for b in bits(float_key(seed), 21)])
    check(actual, (-1 + unit * 4).reshape(3, 7).astype(dtype), rtol=0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_is_documented(dtype):
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    actual = run("RandomNormal", shape=[501], dtype=code, seed=7.0, mean=2.0, scale=0.5)
    standard = statistics.NormalDist()  # the same algorithm, with the platform's logarithm
    z = np.array([standard.inv_cdf(((b >> 12) + 0.5) * 2.0**-52) for b in bits(float_key(7.0), 501)])
    check(actual, (2 + 0.5 * z).astype(dtype), rtol=1e-14 if dtype is np.float64 else None)


def test_moments():
    normal = run("RandomNormal", shape=[100_000], seed=1.0, mean=3.0, scale=2.0).astype(np.float64)
    # Five standard errors.
    assert abs(normal.mean() - 3) < 5 * 2 / 100_000**0.5
    assert abs(normal.std() - 2) < 5 * 2 / 200_000**0.5
    uniform = run("RandomUniform", shape=[100_000], seed=1.0)
    assert uniform.min() >= 0 and uniform.max() < 1
    assert abs(uniform.astype(np.float64).mean() - 0.5) < 5 * (1 / 12) ** 0.5 / 100_000**0.5


@pytest.mark.parametrize("name", ["RandomUniformLike", "RandomNormalLike"])
def test_like(name):
    plain = name.removesuffix("Like")
    x = np.zeros((2, 3), np.float64)
    check(run(name, x, seed=3.0), run(plain, shape=[2, 3], seed=3.0, dtype=TensorProto.DOUBLE))
    x = np.zeros((2, 3), np.int32)
    check(run(name, x, seed=3.0, dtype=TensorProto.FLOAT), run(plain, shape=[2, 3], seed=3.0))
    with pytest.raises(Exception, match="the output would be int32; the allowed types are"):
        run(name, x, seed=3.0)


def test_without_seed_every_run_differs_and_sessions_repeat():
    model = one_node("RandomUniform", [], shape=[16])
    options = tenon.SessionOptions()
    options.add_session_config_entry("tenon.seed", "5")
    first, second = (tenon.InferenceSession(model, options) for _ in range(2))
    runs = [first.run(None, {})[0].tolist() for _ in range(2)]
    assert runs[0] != runs[1]
    assert runs == [second.run(None, {})[0].tolist() for _ in range(2)]


def test_two_operators_draw_apart():
    nodes = [helper.make_node("RandomUniform", [], [name], shape=[16]) for name in "ab"]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [16]) for name in "ab"]
    graph = helper.make_graph(nodes, "g", [], outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    a, b = tenon.InferenceSession(model.SerializeToString()).run(None, {})
    assert a.tolist() != b.tolist()


def test_bernoulli():
    p = np.tile(np.array([0, 0.25, 1], np.float32), (20_000, 1))
    drawn = run("Bernoulli", p, seed=1.0)
    assert drawn.dtype == np.float32 and set(np.unique(drawn)) == {0, 1}
    assert drawn[:, 0].sum() == 0 and drawn[:, 2].all()
    assert abs(drawn[:, 1].mean() - 0.25) < 5 * (0.25 * 0.75 / 20_000) ** 0.5
    unit = [(b >> 11) * 2.0**-53 for b in bits(float_key(1.0), 60)]
    assert drawn.ravel()[:60].tolist() == [float(u < q) for u, q in zip(unit, p.ravel(), strict=False)]


@pytest.mark.parametrize("code", [TensorProto.BOOL, TensorProto.INT64, TensorProto.FLOAT16, TensorProto.UINT8])
def test_bernoulli_types(code):
    p = np.full(40, 0.5, np.float32)
    drawn = run("Bernoulli", p, seed=1.0, dtype=code)
    assert drawn.dtype == helper.tensor_dtype_to_np_dtype(code)
    assert drawn.astype(np.float32).tolist() == run("Bernoulli", p, seed=1.0).tolist()


@pytest.mark.parametrize("code", [TensorProto.INT32, TensorProto.INT64])
def test_multinomial(code):
    p = np.array([[0.5, 0.25, 0.25, 0], [0, 0, 1, 0]])
    with np.errstate(divide="ignore"):
        logits = (np.log(p) + 3).astype(np.float32)
    drawn = run("Multinomial", logits, seed=1.0, sample_size=20_000, dtype=code)
    assert drawn.dtype == helper.tensor_dtype_to_np_dtype(code) and drawn.shape == (2, 20_000)
    assert (drawn[1] == 2).all() and drawn[0].max() == 2
    share = np.bincount(drawn[0], minlength=4) / 20_000
    assert (np.abs(share - p[0]) < 5 * (0.25 / 20_000) ** 0.5).all()


def test_multinomial_needs_a_distribution():
    with pytest.raises(Exception, match="row 1 is not a probability distribution"):
        run("Multinomial", np.array([[0, 0], [np.nan, 0]], np.float32))
    with pytest.raises(Exception, match="there are no classes to draw from"):
        run("Multinomial", np.zeros((2, 0), np.float32))


@pytest.mark.parametrize("dtype", FLOATS)
def test_dropout_in_training(dtype):
    x = np.ones((50, 60), dtype)
    y, mask = run("Dropout", x, np.array(0.75, np.float32), np.array(True), outputs=2, seed=11)
    unit = np.array([(b >> 11) * 2.0**-53 for b in bits(11, 3000)]).reshape(50, 60)
    assert mask.dtype == bool and (mask == (unit >= 0.75)).all()
    check(y, np.where(mask, 4, 0).astype(dtype))


def test_dropout_outside_training():
    x = numbers(np.float32)
    for extra in ([], [np.array(0.5, np.float32)], [np.array(0.5, np.float32), np.array(False)]):
        y, mask = run("Dropout", x, *extra, outputs=2)
        assert (y == x).all() and mask.all()
    y, mask = run("Dropout", x, np.array(0, np.float32), np.array(True), outputs=2)
    assert (y == x).all() and mask.all()


def test_dropout_ratio_is_checked():
    with pytest.raises(Exception, match=r"the ratio is 1; it must be in \[0, 1\)"):
        run("Dropout", np.ones(3, np.float32), np.array(1, np.float32), np.array(True))


def test_old_dropouts():
    x = np.ones((40, 50), np.float32)
    y, mask = run("Dropout", x, version=6, outputs=2, is_test=1, ratio=0.5)
    assert (y == x).all() and mask.dtype == np.float32 and (mask == 1).all()
    y, mask = run("Dropout", x, version=6, outputs=2, ratio=0.5)
    assert mask.dtype == np.float32 and (y == 2 * mask).all() and 0.4 < mask.mean() < 0.6
    y, mask = run("Dropout", x, version=7, outputs=2)
    assert (y == x).all() and mask.dtype == np.float32
    y, mask = run("Dropout", x, version=10, outputs=2)
    assert (y == x).all() and mask.dtype == bool

"""MatMul, Gemm and Einsum."""

import numpy as np
import pytest
from nn_models import BFLOAT16, FLOATS, assert_close, random, refuses, run

WIDE_INTEGERS = [np.int32, np.int64, np.uint32, np.uint64]
INTEGERS = [np.int8, np.int16, np.uint8, np.uint16, *WIDE_INTEGERS]


def integers(dtype, *shape, seed=0):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("a", "b"), [
    ((3,), (3,)), ((3,), (3, 2)), ((4, 3), (3,)), ((2, 1, 4, 3), (5, 3, 2)), ((0, 3), (3, 2)), ((4, 0), (0, 2)),
])  # fmt: skip
def test_matmul(dtype, a, b):
    x, y = random(*a, dtype=dtype), random(*b, dtype=dtype)
    expected = np.matmul(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    assert_close(run("MatMul", {"a": x, "b": y}, opset=13)[0], expected)


@pytest.mark.parametrize("dtype", WIDE_INTEGERS)
def test_integer_products_wrap_around(dtype):
    a, b, c = integers(dtype, 3, 4), integers(dtype, 4, 2, seed=1), integers(dtype, 2, seed=2)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(run("MatMul", {"a": a, "b": b}, opset=13)[0], a @ b)
        np.testing.assert_array_equal(run("Gemm", {"a": a, "b": b, "c": c}, opset=13)[0], a @ b + c)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("trans_a", [0, 1])
@pytest.mark.parametrize("trans_b", [0, 1])
@pytest.mark.parametrize("bias", [None, (), (1,), (5,), (3, 1), (1, 5), (3, 5)])
def test_gemm(dtype, trans_a, trans_b, bias):
    a = random(*((4, 3) if trans_a else (3, 4)), dtype=dtype)
    b = random(*((5, 4) if trans_b else (4, 5)), dtype=dtype)
    c = None if bias is None else random(*bias, dtype=dtype)
    (y,) = run("Gemm", {"a": a, "b": b, "c": c}, opset=13, transA=trans_a, transB=trans_b, alpha=0.5, beta=2.0)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    product = (wide_a.T if trans_a else wide_a) @ (wide_b.T if trans_b else wide_b)
    assert_close(y, (0.5 * product + (0 if c is None else 2.0 * c.astype(np.float64))).astype(dtype))


@pytest.mark.parametrize("opset", [1, 6, 7, 9, 11])
def test_gemm_of_each_version(opset):
    attributes = {"broadcast": 1} if opset < 7 else {}
    a, b, c = random(3, 4), random(4, 2), random(2)
    (y,) = run("Gemm", {"a": a, "b": b, "c": c}, opset=opset, **attributes)
    assert_close(y, (a.astype(np.float64) @ b + c).astype(np.float32))


def test_gemm_refuses_what_does_not_fit():
    a, b = random(3, 4), random(4, 2)
    refuses("inner dimensions 4 and 2", "Gemm", {"a": a, "b": b}, opset=13, transB=1)
    refuses("rank 2", "Gemm", {"a": random(1, 3, 4), "b": b}, opset=13)
    refuses("broadcast", "Gemm", {"a": a, "b": b, "c": random(3)}, opset=13)
    refuses("does not broadcast", "Gemm", {"a": a, "b": b, "c": random(1, 3, 2)}, opset=13)
    refuses("the same element type", "Gemm", {"a": a, "b": b.astype(np.float64)}, opset=13)


@pytest.mark.parametrize(("equation", "shapes"), [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("ij,jk", [(2, 3), (3, 4)]),
    ("ba", [(2, 3)]),
    ("ii", [(3, 3)]),
    ("ii->i", [(3, 3)]),
    ("i,j->ji", [(2,), (3,)]),
    ("ij->", [(2, 3)]),
    (",->", [(), ()]),
    (" i j , j k -> k i ", [(2, 3), (3, 4)]),
    ("...ij,...jk->...ik", [(5, 1, 2, 3), (4, 3, 2)]),
    ("...ij,jk", [(2, 5, 3), (3, 4)]),
    ("i...->...", [(2, 3, 4)]),
    ("i...,i...->...i", [(2, 3), (2, 3)]),
    ("ab,bc,cd,de->ae", [(2, 3), (3, 2), (2, 4), (4, 2)]),
    ("aB,Bc", [(2, 3), (3, 4)]),
    ("ij,ij->ij", [(2, 1), (2, 3)]),
    ("ij->j", [(0, 3)]),
    ("...", [(2, 3)]),
])  # fmt: skip
def test_einsum(equation, shapes):
    operands = [np.asarray(random(*s, seed=i), np.float32) for i, s in enumerate(shapes)]
    expected = np.einsum(equation.replace(" ", ""), *[o.astype(np.float64) for o in operands])
    (y,) = run("Einsum", {f"x{i}": o for i, o in enumerate(operands)}, opset=12, equation=equation)
    assert_close(y, np.asarray(expected, np.float32))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_einsum_of_integers_wraps_around(dtype):
    a, b = integers(dtype, 3, 4), integers(dtype, 4, 2, seed=1)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(run("Einsum", {"a": a, "b": b}, opset=12, equation="ij,jk->ik")[0], a @ b)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, BFLOAT16])
def test_einsum_of_floats(dtype):
    a, b = random(3, 4, dtype=dtype), random(4, 2, dtype=dtype)
    (y,) = run("Einsum", {"a": a, "b": b}, opset=28, equation="ij,jk->ik")
    assert_close(y, (a.astype(np.float64) @ b.astype(np.float64)).astype(dtype))


@pytest.mark.parametrize(("equation", "message"), [
    ("......ij,jk->ik", "two ellipses"),
    ("i...j...,jk->ik", "two ellipses"),
    ("i.j,jk->ik", "not part of an ellipsis"),
    ("i1,jk->ik", "character '1'"),
    ("ij,jk->iz", "'z' occurs in the output"),
    ("ij,jk->ii", "'i' occurs twice"),
    ("ij->ij", "1 input terms, but 2 inputs"),
    ("ijk,jk->ik", "does not match an input of rank 2"),
    ("ijk...,jk->ik", "does not match an input of rank 2"),
    ("...,jk->k", "the output term has none"),
    ("ij,ik->jk", "extent 4, but its label has extent 3"),
    ("ii,jk->k", "repeats a label"),
    ("ij,jk->ik->i", "character '-'"),
    ("", "1 input terms, but 2 inputs"),
])  # fmt: skip
def test_einsum_refuses_malformed_equations(equation, message):
    refuses(message, "Einsum", {"a": random(3, 4), "b": random(4, 2)}, opset=12, equation=equation)

"""A model whose nodes are all written anew is the same model, to Tenon and to onnxruntime."""

import functools

import pytest

from conformance.respelling import COLLECTIONS, load_collection, run_respelling
from conformance.without_way_back import WITHOUT_WAY_BACK


@functools.cache
def result_of(collection):
    return run_respelling(load_collection(collection))


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_models_written_anew_compute_the_same(collection):
    failures, _ = result_of(collection)
    assert not failures, "\n".join(f"{name}: {text}" for name, text in failures.items())


def test_ops_without_a_way_back_are_those_listed():
    found = {op for collection in COLLECTIONS for op in result_of(collection)[1]}
    print("ops without a way back:", *sorted(found), sep="\n  ")
    assert not found - set(WITHOUT_WAY_BACK), "these have lost their way back, or never had one"
    assert not set(WITHOUT_WAY_BACK) - found, "these have a way back now: take them off the list"

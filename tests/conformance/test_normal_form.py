"""The normal form of a model is reached in one run, computes the same, and stays as it is."""

import pytest

from conformance.model_checks import load_collection, run_checks
from conformance.normal_form import COLLECTIONS, check_case


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_the_normal_form_is_a_fixpoint_that_computes_the_same(collection):
    failures, _ = run_checks(check_case, load_collection(collection))
    assert not failures, "\n".join(f"{name}: {text}" for name, text in failures.items())

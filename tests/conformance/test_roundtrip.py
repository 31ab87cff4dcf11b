import pytest

from conformance.cases import SUITES
from conformance.model_checks import load_collection, run_checks
from conformance.roundtrip import check_case


@pytest.mark.parametrize("suite", SUITES)
def test_reading_and_writing_loses_nothing(suite):
    cases = load_collection(suite)
    assert cases
    failures, _ = run_checks(check_case, cases)
    assert not failures, "\n".join(f"{name}: {text}" for name, text in failures.items())

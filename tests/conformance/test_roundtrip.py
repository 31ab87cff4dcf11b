import pytest

from conformance.cases import SUITES
from conformance.roundtrip import run_round_trips


@pytest.mark.parametrize("suite", SUITES)
def test_reading_and_writing_loses_nothing(suite):
    count, failures = run_round_trips(suite)
    assert count > 0
    assert not failures, "\n".join(f"{name}: {text}" for name, text in failures.items())

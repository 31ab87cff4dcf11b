import functools
import re

import pytest

from conformance.cases import REPO_ROOT, SUITES, load_suite
from conformance.exceptions import EXCEPTIONS
from conformance.report import write_report
from conformance.runner import run_suite

result_of = functools.cache(run_suite)


@pytest.mark.parametrize("suite", SUITES)
def test_failures_are_exactly_the_documented_exceptions(suite):
    surprises = result_of(suite).surprises()
    assert not surprises, f"{len(surprises)} cases contradict exceptions.py:\n" + "\n".join(surprises)


def test_report():
    """Writes what this run found; the text is the same for the same results."""
    write_report(REPO_ROOT / "docs" / "conformance.md", [result_of(suite) for suite in SUITES])


def test_suites_are_complete():
    counts = {suite: len(load_suite(suite)) for suite in SUITES}
    assert all(counts[suite] >= least for suite, least in LEAST_CASES.items()), counts


def test_every_exception_names_a_case():
    names = [case.name for suite in SUITES for case in load_suite(suite)]
    unused = [pattern for pattern, _ in EXCEPTIONS if not any(re.fullmatch(pattern, name) for name in names)]
    assert not unused


# A broken loader must not pass as a suite without failures.
LEAST_CASES = {"node": 1884, "simple": 23, "light": 9, "pytorch-converted": 82, "pytorch-operator": 35}

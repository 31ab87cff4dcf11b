"""A model whose nodes are all written anew is the same model, to Tenon and to onnxruntime."""

import functools
from pathlib import Path

import pytest

from conformance.model_checks import COLLECTIONS, load_collection, run_checks
from conformance.op_suite import Survey, survey_op_suite, survey_other_versions
from conformance.op_versions import versioned_ops
from conformance.respelling import check_case

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "export.md"


@functools.cache
def result_of(collection):
    return run_checks(check_case, load_collection(collection))


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_models_written_anew_compute_the_same(collection):
    failures, _ = result_of(collection)
    assert not failures, "\n".join(f"{name}: {text}" for name, text in failures.items())


@functools.cache
def survey():
    """Every op in every version, in the models of tests/ops, the suites and the fixtures."""
    result = Survey()
    survey_op_suite(result)
    for collection in COLLECTIONS:
        result.kept |= set(result_of(collection)[1])
        for case in load_collection(collection):
            result.note_ops(versioned_ops(case.model))
            result.offer(case.model)
    survey_other_versions(result)
    return result


def listed_ops():
    """The first column of the table "Without a way back" in docs/export.md."""
    section = DOCUMENT.read_text().split("## Without a way back\n")[1].split("\n## ")[0]
    rows = [line.split("|")[1].strip(" `") for line in section.splitlines() if line.startswith("|")]
    return rows[2:]


def test_every_version_of_every_op_is_tried():
    assert survey().untried() == []


def test_models_of_the_op_suite_can_be_written_anew():
    assert survey().errors == []


def test_ops_without_a_way_back_are_those_listed():
    found, listed = survey().kept, listed_ops()
    print("ops without a way back:", *sorted(found), sep="\n  ")
    assert listed == sorted(set(listed))
    assert not found - set(listed), "these have lost their way back, or never had one: list them in docs/export.md"
    assert not set(listed) - found, "these have a way back now: take them off the list in docs/export.md"

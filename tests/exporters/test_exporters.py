"""Models made by real exporters predict what the library that made them predicts.

TENON_TEST_ENGINE=onnxruntime runs the same tests with onnxruntime, to tell a fault of the engine
from a fault of a fixture; the cases that onnxruntime itself gets wrong (case.json says why) are
then expected to fail, and those that need a locale the machine lacks are skipped.
"""

import importlib
import os

import pytest
from fixture_case import FIXTURES, feeds, fixture_folders, load_case, mismatches

ENGINE = os.environ.get("TENON_TEST_ENGINE", "tenon")

ort = importlib.import_module(ENGINE)


def case_name(folder):
    return str(folder.relative_to(FIXTURES))


def open_session(case):
    try:
        return ort.InferenceSession(str(case.model_path), providers=["CPUExecutionProvider"])
    except Exception as error:
        # onnxruntime's StringNormalizer takes en_US.UTF-8 from the system.
        if ENGINE == "onnxruntime" and "Failed to construct locale" in str(error):
            pytest.skip("the locale of the model's StringNormalizer is not installed")
        raise


@pytest.mark.parametrize("folder", fixture_folders(), ids=case_name)
def test_predicts_like_the_library(folder, request):
    case = load_case(folder)
    onnxruntime_verdict = case.info["onnxruntime"]
    if ENGINE == "onnxruntime" and not onnxruntime_verdict["agrees"]:
        request.applymarker(pytest.mark.xfail(reason=onnxruntime_verdict["reason"], strict=True))

    session = open_session(case)
    assert [output.name for output in session.get_outputs()] == case.output_names

    problems = mismatches(case, session.run(None, feeds(case)))
    assert not problems, "\n".join(problems)


def test_there_are_fixtures():
    assert fixture_folders()

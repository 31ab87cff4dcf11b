"""Runs one case in the current process and says how it ended."""

import os

from conformance.comparison import difference_of_outputs
from conformance.engines import engine_name, prepare_under_test
from conformance.random_cases import check_random, is_random
from matrix.choice import combinations_of


def execute(case):
    """None when the case passes, else the reason. Tenon runs it in several combinations of tests/matrix."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if engine_name() != "tenon":
        return execute_with(case, prepare_under_test)
    for combination in combinations_of(case.name):
        text = execute_with(case, lambda model, c=combination: prepare_under_test(model, c))
        if text:
            return f"{combination}: {text}"
    return None


def execute_with(case, prepare):
    try:
        if is_random(case):
            return check_random(case, prepare)
        run = prepare(case.model)
        for feeds, expected in case.data_sets:
            text = difference_of_outputs(expected, run(feeds), case.rtol, case.atol)
            if text:
                return text
        return None
    except Exception as error:  # any refusal of the engine is the result of this case
        return f"{type(error).__name__}: {first_line(error)}"


def first_line(error):
    return (str(error).strip().splitlines() or [""])[0][:300]

"""Checks that a model whose nodes are all written anew is the same model, for every conformance case and exporter fixture.

    python respelling.py [--suite S] [--filter REGEX] [--jobs N]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.comparison import difference_of_outputs
from conformance.engines import prepare_under_test
from conformance.execute import first_line
from conformance.model_checks import check_from_command_line
from conformance.random_cases import is_random
from oracles.peer import load_in_peer


def check_case(case):
    """(what is wrong or None, ops without a way back)."""
    kept = []
    try:
        import tenon

        model, report = tenon.Model.load(case.model).respelled()
        kept = report["kept"]
        return difference_on_tenon(case, model) or difference_on_peer(case, model), kept
    except Exception as error:  # a refusal is the result of this case
        return f"{type(error).__name__}: {first_line(error)}", kept


def attempt(action):
    """The result, or None when the engine cannot do it. onnxruntime's errors have no base of their own."""
    try:
        return action()
    except Exception:
        return None


def difference_on_tenon(case, model):
    """Both are the same canonical graph, so not a bit may differ."""
    run = attempt(lambda: prepare_under_test(case.model))
    if run is None:
        return None  # an op that is not known
    run_again = prepare_under_test(model)
    for inputs, expected in [] if is_random(case) else case.data_sets:
        if case.suite == "light":  # one run takes seconds
            text = difference_of_outputs(expected, run_again(inputs), case.rtol, case.atol)
        else:
            text = difference_of_outputs(run(inputs), run_again(inputs), 0, 0)
        if text:
            return f"on tenon: {text}"
    return None


def difference_on_peer(case, model, rtol=0):
    """Where onnxruntime runs the model as it was, it gives the same results for the new one."""
    before = attempt(lambda: load_in_peer(case.model, optimize=False))
    if before is None:
        return None
    after = load_in_peer(model, optimize=False)
    for inputs, _ in [] if is_random(case) else case.data_sets:
        expected = attempt(lambda: before.run(None, inputs))
        text = expected is not None and difference_of_outputs(expected, after.run(None, inputs), rtol, 0)
        if text:
            return f"on onnxruntime: {text}"
    return None


if __name__ == "__main__":
    sys.exit(check_from_command_line(__doc__, check_case, "are the same"))

"""Checks that the normal form of every conformance case, exporter fixture and random model is reached in one run, gives the
same bits in the reference interpreter and the same results in onnxruntime, and is recognised.

    python normal_form.py [--suite S] [--filter REGEX] [--jobs N]
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.comparison import difference_of_outputs
from conformance.execute import first_line
from conformance.model_checks import COLLECTIONS as GIVEN
from conformance.model_checks import check_from_command_line
from conformance.random_cases import is_random
from conformance.respelling import attempt, difference_on_peer, difference_on_tenon

COLLECTIONS = (*GIVEN, "random")

# onnxruntime computes chains of 16-bit nodes in 32 bits and rounds at their end; a constant of such a chain that is folded
# is rounded where the model says so. Each differs by half a unit in the last place of the result.
ROUNDING_OF_FLOAT16 = 2.0**-10


def has_float16(case):
    return any(getattr(value, "dtype", None) == "float16" for inputs, _ in case.data_sets for value in inputs.values())


def check_case(case):
    """(what is wrong or None, no notes)."""
    try:
        return problem_of(case), []
    except Exception as error:  # a refusal is the result of this case
        return f"{type(error).__name__}: {first_line(error)}", []


def problem_of(case):
    import tenon

    model, _ = tenon.Model.load(case.model).optimized()
    again, report = tenon.Model.load(model).optimized()
    if report["status"] != "already normalized" or report["changes"]:
        first = report["changes"][0] if report["changes"] else "what is declared of values"
        return f"the second run still changes it: {first}"
    if again != model:
        return "the second run writes other bytes"
    if case.suite == "light":  # one run of the reference interpreter takes too long
        return difference_on_tenon(case, model)
    text = difference_on_reference(case, model)
    if text or case.suite == "random":  # onnxruntime rounds what is folded here in its own way
        return text
    return difference_on_peer(case, model, ROUNDING_OF_FLOAT16 if has_float16(case) else 0)


def prepare_reference(model):
    import tenon

    session = tenon.compile(model, provider="reference").session()
    return lambda feeds: session.run(None, feeds)


def difference_on_reference(case, model):
    """The reference interpreter gives the same bits before and after."""
    run = attempt(lambda: prepare_reference(case.model))
    if run is None:
        return None  # an op that is not known
    run_again = prepare_reference(model)
    for inputs, _ in [] if is_random(case) else case.data_sets:
        before = attempt(lambda: run(inputs))
        text = before is not None and difference_of_outputs(before, run_again(inputs), 0, 0)
        if text:
            return f"on the reference interpreter: {text}"
    return None


if __name__ == "__main__":
    sys.exit(check_from_command_line(__doc__, check_case, "have a normal form", COLLECTIONS))

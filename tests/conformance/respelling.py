"""Checks that a model whose nodes are all written anew is the same model, for every conformance case and exporter fixture.

    python respelling.py [--suite S] [--filter REGEX] [--jobs N]
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.cases import SUITES, Case, load_suite
from conformance.comparison import difference_of_outputs
from conformance.engines import prepare_under_test
from conformance.execute import first_line
from conformance.isolation import Limits, run_isolated
from conformance.random_cases import is_random
from exporters.fixture_case import FIXTURES, feeds, fixture_folders, load_case
from oracles.peer import load_in_peer

COLLECTIONS = (*SUITES, "fixtures")


def load_collection(name):
    return list(map(fixture_as_case, fixture_folders())) if name == "fixtures" else load_suite(name)


def fixture_as_case(folder):
    fixture = load_case(folder)
    name = str(folder.relative_to(FIXTURES))
    return Case("fixtures", name, fixture.model_path.read_bytes(), [(feeds(fixture), None)], rtol=0, atol=0)


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


def run_respelling(cases, jobs=2, limits=Limits(seconds=60)):
    """({case name: what is wrong}, {op without a way back: number of cases})."""
    failures, kept = {}, {}
    for index, answered, outcome in run_isolated(check_case, cases, jobs, limits):
        problem, ops = outcome if answered else (outcome, [])
        if problem is not None:
            failures[cases[index].name] = problem
        for op in ops:
            kept[op] = kept.get(op, 0) + 1
    return dict(sorted(failures.items())), dict(sorted(kept.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=COLLECTIONS, help="may be repeated; all without it")
    parser.add_argument("--filter", metavar="REGEX", help="only the cases whose name contains this expression")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    options = parser.parse_args()
    failed = False
    for name in options.suite or COLLECTIONS:
        cases = [case for case in load_collection(name) if re.search(options.filter or "", case.name)]
        failures, kept = run_respelling(cases, options.jobs)
        failed = failed or bool(failures)
        print(f"{name}: {len(cases) - len(failures)} of {len(cases)} models are the same", flush=True)
        for case_name, text in failures.items():
            print(f"  {case_name}: {text}")
        for op, count in kept.items():
            print(f"  without a way back: {op}, {count} models")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Checks that a model whose nodes are all written anew is the same model, for every conformance case and fixture.

    python respelling.py [--suite S] [--filter REGEX] [--jobs N]
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.cases import SUITES, load_suite
from conformance.comparison import difference_of_outputs
from conformance.engines import prepare_under_test
from conformance.execute import first_line
from conformance.isolation import Limits, run_isolated
from conformance.random_cases import is_random
from oracles.peer import load_in_peer


def check_case(case):
    """(what is wrong or None, ops that have no other form)."""
    try:
        import tenon

        model, report = tenon.Model.load(case.model).respelled()
    except Exception as error:  # a refusal is the result of this case
        return f"{type(error).__name__}: {first_line(error)}", []
    try:
        return difference(case, model), report["kept"]
    except Exception as error:
        return f"{type(error).__name__}: {first_line(error)}", report["kept"]


def difference(case, model):
    if is_random(case):
        prepare_under_test(model)
        return peer_difference(case, model, [])
    run, run_again = prepare_under_test(case.model), prepare_under_test(model)
    for feeds, _ in case.data_sets:
        text = difference_of_outputs(run(feeds), run_again(feeds), 0, 0)
        if text:
            return f"on tenon: {text}"
    return peer_difference(case, model, case.data_sets)


def peer_difference(case, model, data_sets):
    """Where onnxruntime runs the model as it was, it gives the same results for the new one."""
    try:
        before = load_in_peer(case.model, optimize=False)
    except Exception:  # its classes have no base of their own
        return None
    after = load_in_peer(model, optimize=False)
    for feeds, _ in data_sets:
        try:
            expected = before.run(None, feeds)
        except Exception:
            return None
        text = difference_of_outputs(expected, after.run(None, feeds), 0, 0)
        if text:
            return f"on onnxruntime: {text}"
    return None


def run_respelling(cases, jobs=2, limits=Limits(seconds=60)):
    """({case name: what is wrong}, {op without another form: number of cases})."""
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
    parser.add_argument("--suite", action="append", choices=SUITES, help="may be repeated; all suites without it")
    parser.add_argument("--filter", metavar="REGEX", help="only the cases whose name contains this expression")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    options = parser.parse_args()
    failed = False
    for suite in options.suite or SUITES:
        cases = [c for c in load_suite(suite) if options.filter is None or re.search(options.filter, c.name)]
        failures, kept = run_respelling(cases, options.jobs)
        failed = failed or bool(failures)
        print(f"{suite}: {len(cases) - len(failures)} of {len(cases)} models are the same", flush=True)
        for name, text in failures.items():
            print(f"  {name}: {text}")
        for op, count in kept.items():
            print(f"  without another form: {op}, {count} models")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

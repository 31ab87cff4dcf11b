"""Checks that the normal form of every conformance case and exporter fixture is reached in one run, is the same model to
Tenon and to onnxruntime, and is recognised.

    python normal_form.py [--suite S] [--filter REGEX] [--jobs N]
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.execute import first_line
from conformance.isolation import Limits, run_isolated
from conformance.respelling import COLLECTIONS, difference_on_peer, difference_on_tenon, load_collection


# onnxruntime computes chains of 16-bit nodes in 32 bits and rounds at their end; a constant of such a chain that is folded
# is rounded where the model says so. Each differs by half a unit in the last place of the result.
ROUNDING_OF_FLOAT16 = 2.0**-10


def has_float16(case):
    return any(getattr(value, "dtype", None) == "float16" for inputs, _ in case.data_sets for value in inputs.values())


def check_case(case):
    """What is wrong, or None."""
    try:
        import tenon

        model, _ = tenon.Model.load(case.model).optimized()
        again, report = tenon.Model.load(model).optimized()
        if report["status"] != "already normalized" or report["changes"]:
            first = report["changes"][0] if report["changes"] else "what is declared of values"
            return f"the second run still changes it: {first}"
        if again != model:
            return "the second run writes other bytes"
        rounding = ROUNDING_OF_FLOAT16 if has_float16(case) else 0
        return difference_on_tenon(case, model) or difference_on_peer(case, model, rounding)
    except Exception as error:  # a refusal is the result of this case
        return f"{type(error).__name__}: {first_line(error)}"


def run_normal_form(cases, jobs=2, limits=Limits(seconds=60)):
    """{case name: what is wrong}."""
    failures = {}
    for index, _, problem in run_isolated(check_case, cases, jobs, limits):
        if problem is not None:
            failures[cases[index].name] = problem
    return dict(sorted(failures.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=COLLECTIONS, help="may be repeated; all without it")
    parser.add_argument("--filter", metavar="REGEX", help="only the cases whose name contains this expression")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    options = parser.parse_args()
    failed = False
    for name in options.suite or COLLECTIONS:
        cases = [case for case in load_collection(name) if re.search(options.filter or "", case.name)]
        failures = run_normal_form(cases, options.jobs)
        failed = failed or bool(failures)
        print(f"{name}: {len(cases) - len(failures)} of {len(cases)} models have a normal form", flush=True)
        for case_name, text in failures.items():
            print(f"  {case_name}: {text}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

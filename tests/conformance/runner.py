"""Runs the ONNX backend suites and reports which cases fail.

    python runner.py [--suite S] [--filter REGEX] [--jobs N] [--report FILE] [--list-failures]

The exit code is 0 when the failing cases are exactly the documented exceptions.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.cases import SUITES, load_suite
from conformance.exceptions import reason_for
from conformance.execute import execute
from conformance.isolation import Limits, run_isolated
from conformance.report import write_report


@dataclass
class SuiteResult:
    suite: str
    names: list
    failures: dict = field(default_factory=dict)  # case name -> what happened

    @property
    def passed(self):
        return len(self.names) - len(self.failures)

    def surprises(self):
        """What contradicts the list of exceptions: one line for each case."""
        lines = [f"{name}: {text}" for name, text in self.failures.items() if reason_for(name) is None]
        stale = [name for name in self.names if reason_for(name) is not None and name not in self.failures]
        return lines + [f"{name}: passes but is listed as an exception ({reason_for(name)})" for name in stale]


def run_suite(suite, name_filter=None, jobs=2, limits=Limits(seconds=300)):
    cases = [case for case in load_suite(suite) if name_filter is None or re.search(name_filter, case.name)]
    result = SuiteResult(suite, [case.name for case in cases])
    failures = {}
    for index, answered, outcome in run_isolated(execute, cases, jobs, limits):
        if not answered or outcome is not None:
            failures[cases[index].name] = outcome
    result.failures = dict(sorted(failures.items()))
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=SUITES, help="may be repeated; all suites without it")
    parser.add_argument("--filter", metavar="REGEX", help="only the cases whose name contains this expression")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="time limit for a case")
    parser.add_argument("--memory-mb", type=float, default=Limits.memory_mb, help="memory limit for a worker")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write the summary as markdown")
    parser.add_argument("--list-failures", action="store_true", help="also list failures that are documented")
    options = parser.parse_args()
    if options.report and (options.filter or options.suite):
        parser.error("--report needs a whole run: no --suite, no --filter")

    results = []
    for suite in options.suite or SUITES:
        result = run_suite(suite, options.filter, options.jobs, Limits(options.seconds, options.memory_mb))
        results.append(result)
        print(f"{suite}: {result.passed} of {len(result.names)} pass", flush=True)
        lines = result.surprises()
        if options.list_failures:
            lines += [f"{n}: {t} (documented)" for n, t in result.failures.items() if reason_for(n) is not None]
        for line in lines:
            print(f"  {line}")
    if options.report:
        write_report(options.report, results)
    return 1 if any(result.surprises() for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())

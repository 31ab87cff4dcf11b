"""Runs one check on the models of the conformance suites, the exporter fixtures and the random graph generator: for
tests, and as a command."""

import argparse
import re

from conformance.cases import SUITES, Case, load_suite
from conformance.isolation import Limits, run_isolated
from differential.generator import generate
from exporters.fixture_case import FIXTURES, feeds, fixture_folders, load_case

COLLECTIONS = (*SUITES, "fixtures")
RANDOM_MODELS = 500


def load_collection(name):
    if name == "fixtures":
        return list(map(fixture_as_case, fixture_folders()))
    return list(map(random_case, range(RANDOM_MODELS))) if name == "random" else load_suite(name)


def fixture_as_case(folder):
    fixture = load_case(folder)
    name = str(folder.relative_to(FIXTURES))
    return Case("fixtures", name, fixture.model_path.read_bytes(), [(feeds(fixture), None)], rtol=0, atol=0)


def random_case(seed):
    generated = generate(seed)
    return Case("random", f"seed {seed}", generated.model, [(feeds, None) for feeds in generated.feeds], rtol=0, atol=0)


def run_checks(check, cases, jobs=2, limits=Limits(seconds=60)):
    """({case name: what is wrong}, {note: number of cases}). check(case) gives (what is wrong or None, notes)."""
    failures, counts = {}, {}
    for index, answered, outcome in run_isolated(check, cases, jobs, limits):
        problem, notes = outcome if answered else (outcome, [])
        if problem is not None:
            failures[cases[index].name] = problem
        for note in notes:
            counts[note] = counts.get(note, 0) + 1
    return dict(sorted(failures.items())), dict(sorted(counts.items()))


def check_from_command_line(description, check, verdict, collections=COLLECTIONS):
    """The exit code of a command that checks some collections and prints how many models passed. verdict: what can be
    said of these, "have a normal form"."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=collections, help="may be repeated; all without it")
    parser.add_argument("--filter", metavar="REGEX", help="only the cases whose name contains this expression")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    options = parser.parse_args()
    failed = False
    for name in options.suite or collections:
        cases = [case for case in load_collection(name) if re.search(options.filter or "", case.name)]
        failures, notes = run_checks(check, cases, options.jobs)
        failed = failed or bool(failures)
        print(f"{name}: {len(cases) - len(failures)} of {len(cases)} models {verdict}", flush=True)
        for case_name, text in failures.items():
            print(f"  {case_name}: {text}")
        for note, count in notes.items():
            print(f"  {note}: {count} models")
    return 1 if failed else 0

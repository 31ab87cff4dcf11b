"""Edits stamped models at random and compares what `tenon optimize` decides with a full run.

    python fuzz.py [--seconds N | --edits N] [--seed S] [--jobs N]
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from normal_form.campaign import run_seeds
from normal_form.shrink import save

FINDINGS = Path(__file__).resolve().parents[2] / "build" / "fuzz" / "findings"


def seeds_of(options):
    deadline = time.monotonic() + options.seconds if options.edits is None else None
    seeds = itertools.count(options.seed)
    if deadline is None:
        return itertools.islice(seeds, options.edits)
    return itertools.takewhile(lambda _: time.monotonic() < deadline, seeds)


def shrunk_text(seed, folder):
    try:
        return save(seed, Path(folder) / "shrinking", FINDINGS)
    except Exception as error:  # the finding counts without it
        return f"cannot be made smaller ({error})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--edits", type=int, help="try this many mutants, however long it takes")
    parser.add_argument("--seed", type=int, default=1_000_000, help="first seed; the test suite uses those below 1000")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    options = parser.parse_args()
    decided, findings = Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        for trial in run_seeds(seeds_of(options), folder, options.jobs):
            decided[trial.decided] += 1
            if trial.problem:
                findings.append(trial)
                print(f"seed {trial.seed}: {trial.problem}\n  {trial.origin}: {'; '.join(trial.edits)}", flush=True)
        for trial in findings:
            print(f"seed {trial.seed}: {shrunk_text(trial.seed, folder)}", flush=True)
    counts = ", ".join(f"{count} {name}" for name, count in decided.most_common())
    print(f"{sum(decided.values())} mutants from seed {options.seed} on: {counts}; {len(findings)} decided wrongly")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

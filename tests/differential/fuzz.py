"""Compares Tenon with onnxruntime on random models for some time; failing models are reduced and saved.

    python fuzz.py --seconds N [--seed S] [--jobs N] [--keep-going]
"""

import argparse
import itertools
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conformance.engines import engine_name
from differential.campaign import run_seeds
from differential.generator import generate_for_engine
from differential.shrink import describe_model, failing_binding, shrink_isolated
from differential.storage import save


def seeds_until(first, deadline):
    return itertools.takewhile(lambda _: time.monotonic() < deadline, itertools.count(first))


def reduce_and_save(seed):
    """One paragraph about the smallest model that fails like the one of this seed."""
    generated = generate_for_engine(seed)
    feeds = failing_binding(generated)
    if feeds is None:
        return "does not fail when run again alone"
    model_bytes, feeds = shrink_isolated(generated.model, feeds)
    # Only failures of Tenon belong into the repository.
    title = f"saved as {save(model_bytes, feeds).name}" if engine_name() == "tenon" else "reduced"
    return f"{title}\n{describe_model(model_bytes, feeds)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1_000_000, help="first seed; the test suite uses those below 1000")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes")
    parser.add_argument("--keep-going", action="store_true", help="do not stop after the first failing model")
    options = parser.parse_args()
    count, failed = 0, []
    for seed, difference in run_seeds(seeds_until(options.seed, time.monotonic() + options.seconds), options.jobs):
        count += 1
        if difference is None:
            continue
        failed.append(seed)
        print(f"seed {seed}: {difference}", flush=True)
        if not options.keep_going:
            break
    for seed in failed:
        print(f"seed {seed}: {reduce_and_save(seed)}", flush=True)
    print(f"{count} models from seed {options.seed} on, {len(failed)} differ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""Compares the engines on the models of many seeds, each in a worker process."""

from conformance.isolation import Limits, run_isolated
from differential.compare import compare
from differential.generator import generate_for_engine

SEED_LIMITS = Limits(seconds=30, memory_mb=4096)


def check_seed(seed):
    """None when the engines agree on the model of a seed, else what differs."""
    generated = generate_for_engine(seed)
    finding = compare(generated.model, generated.feeds)
    return f"{finding.kind}, binding {finding.binding}: {finding.text}" if finding else None


def run_seeds(seeds, jobs=2):
    """Yields (seed, None or what differs) in order of completion; a crash or a hang is a difference too."""
    asked = []

    def remembered():
        for seed in seeds:
            asked.append(seed)
            yield seed

    for index, _, outcome in run_isolated(check_seed, remembered(), jobs, SEED_LIMITS):
        yield asked[index], outcome

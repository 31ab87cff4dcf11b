"""Tries the mutants of many seeds, each in a worker process."""

from conformance.isolation import Limits, run_isolated
from normal_form.judge import Trial, try_seed
from normal_form.models import draw_name

LIMITS = Limits(seconds=30)


def run_seeds(seeds, folder, jobs=2):
    """Yields the trials in order of completion. A crash or a hang is a problem too."""
    asked = []

    def tasks():
        for seed in seeds:
            asked.append(seed)
            yield str(folder), seed

    for index, answered, outcome in run_isolated(try_seed, tasks(), jobs, LIMITS):
        seed = asked[index]
        yield outcome if answered else Trial(seed, draw_name(seed), [], "died", outcome)

"""The ways in which a case can be run: which target, where its weights are, how the compiled form reaches the session and
how many threads run it."""

import hashlib
import itertools
from dataclasses import dataclass, fields

AXES = {
    "target": ("reference", "cpu"),
    "weights": ("inputs", "initializers"),
    "form": ("memory", "reloaded", "swapped", "respelled"),
    "threads": (1, 2),
}


@dataclass(frozen=True)
class Combination:
    target: str
    weights: str
    form: str
    threads: int

    def __str__(self):
        return f"{self.target}-{self.weights}-{self.form}-{self.threads}"

    @classmethod
    def parse(cls, text):
        target, weights, form, threads = text.split("-")
        return cls(target, weights, form, int(threads))


ALL = [Combination(*values) for values in itertools.product(*AXES.values())]
CORNERS = [Combination("reference", "inputs", "memory", 1), Combination("cpu", "initializers", "swapped", 2)]
OTHERS = [combination for combination in ALL if combination not in CORNERS]


def pairs_of(combination):
    values = [(field.name, getattr(combination, field.name)) for field in fields(combination)]
    return set(itertools.combinations(values, 2))


def all_pairs():
    """Few combinations in which any two values of different axes meet, the corners first."""
    chosen = list(CORNERS)
    missing = set().union(*map(pairs_of, ALL)) - set().union(*map(pairs_of, chosen))
    while missing:
        best = max(ALL, key=lambda combination: len(pairs_of(combination) & missing))
        chosen.append(best)
        missing -= pairs_of(best)
    return chosen


def few(name):
    """The corners, and one of the others that the name of the case picks."""
    digest = hashlib.sha256(name.encode()).digest()
    return [*CORNERS, OTHERS[int.from_bytes(digest[:4], "little") % len(OTHERS)]]

"""Which combinations this run of the tests covers: `./dev test matrix` sets TENON_TEST_MATRIX to "pairs"."""

import os

from matrix.combination import all_pairs, few


def covers_pairs():
    return os.environ.get("TENON_TEST_MATRIX") == "pairs"


def places():
    """Names of the combinations that each case runs in; what the last of a few is depends on the case."""
    return [f"pair{i}" for i in range(len(all_pairs()))] if covers_pairs() else ["corner", "opposite", "picked"]


def combinations_of(name):
    return all_pairs() if covers_pairs() else few(name)


def chosen_combination(place, name):
    return combinations_of(name)[places().index(place)]

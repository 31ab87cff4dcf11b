"""The table of operator generators: each is one function, entered by its decorator."""

from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Entry:
    name: str
    function: Callable
    weight: float
    since: int


TABLE = []


def operator(name, weight=1.0, since=13):
    """Enters `function(graph)`, which adds the operator to a graph or raises Unsuitable, from opset `since` on."""

    def enter(function):
        TABLE.append(Entry(name, function, weight, since))
        return function

    return enter

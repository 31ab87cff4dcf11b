"""The cases of all capabilities, by what they are about."""

from . import activation_cases

CASES = [*activation_cases.CASES]

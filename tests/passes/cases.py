"""The cases of all capabilities, by what they are about."""

from . import activation_cases, attention_cases, cleanup_cases, group_cases, movement_cases, normalization_cases, product_cases

GROUPS = (activation_cases, attention_cases, cleanup_cases, group_cases, movement_cases, normalization_cases, product_cases)
CASES = [case for group in GROUPS for case in group.CASES]

"""The cases of all capabilities, by what they are about."""

from . import activation_cases, attention_cases, cleanup_cases, normalization_cases, product_cases

CASES = [*activation_cases.CASES, *attention_cases.CASES, *cleanup_cases.CASES, *normalization_cases.CASES, *product_cases.CASES]

"""What all tests share."""

from conformance.engines import limit_instruction_set


def pytest_configure():
    limit_instruction_set()

"""Warnings point at the line of the program that called into this package."""

import os
import sys
import warnings

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(text, category=UserWarning):
    frame, level = sys._getframe(1), 2
    while frame.f_back and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)

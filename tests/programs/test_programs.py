"""Programs of other people on Tenon: the same results as on onnxruntime."""

import json
import pathlib

import numpy as np
from python.programs import TENON, run_python

FOLDER = pathlib.Path(__file__).parent
# Scores are probabilities that come out of float32 networks: rounding errors of sums of up to 10,000 products, which
# grow with the root of their number, and the program's own rounding to 5 decimals.
SCORE = float(np.finfo(np.float32).eps) * 10_000**0.5 + 1e-5
# Corners are whole pixels; a corner between two may be rounded to either.
CORNER = 1


def results(program, folder):
    """What the program prints on onnxruntime and on Tenon."""
    for way in ((), TENON):
        done = run_python(*way, FOLDER / program, folder=folder)
        yield json.loads(done.stdout.splitlines()[-1])


def test_identifying_files_with_magika(tmp_path):
    """Kinds alone: the model takes variances as differences of sums, so that the scores of files with few different
    bytes are mostly rounding errors of whoever computes them."""
    theirs, ours = results("identify_files.py", tmp_path)
    assert ours.keys() == theirs.keys() and len(ours) == 33
    assert ours == theirs


def test_reading_text_with_rapidocr(tmp_path):
    theirs, ours = results("recognize_text.py", tmp_path)
    assert [page["texts"] for page in theirs] == [
        ["Interchangeable parts", "Order 20417: 3 x oak, 12.50 EUR", "mortise and tenon"],
        ["Thank you!", "Total 1,284.00"],
    ]
    for page, expected in zip(ours, theirs, strict=True):
        assert page["texts"] == expected["texts"]
        np.testing.assert_allclose(page["scores"], expected["scores"], rtol=0, atol=SCORE)
        np.testing.assert_allclose(page["boxes"], expected["boxes"], rtol=0, atol=CORNER)

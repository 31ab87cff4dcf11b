"""Runs a model in one of the combinations."""

import re
import tempfile

import numpy as np
import tenon
from matrix.weights import draws_random_numbers, inputs_as_initializers, swappable, with_other_values


class SwapDiffers(AssertionError):
    """Swapped weights gave another result than compiled ones."""


def session_options(combination):
    options = tenon.SessionOptions()
    options.intra_op_num_threads = combination.threads
    return options


def open_session(model, combination):
    if combination.form == "respelled":
        model, _ = tenon.Model.load(model).respelled()
    artifact = tenon.compile(model, provider=combination.target)
    if combination.form == "reloaded":
        # The files may go once they are mapped.
        with tempfile.TemporaryDirectory() as folder:
            return tenon.Artifact.load(*artifact.save(folder)).session(sess_options=session_options(combination))
    return artifact.session(sess_options=session_options(combination))


def open_swapped(model, combination):
    """A session compiled with other weights that then got the model's own; None when the compile depends on them all.

    What the compile asked a weight about must stay as it is: the refusal names it. Some ops refuse other values when they
    are compiled, such as the scales of a resize whose sizes are declared."""
    right = swappable(model)
    names = set(right)
    while names:
        try:
            session = open_session(with_other_values(model, names), combination)
        except tenon.Error:
            return None
        try:
            session.set_weights({name: right[name] for name in names}, partial=True)
            return session
        except tenon.Error as error:
            asked = {name for name in names if "guard:" in str(error) and f"'{name}'" in str(error)}
            if not asked:
                raise
            names -= asked
    return None


def same_bits(left, right):
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same_bits, left, right))
    if not isinstance(left, np.ndarray):
        return left is right or left == right
    return left.dtype == right.dtype and left.shape == right.shape and (
        np.array_equal(left, right) if left.dtype == object else left.tobytes() == right.tobytes())


def run_combination(model, feeds, combination, outputs=None):
    """The outputs of the model."""
    if combination.weights == "initializers":
        model, feeds = inputs_as_initializers(model, feeds)
    result = open_session(model, combination).run(outputs, feeds)
    if combination.form == "swapped" and not draws_random_numbers(model):
        session = open_swapped(model, combination)
        if session is not None:
            swapped = session.run(outputs, feeds)
            if not same_bits(swapped, result):
                raise SwapDiffers(f"swapped weights differ from compiled ones in {combination}")
            return swapped
    return result


class MatrixSession:
    """Stands in for a session of a model in memory: the same answers, in another combination.

    A refusal is the plain session's, so that tests of messages see the words of the model as it was written."""

    def __init__(self, plain, model, combination):
        self._plain, self._model, self._combination = plain, model, combination

    def __getattr__(self, name):
        return getattr(self._plain, name)

    def run(self, output_names, feeds, *rest, **named):
        if rest or named:
            return self._plain.run(output_names, feeds, *rest, **named)
        try:
            return run_combination(self._model, feeds, self._combination, output_names)
        except Exception:
            self._plain.run(output_names, feeds)
            raise

"""The only cases that may fail, as (regular expression for the whole name, reason). A listed case that passes is an error."""

import re

EXCEPTIONS = [
    (r"test_image_decoder_.*", "image codecs come with a later step"),
    (r"test_gradient_of_.*", "the training operator Gradient comes with training"),
]


def reason_for(name):
    return next((reason for pattern, reason in EXCEPTIONS if re.fullmatch(pattern, name)), None)

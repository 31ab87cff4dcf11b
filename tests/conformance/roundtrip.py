"""Checks that reading and writing a model with tenon loses nothing, for the model of every conformance case.

    python roundtrip.py [--suite S] [--filter REGEX] [--jobs N]
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import onnx
from google.protobuf import text_format

from conformance.cases import SUITES
from conformance.execute import first_line
from conformance.model_checks import check_from_command_line


def check_case(case):
    """(None when the round trip keeps everything, else what is lost; no notes)."""
    try:
        import tenon

        return check_round_trip(tenon.Model, case.model), []
    except Exception as error:  # a refusal is the result of this case
        return f"{type(error).__name__}: {first_line(error)}", []


def check_round_trip(model_class, model_bytes):
    written = model_class.load(model_bytes).to_bytes()
    text = lost_content(model_bytes, written)
    if text:
        return f"read and written once: {text}"
    if model_class.load(written).to_bytes() != written:
        return "reading and writing the written bytes changes them"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "source.onnx", Path(folder) / "target.onnx"
        source.write_bytes(model_bytes)
        model_class.load(str(source)).save(str(target))
        if target.read_bytes() != written:
            return "save() from a file and to_bytes() from memory write different bytes"
    return None


def lost_content(before, after):
    """Protobuf equality: field order and packed encoding do not count, presence of a field and unknown fields do."""
    first, second = onnx.ModelProto.FromString(before), onnx.ModelProto.FromString(after)
    # Compared as bytes, because a NaN is not equal to itself in a message comparison.
    if first.SerializeToString(deterministic=True) == second.SerializeToString(deterministic=True):
        return None
    return first_difference(text_lines(first), text_lines(second))


def text_lines(model):
    return text_format.MessageToString(model, print_unknown_fields=True).splitlines()


def first_difference(before, after):
    for number, (old, new) in enumerate(zip(before, after)):
        if old != new:
            return f"{old.strip()[:80]!r} became {new.strip()[:80]!r} (line {number + 1} of the text form)"
    if len(before) != len(after):
        return f"the text form has {len(after)} lines instead of {len(before)}"
    return "the encodings differ but the text forms do not"


if __name__ == "__main__":
    sys.exit(check_from_command_line(__doc__, check_case, "survive", SUITES))

"""Loads and runs damaged copies of a model: `broken_file_worker.py MODEL truncate|flip`. Prints how many of them ran.

Runs in a process of its own, so that a crash is seen as one.
"""

import random
import sys
from pathlib import Path

import numpy as np
import tenon

FLIPS = 400


def truncated(data):
    for length in range(len(data)):
        yield data[:length]


def flipped(data):
    random_bits = random.Random(7)
    for _ in range(FLIPS):
        damaged = bytearray(data)
        for _ in range(random_bits.randint(1, 3)):
            damaged[random_bits.randrange(len(damaged))] ^= 1 << random_bits.randrange(8)
        yield bytes(damaged)


def try_out(data):
    options = tenon.SessionOptions()
    options.add_session_config_entry("tenon.memory_limit", str(32 << 20))
    options.add_session_config_entry("tenon.loop_limit", "100")
    session = tenon.InferenceSession(data, options)
    feeds = {}
    for value in session.get_inputs():
        if value.type != "tensor(float)" or any(isinstance(dim, int) and dim > 64 for dim in value.shape):
            return
        feeds[value.name] = np.ones([dim if isinstance(dim, int) else 2 for dim in value.shape], np.float32)
    session.run(None, feeds)


def main():
    data, ran = Path(sys.argv[1]).read_bytes(), 0
    for damaged in {"truncate": truncated, "flip": flipped}[sys.argv[2]](data):
        try:
            try_out(damaged)
            ran += 1
        except tenon.Error as error:
            assert error.code != "internal", error
            assert str(error)
        except (UnicodeDecodeError, ValueError):
            pass  # a name that Python cannot hold
    print(ran)


if __name__ == "__main__":
    main()

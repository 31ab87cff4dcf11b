"""The decision that a model is in normal form reads its structure and not its weights."""

import os

import pytest

import tenon
from normal_form.large_models import bytes_in_memory, write_external, write_inline

MEGABYTE = 2**20


def is_skipped(path):
    return tenon.optimize_file(path, path, check=True)["evidence"] == "stamp"


def test_of_a_data_file_nothing_is_read(tmp_path):
    path, data = write_external(tmp_path, 8, 256 * MEGABYTE)
    assert os.path.getsize(data) == 2048 * MEGABYTE
    assert is_skipped(path)
    assert bytes_in_memory(data) == 0


def test_of_a_model_with_its_weights_inside_one_percent_is_read(tmp_path):
    path = write_inline(tmp_path, 4, 64 * MEGABYTE)
    size, before = os.path.getsize(path), bytes_in_memory(path)
    assert size > 256 * MEGABYTE and before < size / 1000
    assert is_skipped(path)
    assert bytes_in_memory(path) <= size / 100


def test_reading_is_noticed(tmp_path):
    path, data = write_external(tmp_path, 1, 16 * MEGABYTE)
    with open(data, "rb") as file:
        file.seek(MEGABYTE)
        file.read(2 * MEGABYTE)
    assert bytes_in_memory(data) >= 2 * MEGABYTE


@pytest.mark.parametrize("change", ["gone", "shorter"])
def test_weights_that_are_not_there_are_noticed(tmp_path, change):
    path, data = write_external(tmp_path, 2, MEGABYTE)
    if change == "gone":
        data.unlink()
    else:
        os.truncate(data, 2 * MEGABYTE - 1)
    for force in (False, True):
        with pytest.raises(tenon.Error, match="weights.data"):
            tenon.optimize_file(path, path, check=True, force=force)

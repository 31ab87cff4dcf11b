"""The normal form changes only together with the version of the passes, which stamps carry."""

import pytest
from onnx import load_from_string

from normal_form.committed import FOLDER, NAMES, complaint, made, path_of


@pytest.mark.parametrize("name", NAMES)
def test_the_normal_form_is_the_committed_one(tmp_path, name):
    problem = complaint(name, path_of(name).read_bytes(), made(name, tmp_path))
    assert problem is None, problem


def test_nothing_else_is_committed():
    assert sorted(FOLDER.iterdir()) == sorted(map(path_of, NAMES))
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 100_000


def test_a_change_is_noticed():
    before = path_of("loops").read_bytes()
    model = load_from_string(before)
    assert complaint("loops", before, before) is None
    model.graph.node[0].name = "renamed"
    assert "Raise the version" in complaint("loops", before, model.SerializeToString())
    model.metadata_props[0].value = "0" + model.metadata_props[0].value
    assert "another version" in complaint("loops", before, model.SerializeToString())

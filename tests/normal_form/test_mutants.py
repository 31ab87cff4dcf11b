"""A model that `tenon optimize` takes for normal is one, whatever was done to it since it was stamped."""

from collections import Counter

import pytest
from onnx import helper

from normal_form.campaign import run_seeds
from normal_form.judge import judge, mutant_of, stamped, try_seed, write
from normal_form.models import BY_HAND, EXPORTED
from normal_form.mutant import EDITS
from normal_form.shrink import kind_of, shrink

MUTANTS = 1000


def trials(tmp_path, first, count):
    return list(run_seeds(range(first, first + count), tmp_path, jobs=1))


@pytest.mark.parametrize("first", range(0, MUTANTS, 250))
def test_a_skip_is_never_wrong(tmp_path, first):
    found = trials(tmp_path, first, 250)
    wrong = [f"seed {t.seed} ({t.origin}): {'; '.join(t.edits)}: {t.problem}" for t in found if t.problem]
    assert not wrong, "\n".join(wrong)
    # Mutants that nothing can be done with, or that all need work, would prove little.
    decided = Counter(t.decided for t in found)
    assert decided["stamp"] >= 10 and decided["changed"] >= 25 and decided["no pass changes it"] >= 50, decided


@pytest.mark.parametrize("name", [*(build.__name__ for build in BY_HAND), *EXPORTED])
def test_models_are_recognised_before_they_are_edited(tmp_path, name):
    model, files, capabilities = stamped(name, str(tmp_path))
    assert judge(write(tmp_path / "model", model, files), capabilities) == ("stamp", None)


# Where a data file has a shape or an index that only a body, an attribute, or a sparse tensor reads.
STRUCTURE_IN_DATA_FILES = {"a shape in a body, and in an attribute": 0, "an index, and of a sparse tensor": 16}


@pytest.mark.parametrize("what", STRUCTURE_IN_DATA_FILES)
def test_other_structure_in_a_data_file_is_looked_at(tmp_path, what):
    model, files, capabilities = stamped("external_everywhere", str(tmp_path))
    data, at = bytearray(files["d.bin"]), STRUCTURE_IN_DATA_FILES[what]
    data[at:at + 16] = data[at + 8:at + 16] + data[at:at + 8] if at == 0 else bytes(8) + data[at + 8:at + 16]
    assert judge(write(tmp_path / "m", model, {"d.bin": bytes(data)}), capabilities)[0] != "stamp"


def test_other_weights_in_a_data_file_are_not(tmp_path):
    model, files, capabilities = stamped("external_everywhere", str(tmp_path))
    data = files["d.bin"][:-100] + bytes(99) + files["d.bin"][-1:]
    assert judge(write(tmp_path / "m", model, {"d.bin": data}), capabilities) == ("stamp", None)


def test_a_seed_gives_the_same_mutant_every_time(tmp_path):
    first, second = (mutant_of(7, tmp_path / name)[0] for name in ("a", "b"))
    assert first.model.SerializeToString(deterministic=True) == second.model.SerializeToString(deterministic=True)
    assert first.log == second.log


def test_every_edit_is_made(tmp_path):
    made = set()
    for seed in range(1500):
        made |= {text.split(" (")[0] for text in mutant_of(seed, tmp_path)[0].log}
    assert made == {edit.name for edit in EDITS}


def careless(path, capabilities):
    """Takes every model for normal."""
    return {"status": "already normalized", "evidence": "stamp"}


def test_a_wrong_skip_is_found_and_made_small(tmp_path):
    seed = next(s for s in range(1000) if try_seed((tmp_path, s)).decided == "changed" and
                len(mutant_of(s, tmp_path)[0].log) > 1)
    mutant, capabilities = mutant_of(seed, tmp_path)
    _, problem = judge(write(tmp_path / "m", mutant.model, mutant.files), capabilities, careless)
    assert "a full run writes another model" in problem
    model, files, edits = shrink(seed, tmp_path, careless)
    assert len(edits) < len(mutant.log) and len(model.SerializeToString()) <= len(mutant.model.SerializeToString())
    _, again = judge(write(tmp_path / "m", model, files), capabilities, careless)
    assert kind_of(again) == kind_of(problem)


def test_needless_work_is_found_too(tmp_path):
    model, files, capabilities = stamped("loops", str(tmp_path))
    path = write(tmp_path / "m", model, files)
    assert judge(path, capabilities, lambda *_: {"status": "would change"})[1] == (
        "said 'changed', but a full run writes the same")
    model.graph.node.insert(0, helper.make_node("Identity", ["x"], ["again"]))
    assert judge(write(tmp_path / "m", model, files), capabilities)[0] == "changed"

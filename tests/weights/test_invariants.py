"""What a compile promises whatever the weights are, and wherever and however it runs."""

import itertools
import subprocess

import numpy as np
import onnx
import pytest
from cli.conftest import program  # noqa: F401
from onnx import numpy_helper

import tenon

from .test_swap import PROVIDERS, compiled, made, outputs, same
from .zoo import ZOO, feed

# Values that a pass which looks at them would like to decide by.
TEMPTING = {"zeros": 0, "ones": 1, "twos": 2, "halves": 0.5}


def filled(model, names, value):
    """A copy of the model whose weights of these names are full of one value; for weights outside bodies."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for tensor in copy.graph.initializer:
        if tensor.name in names:
            array = numpy_helper.to_array(tensor)
            tensor.CopyFrom(numpy_helper.from_array(np.full_like(array, value), tensor.name))
    return copy


def sources(artifact, swappable):
    return {s["name"] for s in artifact.describe("sources")["sources"] if s["swappable"] == swappable and s["name"]}


def recipes(artifact):
    """Plans and weight programs, without the packed tensors that these weights give."""
    described = artifact.describe("plan,weight_program")
    for program in described["weight_program"]:
        for slot in program["slots"]:
            del slot["packed"]
    return described


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ZOO)
class TestProvenance:
    """1: no constant without a source, packed bytes = W(sources)."""

    def test_every_slot_is_a_function_of_sources(self, name, provider):
        described = compiled(made(name, 1), provider).describe("models,weight_program")
        (slots,) = described["weight_program"]
        assert described["models"][0]["slots"] == len(slots["slots"])
        for slot in slots["slots"]:
            assert slot["expression"] and slot["sources"]

    def test_packed_bytes_are_computed_again(self, name, provider, tmp_path):
        path = compiled(made(name, 1), provider, sources="embed").save(tmp_path)[0]
        artifact = tenon.Artifact.load(path)
        verified = artifact.verify()
        assert verified["recomputed"] == verified["packed"] == len(artifact.describe("packed")["packed"])


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", ZOO)
class TestPlansDoNotKnowWeights:
    """2 and 3: what a plan depends on is guarded, and nothing else is."""

    @pytest.mark.parametrize("value", TEMPTING)
    def test_weights_without_a_guard_may_be_anything(self, name, provider, value):
        model = made(name, 1)
        first = compiled(model, provider)
        other = filled(model, sources(first, True), TEMPTING[value])
        second = compiled(other, provider)
        assert recipes(first) == recipes(second)
        session, feeds = first.session(), feed(model, np.random.default_rng(2))
        weights = {t.name: numpy_helper.to_array(t) for t in other.graph.initializer if t.name in sources(first, True)}
        if not weights or any(array.dtype.kind not in "fiu" for array in weights.values()):
            return
        session.set_weights(weights, partial=True)
        same(outputs(session, feeds), outputs(second.session(), feeds))

    def test_what_a_guard_saw_cannot_change(self, name, provider):
        model = made(name, 1)
        artifact = compiled(model, provider)
        session, feeds = artifact.session(), feed(model, np.random.default_rng(2))
        before = outputs(session, feeds)
        given = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        for weight in sources(artifact, False) & set(given):
            with pytest.raises(tenon.Error, match=f"guard: .*'{weight}'"):
                session.set_weights({weight: given[weight] + 1}, partial=True)
            session.set_weights({weight: given[weight]}, partial=True)
        same(outputs(session, feeds), before)


def renamed(model):
    """The same model with other names for nodes and for everything that is neither weight, input nor output."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    kept = {v.name for v in (*copy.graph.input, *copy.graph.output, *copy.graph.initializer)}
    copy.graph.name = "another"
    for i, node in enumerate(copy.graph.node):
        node.name = f"other{i}"
        for names in (node.input, node.output):
            names[:] = [name if name in kept or not name else f"r_{name}" for name in names]
    return copy


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("name", sorted(set(ZOO) - {"weights_in_bodies", "weights_in_functions"}))
def test_names_of_nodes_and_inner_values_do_not_matter(name, provider):
    model = made(name, 1)
    first, second = compiled(model, provider), compiled(renamed(model), provider)
    assert first.describe()["models"][0]["plan_key"] == second.describe()["models"][0]["plan_key"]
    keys = [sorted(entry["key"] for entry in artifact.describe("packed")["packed"]) for artifact in (first, second)]
    assert keys[0] == keys[1]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("zoo")
    for name in ZOO:
        onnx.save(made(name, 1), folder / f"{name}.onnx")
    return [folder / f"{name}.onnx" for name in ZOO]


class TestSameBytesEverywhere:
    """4: the artifact does not depend on instruction set, threads, processes or the order of the models."""

    @staticmethod
    def compile(program, folder, models, *arguments):  # noqa: F811
        chosen = itertools.chain.from_iterable(("-m", str(model)) for model in models)
        command = [program, "compile", *chosen, "--output-dir", str(folder), "--no-validate", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    @pytest.mark.parametrize("provider", PROVIDERS)
    def test_one_group(self, program, models, provider, tmp_path):  # noqa: F811
        options = ["--ep-options", f"provider={provider}"]
        expected = self.compile(program, tmp_path / "first", models, *options)
        assert len(expected) == len(models) + 1
        backwards, shuffled = models[::-1], models[1::2] + models[::2]
        runs = [(models, ["--threads", "1"]), (models, ["--threads", "2"]), (backwards, ["--threads", "2"]),
                (shuffled, ["--jobs", "2", "--threads", "2"])]
        isas = tenon.system()["cpu"]["isas"]
        runs += [(models, ["--ep-options", f"cpu_isa={isa}", "--threads", threads])
                 for isa in isas for threads in ("1", "2")]
        for number, (order, more) in enumerate(runs):
            got = self.compile(program, tmp_path / str(number), order, *options, *more)
            assert sorted(got) == sorted(expected), more
            assert [name for name in expected if got[name] != expected[name]] == [], more

    def test_outputs_do_not_depend_on_the_instruction_set_of_the_compile(self, program, models, tmp_path):  # noqa: F811
        """Packing on one instruction set and running on another."""
        isas = tenon.system()["cpu"]["isas"]
        self.compile(program, tmp_path / "made", models, "--ep-options", f"cpu_isa={isas[-1]}")
        for name in ZOO:
            model = made(name, 1)
            feeds = feed(model, np.random.default_rng(3))
            loaded = tenon.InferenceSession(tmp_path / "made" / f"{name}_ctx.onnx")
            same(outputs(loaded, feeds), outputs(compiled(model).session(), feeds))

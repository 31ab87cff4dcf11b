"""The ops of all suites, respelled in every version: the models of tests/ops and of the conformance suites as they are,
and with other versions of their ops."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import onnx
import tenon
from conformance.op_versions import every_node, history, standard, version_of, versioned_ops

TESTS = Path(__file__).resolve().parents[1]


@dataclass
class Survey:
    tried: set = field(default_factory=set)  # (domain, op, version of the op)
    kept: set = field(default_factory=set)  # ops without a way back
    errors: list = field(default_factory=list)
    models: dict = field(default_factory=dict)  # (domain, op) -> models with it

    def __post_init__(self):
        self.history = history()

    def note_ops(self, ops):
        for domain, op, imported in ops:
            version = version_of(self.history.get((domain, op), [1]), imported)
            self.tried.add((domain, op, version))

    def offer(self, model):
        for domain, op, _ in versioned_ops(model):
            self.models.setdefault((domain, op), []).append(model)

    def untried(self):
        every = {(*op, version) for op, versions in self.history.items() for version in versions}
        return sorted(every - self.tried)


def survey_op_suite(survey):
    """The models of tests/ops, in one combination of tests/matrix."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TENON_RECORDED_MODELS": folder, "PYTHONPATH": str(TESTS)}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "conformance.record_models"]
        command += ["-n", str(os.cpu_count()), "-k", "corner", "tests/ops"]
        result = subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
        for path in Path(folder).glob("*.jsonl"):
            for line in path.read_text().splitlines():
                entry = json.loads(line)
                survey.note_ops(map(tuple, entry["ops"]))
                survey.kept.update(entry.get("kept", []))
                survey.errors += [entry["error"]] if "error" in entry else []
        for path in sorted(Path(folder).glob("*.onnx")):
            survey.offer(path.read_bytes())


def in_version(model, domain, version):
    model = onnx.load_from_string(model)
    for imported in model.opset_import:
        if standard(imported.domain) == domain:
            imported.version = version
    return model.SerializeToString()


def is_valid(model):
    """Whether the versions that the model imports have its nodes' attributes and numbers of inputs. Tenon is lenient."""
    model = onnx.load_from_string(model)
    versions = {standard(imported.domain): imported.version for imported in model.opset_import}
    for node in every_node(model.graph):
        domain = standard(node.domain)
        if not onnx.defs.has(node.op_type, domain):
            continue
        try:
            schema = onnx.defs.get_schema(node.op_type, versions.get(domain, 1), domain)
        except onnx.defs.SchemaError:
            return False
        given = {attribute.name for attribute in node.attribute}
        if not given <= set(schema.attributes) or not schema.min_input <= len(node.input) <= schema.max_input:
            return False
    return True


def survey_other_versions(survey):
    """What no model has, in the models that have the op in another version, where they are valid that way."""
    for domain, op, version in survey.untried():
        for model in survey.models.get((domain, op), []):
            changed = in_version(model, domain, version)
            try:
                loaded = tenon.Model.load(changed) if is_valid(changed) else None
            except tenon.Error:
                loaded = None  # this version has another form
            if loaded is not None:
                survey.kept.update(loaded.respelled()[1]["kept"])
                survey.tried.add((domain, op, version))

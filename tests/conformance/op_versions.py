"""Which ops in which versions there are, and which of them a model has."""

import re
from pathlib import Path

import onnx

SOURCE = Path(__file__).resolve().parents[2] / "src" / "onnx"
MICROSOFT = "com.microsoft"


def every_node(graph):
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for body in ([attribute.g] if attribute.HasField("g") else []) + list(attribute.graphs):
                yield from every_node(body)


def standard(domain):
    return "" if domain == "ai.onnx" else domain


def versioned_ops(model):
    """{(domain, op, version of the domain that the model imports)} of the bytes of a model."""
    model = onnx.load_from_string(model)
    versions = {standard(imported.domain): imported.version for imported in model.opset_import}
    return {(standard(n.domain), n.op_type, versions.get(standard(n.domain), 1)) for n in every_node(model.graph)}


def history():
    """{(domain, op): [versions in which it became another one]} of ONNX and of onnxruntime's ops that the importer knows."""
    found = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.deprecated:
            found.setdefault((schema.domain, schema.name), []).append(schema.since_version)
    for path in SOURCE.rglob("*.cpp"):
        for op in re.findall(r'\bmap\.(?:same|custom)\((?:kMicrosoftDomain|domain), "(\w+)"', path.read_text()):
            found[MICROSOFT, op] = [1]
    return {op: sorted(versions) for op, versions in sorted(found.items())}


def version_of(since_versions, imported):
    """The version of an op that a version of its domain has, or None."""
    return max((version for version in since_versions if version <= imported), default=None)

#!/usr/bin/env python3
"""Writes src/onnx/op_versions.def from the operator schemas of the installed onnx package."""

from collections import defaultdict
from pathlib import Path

import onnx
from onnx import defs

TARGET = Path(__file__).resolve().parent.parent / "src/onnx/op_versions.def"
HEADER = f"""\
// Versions of operators, made by tools/make_op_versions.py from onnx {onnx.__version__}.
// NEWEST_IR(version of the file format)
// DOMAIN_VERSION(domain, newest version)
// INTRODUCED(domain, op, version): ops that the first version of their domain does not have.
// DEPRECATED(domain, op, first version, version that has it again; 0: none)
// ATTRIBUTE(domain, op, attribute, first version, version that no longer has it; 0: none): those that not all versions
// of the op have.
// Whoever includes this defines the macros of interest; they are undefined at the end.
"""
MACROS = {
    "NEWEST_IR": "version",
    "DOMAIN_VERSION": "domain, newest",
    "INTRODUCED": "domain, op_type, since",
    "DEPRECATED": "domain, op_type, since, until",
    "ATTRIBUTE": "domain, op_type, attribute, since, until",
}

# Models have these in any version: they began as experimental ops, which onnx no longer lists, or as an op that
# onnxruntime's optimizer wrote into the default domain (LayerNormalization).
OLDER_THAN_THEIR_SCHEMA = {"LayerNormalization", "MeanVarianceNormalization", "ThresholdedRelu"}
# Domains whose schemas are not part of onnx.
OTHER_DOMAINS = {"com.microsoft": 1}


def schemas_by_op():
    schemas = defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        schemas[schema.domain, schema.name].append(schema)
    return {key: sorted(found, key=lambda s: s.since_version) for key, found in sorted(schemas.items())}


def lines():
    yield f"NEWEST_IR({onnx.IR_VERSION})"
    newest_versions = {domain: newest for domain, (_, newest) in defs.C.schema_version_map().items()}
    for domain, newest in sorted({**newest_versions, **OTHER_DOMAINS}.items()):
        yield f'DOMAIN_VERSION("{domain}", {newest})'
    schemas = schemas_by_op()
    for (domain, name), found in schemas.items():
        if found[0].since_version > 1 and name not in OLDER_THAN_THEIR_SCHEMA:
            yield f'INTRODUCED("{domain}", "{name}", {found[0].since_version})'
    for (domain, name), found in schemas.items():
        for schema, following in zip(found, [*found[1:], None], strict=True):
            if schema.deprecated:
                until = following.since_version if following else 0
                yield f'DEPRECATED("{domain}", "{name}", {schema.since_version}, {until})'
    for (domain, name), found in schemas.items():
        for attribute, since, until in passing_attributes([schema for schema in found if not schema.deprecated]):
            yield f'ATTRIBUTE("{domain}", "{name}", "{attribute}", {since}, {until})'


def passing_attributes(schemas):
    names = {name for schema in schemas for name in schema.attributes} - {"consumed_inputs"}
    for name in sorted(names):
        having = [name in schema.attributes for schema in schemas]
        for i, has in enumerate(having):
            if has and not all(having) and (i == 0 or not having[i - 1]):
                lost = next((s.since_version for s, h in zip(schemas[i:], having[i:]) if not h), 0)
                yield name, schemas[i].since_version, lost


def text():
    defaults = [f"#ifndef {name}\n#define {name}({arguments})\n#endif" for name, arguments in MACROS.items()]
    ends = [f"#undef {name}" for name in MACROS]
    return HEADER + "\n".join([*defaults, *lines(), *ends]) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text())

"""Models of real exporters: every command comes to the same verdict, and it is "same"."""

from pathlib import Path

import pytest

from .conftest import DONE

FIXTURES = Path(__file__).parents[1] / "exporters" / "fixtures"
# The mean of an empty bag is NaN, and that offsets must ascend is not to be seen from any node.
INCONCLUSIVE = {"embedding_bag_dynamo", "embedding_bag_torchscript"}


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*/*/model.onnx")), ids=lambda p: f"{p.parts[-3]}-{p.parts[-2]}")
def test_one_verdict(tenon, path, tmp_path):
    compiled = tenon("compile", "-m", path, "-o", "m_ctx.onnx", "--format", "json")
    alone = tenon("verify", path, "--format", "json")
    artifact = tenon("verify", "m_ctx.onnx", "--source-dir", path.parent, "--format", "json")
    assert (compiled.code, alone.code, artifact.code) == (DONE, DONE, DONE), compiled.err + alone.err + artifact.err
    verdicts = {compiled.json["models"][0]["validation"]["verdict"], alone.json["verdict"],
                artifact.json["groups"][0]["numbers"][0]["verdict"]}
    assert verdicts == {"inconclusive" if path.parent.name in INCONCLUSIVE else "same"}

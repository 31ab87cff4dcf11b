"""Runs the models of make_models.py from Python and checks what they compute.

Usage: run_models.py FOLDER
"""

import sys
from pathlib import Path

import numpy as np
import tenon

folder = Path(sys.argv[1])
random = np.random.default_rng(1)

session = tenon.InferenceSession(folder / "mlp.onnx")
(probabilities,) = session.run(None, {"x": random.normal(size=(3, 16)).astype(np.float32)})
print("mlp: most likely classes of three rows:", probabilities.argmax(axis=1))
np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)

session = tenon.InferenceSession(folder / "cnn.onnx")
(scores,) = session.run(["scores"], {"image": random.normal(size=(1, 3, 32, 32)).astype(np.float32)})
print("cnn: scores:", scores.round(3))

session = tenon.InferenceSession(folder / "newton.onnx")
values = np.array([0, 3, 8, 99], np.float32)
(roots,) = session.run(None, {"signed": values})
print("newton: square roots of", values + 1, "are", roots)
np.testing.assert_allclose(roots, np.sqrt(values + 1), rtol=1e-5)

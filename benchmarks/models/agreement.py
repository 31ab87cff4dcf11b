"""Whether engines computed the same."""

import numpy as np

# Sums of this many terms, each rounded, may be this far apart, relative to the largest element of an output.
ALLOWED = 4096 * float(np.finfo(np.float32).eps)


def difference(got, wanted):
    """Why the outputs are not the same, or ""."""
    if len(got) != len(wanted):
        return f"{len(got)} outputs instead of {len(wanted)}"
    for i, (ours, theirs) in enumerate(zip(got, wanted, strict=True)):
        reason = _difference_of(ours, theirs)
        if reason:
            return f"output {i}: {reason}"
    return ""


def _difference_of(got, wanted):
    if got.shape != wanted.shape:
        return f"shape {got.shape} instead of {wanted.shape}"
    if wanted.dtype.kind not in "fc":
        wrong = int((got != wanted).sum())
        return f"{wrong} of {wanted.size} elements differ" if wrong else ""
    if not wanted.size:
        return ""
    if not (np.isfinite(got).all() and np.isfinite(wanted).all()):
        return "not all elements are finite"
    error = float(np.abs(got.astype(np.float64) - wanted).max() / (np.abs(wanted).max() or 1))
    return f"differs by {error:.2g} of the largest element, allowed {ALLOWED:.2g}" if error > ALLOWED else ""


def agreeing(results):
    """engine -> outputs  to  engine -> why it does not count; the outputs that most engines share are right."""
    def supporters(name):
        return sum(not difference(other, results[name]) for other in results.values())

    if not results:
        return {}
    judge = max(results, key=supporters)
    return {name: difference(outputs, results[judge]) for name, outputs in results.items()}

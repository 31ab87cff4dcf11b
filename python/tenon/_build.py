"""Builds: compile models into files, as `tenon compile` does."""

import json
import os

from . import _tenon
from ._errors import Fail
from ._settings import as_names, settings


class BuildReport(dict):
    """The report of a build: `compiler`, `status`, `folder`, `seconds`, `written`, `models` and `group`, as in the JSON
    report of `tenon compile`."""

    @property
    def ok(self):
        """Whether all models succeeded."""
        return self["status"] != "failed"

    @property
    def errors(self):
        """The errors of failed models, by path."""
        return {model["model"]: model["error"] for model in self["models"] if model.get("error")}

    def html(self):
        """The report as one self-contained HTML page."""
        return _tenon.report_html(json.dumps(self))


class BuildFailed(Fail):
    """Some models of a build failed; `report` has the result of every model."""

    def __init__(self, report):
        super().__init__("\n".join(dict.fromkeys(report.errors.values())))
        self.report = report


def build(models, output=None, *, output_dir=None, weights_name=None, overwrite=False, embed=False, compiler="tenon",
          provider=None, cpu_isa=None, sources="reference", defer_weights=False, pin=(), freeze_inputs=False,
          keep_going=True, validate=True, validate_existing=False, validate_seconds=None, dims=None, shapes=None,
          inputs=None, jobs=1, threads=None, program=None, compile_seconds=None, cache=True, cache_dir=None,
          cache_bytes=None, optimize=None, stages=None, on_event=None, check=True):
    """Compiles models, given by their paths, into context files that share one weights file, and returns a
    `BuildReport`. Models that are up to date are skipped; results are published only if they agree with the reference
    interpreter.

    output: the context file, for one model. output_dir: the folder for several; without either, results go beside the
    first model. weights_name: the name of the weights file, before the dash. overwrite: replace existing context files.
    embed: store the weights inside the context file, for one model. compiler: one of `compilers()`. provider: "cpu" or
    "reference", or a dict of these by the paths of models. freeze_inputs: True for all initializers that are listed as
    inputs, or the names of some. sources, defer_weights, pin, jobs, threads and cpu_isa are those of `compile`.

    keep_going: continue when a model fails; False: write nothing then. check: raise `BuildFailed` if models fail, after
    the others are done; False: only the report says so.

    validate: compare each result with the reference in a separate process, so that a crash or a hang fails only one
    model. The process runs the program `tenon` that is installed with this package, or the one that `program` names.
    validate_existing: also validate results that are up to date. validate_seconds: time limit for the reference per set
    of inputs, and then for the compiled model. dims, shapes and inputs: the inputs for the comparison, as dicts of
    extents, of lists of extents, and of .npy files or numbers.

    cache: take what was compiled before from the cache of compiled models, and put there what is new. cache_dir: its
    folder, instead of the user's. cache_bytes: limit on its size; never more than a tenth of the free space.

    optimize: True: bring the models into normal form first, in memory; a dict: with these capabilities, by their names,
    switched on or off. stages: a dict of settings turns the build into that of `tenon build`, which keeps a manifest in
    `output_dir` and runs only the stages that something has changed for; the report is the manifest then, and "report"
    in it that of the compile. Settings: compile, keep_optimized, rebuild, rehash, force, dry_run, auto, most_rounds,
    fail_on_reference; {} for none.

    compile_seconds: how long a compiler in its own process may print nothing. on_event: called with "progress",
    "warning" or "detail", the position of a model or None, and a text, from another thread; an exception it raises ends
    the build, as does Ctrl-C; nothing is written then."""
    paths = [os.fspath(path) for path in as_names(models, "models")]
    if not paths:
        raise ValueError("no model is given")
    by_path = {os.fspath(path): name for path, name in provider.items()} if isinstance(provider, dict) else {}
    for path in by_path:
        if path not in paths:
            raise ValueError(f"provider: '{path}' is none of the models")
    frozen = [] if isinstance(freeze_inputs, bool) else as_names(freeze_inputs, "freeze_inputs")
    options = settings(
        output=_path(output), output_dir=_path(output_dir), weights_name=weights_name, overwrite=overwrite,
        embed=embed, compiler=compiler, provider=None if isinstance(provider, dict) else provider, cpu_isa=cpu_isa,
        sources=sources, defer_weights=defer_weights, pin=as_names(pin, "pin"), freeze_inputs=freeze_inputs is True,
        freeze_input=frozen, keep_going=keep_going, validate=validate, validate_existing=validate_existing,
        validate_seconds=validate_seconds, dim=dict(dims or {}), shape=_shapes(shapes), input=_inputs(inputs),
        jobs=jobs, threads=threads, program=_path(program), compile_seconds=compile_seconds,
        cache=cache, cache_dir=_path(cache_dir), cache_bytes=cache_bytes,
        optimize=bool(optimize) if stages is None else optimize is not False,
        capability=dict(optimize) if isinstance(optimize, dict) else {}, staged=stages is not None, **(stages or {}))
    own = [settings(provider=by_path.get(path)) for path in paths]
    report = BuildReport(json.loads(_tenon.build(paths, own, options, on_event)))
    if check and not report.ok:
        raise BuildFailed(report)
    return report


def compilers():
    """The compilers that `build` can use: a list of dicts with name, alias, description, usable and reason."""
    return json.loads(_tenon.compilers_json())


def _path(path):
    return None if path is None else os.fspath(path)


def _shapes(shapes):
    return {name: ",".join(str(int(extent)) for extent in shape) for name, shape in (shapes or {}).items()}


def _inputs(inputs):
    return {name: os.fspath(value) if isinstance(value, os.PathLike) else value
            for name, value in (inputs or {}).items()}

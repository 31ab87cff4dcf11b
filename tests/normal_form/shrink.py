"""Makes a finding small: fewer edits, fewer outputs and what only those needed."""

import onnx
from onnx import ModelProto

from normal_form.judge import STAMP, decide, fully_optimized, judge, mutant_of, without_stamp, write
from normal_form.models import draw_name


def kind_of(problem):
    """The part of a message that stays when a model gets smaller."""
    return problem and problem.split(":")[0]


def problem_of(model, files, capabilities, folder, decide):
    return kind_of(judge(write(folder / "shrunk", model, files), capabilities, decide)[1])


def needed_edits(seed, folder, problem, decide=decide):
    """Indices of the edits without which the problem goes away."""
    edits = list(range(len(mutant_of(seed, folder)[0].log)))
    for edit in list(edits):
        fewer = [e for e in edits if e != edit]
        mutant, capabilities = mutant_of(seed, folder, fewer)
        if problem_of(mutant.model, mutant.files, capabilities, folder, decide) == problem:
            edits = fewer
    return edits


def names_read(nodes):
    names = set()
    for node in nodes:
        names.update(node.input)
        for attribute in node.attribute:
            for body in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                names |= names_read(body.node) | {value.name for value in body.output}
    return names


def keep(field, accept):
    kept = [type(item).FromString(item.SerializeToString()) for item in field if accept(item)]
    del field[:]
    field.extend(kept)


def without_output(model, name):
    """A copy without one output of the graph, and without what only that needed."""
    copy = ModelProto.FromString(model.SerializeToString())
    graph = copy.graph
    keep(graph.output, lambda output: output.name != name)
    while True:
        read = names_read(graph.node) | {output.name for output in graph.output}
        count = len(graph.node)
        keep(graph.node, lambda node: read & set(node.output))
        if len(graph.node) == count:
            break
    made = {name for node in graph.node for name in node.output}
    keep(graph.initializer, lambda tensor: tensor.name in read)
    keep(graph.sparse_initializer, lambda sparse: sparse.values.name in read)
    keep(graph.value_info, lambda info: info.name in made)
    return copy


def restamped(source, mutant, files, capabilities, folder):
    """The mutant with the stamp of its source, or None when the source is not in normal form any more."""
    made = fully_optimized(write(folder / "shrunk", source, files), capabilities)
    if without_stamp(made) != without_stamp(source.SerializeToString()):
        return None
    stamp = next(entry.value for entry in onnx.load_from_string(made).metadata_props if entry.key == STAMP)
    for entry in mutant.metadata_props:
        if entry.key == STAMP:
            entry.value = stamp
    return mutant


def shrink(seed, folder, decide=decide):
    """(model, data files, edits) of the smallest mutant found that has the problem of the seed's."""
    mutant, capabilities = mutant_of(seed, folder)
    problem = problem_of(mutant.model, mutant.files, capabilities, folder, decide)
    edits = needed_edits(seed, folder, problem, decide)
    mutant, _ = mutant_of(seed, folder, edits)
    source, files = mutant_of(seed, folder, [])[0].model, dict(mutant.files)
    model = mutant.model
    for name in [output.name for output in model.graph.output]:
        if len(model.graph.output) < 2:
            break
        try:
            smaller_source, smaller = without_output(source, name), without_output(model, name)
            smaller = restamped(smaller_source, smaller, files, capabilities, folder)
            if smaller and problem_of(smaller, files, capabilities, folder, decide) == problem:
                source, model = smaller_source, smaller
        except Exception:  # the model cannot do without this output
            continue
    return model, files, mutant.log


def save(seed, folder, target):
    """Writes the shrunk mutant of a seed; returns what was done to which model, and where it is."""
    model, files, edits = shrink(seed, folder)
    path = write(target / f"normal_form-{seed}", model, files)
    return f"{draw_name(seed)}, {'; '.join(edits)}: {path}"

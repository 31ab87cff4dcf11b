"""Every capability of `tenon optimize` that is off by default: what it does to a model, and where it must do nothing."""

import numpy as np
import onnx
import pytest
import tenon
from oracles.peer import load_in_peer

from . import rule_case as rules
from .cases import CASES
from .near_misses import NEAR_MISSES


def per_case(test):
    return pytest.mark.parametrize("case", CASES, ids=str)(test)


@pytest.fixture
def before(case):
    return rules.model_of(case)


@pytest.fixture
def after(case, before):
    return onnx.load_from_string(rules.optimized(case, before)[0])


@per_case
def test_it_fires_once_and_keeps_the_results(case, before):
    result, changes = rules.optimized(case, before)
    assert changes
    assert rules.ops_of(onnx.load_from_string(result)) == case.expects
    rules.assert_same_results(case, before.SerializeToString(), result)
    again, more = rules.optimized(case, onnx.load_from_string(result))
    assert (again, more) == (result, [])


EXACT = {c["name"] for c in tenon.capabilities() if c["exact"]}


@pytest.mark.parametrize("case", [case for case in CASES if case.capability in EXACT], ids=str)
def test_exact_ones_keep_every_bit_in_the_reference(case, before):
    result, _ = rules.optimized(case, before)
    outputs = [tenon.compile(model, provider="reference").session().run(None, rules.feeds_of(case))
               for model in (before.SerializeToString(), result)]
    for one, other in zip(*outputs, strict=True):
        assert one.tobytes() == other.tobytes()


@per_case
def test_it_fires_in_bodies_as_well(case, before):
    model = rules.in_bodies(before)
    result, _ = rules.optimized(case, model)
    expected = {"If": 1} | {op: 2 * count for op, count in case.expects.items()}
    assert rules.ops_of(onnx.load_from_string(result)) == expected
    rules.assert_same_results(case, model.SerializeToString(), result, {"which": np.array(True)})


@per_case
@pytest.mark.parametrize("use", [rules.read_elsewhere, rules.leaving, rules.captured])
def test_an_inner_value_that_is_needed_stops_it(case, before, after, use):
    for value in rules.inner_values(case, before, after):
        _, changes = rules.optimized(case, use(before, value))
        assert not changes, f"it fires although '{value}' is needed"


@per_case
def test_constants_that_a_caller_may_replace_stop_it(case, before, after):
    for weight in rules.lost_weights(case, before, after):
        _, changes = rules.optimized(case, rules.overridable(before, weight))
        assert not changes, f"it fires although '{weight}' may be given at every run"


@per_case
def test_unknown_shapes_stop_it_or_do_not_matter(case, before):
    model = rules.without_shapes(before)
    result, changes = rules.optimized(case, model)
    if case.needs_shapes:
        assert not changes
    else:
        assert changes
        rules.assert_same_results(case, model.SerializeToString(), result)


@per_case
def test_it_writes_nothing_that_the_model_has_no_op_for(case, before, after):
    if case.too_old:
        _, changes = rules.optimized(case, rules.model_of(case, case.too_old))
        assert not changes
    made = {op for op in rules.ops_of(after) if op.startswith(rules.MICROSOFT)} - set(rules.ops_of(before))
    if made:
        _, changes = rules.optimized(case, rules.with_functions(before, made))
        assert not changes


@pytest.mark.parametrize("case", NEAR_MISSES, ids=str)
def test_it_leaves_what_only_looks_alike(case):
    model = rules.model_of(case)
    load_in_peer(model.SerializeToString(), optimize=False)  # it is a model
    assert rules.optimized(case, model)[1] == []


def test_every_capability_beyond_the_normal_form_has_a_case():
    optional = {c["name"] for c in tenon.capabilities() if not c["default"]}
    assert optional == {case.capability for case in CASES}


@per_case
def test_what_it_writes_is_declared(case, before, after):
    declared = next(c["produces"] for c in tenon.capabilities() if c["name"] == case.capability)
    names = {f"{op['domain']}.{op['op']}" if op["domain"] else op["op"] for op in declared}
    assert set(rules.ops_of(after)) - set(rules.ops_of(before)) <= names

"""What weights are called: a compile and a reading of the same file agree on every name, and no two weights share one."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import tenon

from .test_exported_models import FIXTURES, feeds, fixture_folders, flat, load_case
from .test_swap import made, outputs, same, saved
from .zoo import FLOAT, OPSET, ZOO, feed, weight

BOOL, INT64, STRING = TensorProto.BOOL, TensorProto.INT64, TensorProto.STRING
ML = [helper.make_opsetid("ai.onnx.ml", 3)]
LOCAL = [helper.make_opsetid("local", 1)]


def build(nodes, inputs, outputs, initializers=(), functions=(), opsets=(), sparse=()):
    """Unlike the models of the zoo, these are not checked: some are legal ONNX that onnx.checker does not know."""
    values = [[helper.make_tensor_value_info(*value) for value in side] for side in (inputs, outputs)]
    graph = helper.make_graph(list(nodes), "g", *values, initializer=list(initializers), sparse_initializer=list(sparse))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET), *opsets],
                             functions=list(functions), ir_version=10)


def compiled(model, **options):
    return tenon.compile(model.SerializeToString(), **options)


def sources(artifact):
    return {source["name"]: source["swappable"] for source in artifact.describe("sources")["sources"]}


def swappable(artifact):
    return sorted(name for name, free in sources(artifact).items() if free)


def check_own_file(path, inputs, **options):
    """Swapping in the very file that was compiled replaces every weight and changes nothing."""
    artifact = tenon.compile(str(path), ["net"], **options)
    session = artifact.session()
    before = list(flat(session.run(None, inputs)))
    report = session.set_weights(path, strict=True)
    assert sorted(report["replaced"]) == swappable(artifact)
    assert report["ignored"] == []
    same(list(flat(session.run(None, inputs))), before)
    return artifact


def check_swap(path, a, b, inputs, **options):
    """A session of `a` with the weights of `b` gives what a session of `b` does."""
    session = compiled(a, **options).session()
    report = session.set_weights(saved(b, path / "b.onnx"), strict=True)
    same(outputs(session, inputs), outputs(compiled(b, **options).session(), inputs))
    return report


@pytest.mark.parametrize("folder", fixture_folders(), ids=lambda f: str(f.relative_to(FIXTURES)))
def test_models_of_exporters_take_their_own_file(folder):
    case = load_case(folder)
    check_own_file(case.model_path, feeds(case))


@pytest.mark.parametrize("name", ZOO)
def test_models_of_the_zoo_take_their_own_file(name, tmp_path):
    model = made(name, 1)
    check_own_file(saved(model, tmp_path / "m.onnx"), feed(model, np.random.default_rng(2)))


class TestFunctions:
    X = [("x", FLOAT, [2])]
    Y = [("y", FLOAT, [2]), ("z", FLOAT, [2])]

    def add_constant(self, value, overload="", **more):
        made = helper.make_function(
            "local", "f", ["a"], ["b"],
            [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.float32([value, value]), "c")),
             helper.make_node("Add", ["a", "c"], ["b"])], [helper.make_opsetid("", OPSET)], **more)
        made.overload = overload
        return made

    def call(self, x, y, overload="", name="", **attributes):
        made = helper.make_node("f", [x], [y], domain="local", name=name, **attributes)
        made.overload = overload
        return made

    def overloads(self, first, second):
        return build([self.call("x", "y", "a"), self.call("x", "z", "b")], self.X, self.Y,
                     functions=[self.add_constant(first, "a"), self.add_constant(second, "b")], opsets=LOCAL)

    def test_overloads_have_their_own_constants(self, tmp_path):
        model = self.overloads(1, 2)
        inputs = {"x": np.zeros(2, np.float32)}
        artifact = check_own_file(saved(model, tmp_path / "m.onnx"), inputs)
        same(outputs(artifact.session(), inputs), [np.float32([1, 1]), np.float32([2, 2])])
        assert swappable(artifact) == ["local.f:a/c", "local.f:b/c"]
        check_swap(tmp_path, model, self.overloads(3, 4), inputs)

    def test_a_plain_name_stays(self):
        model = build([self.call("x", "y"), self.call("y", "z")], self.X, self.Y, functions=[self.add_constant(1)],
                      opsets=LOCAL)
        assert swappable(compiled(model)) == ["local.f/c"]

    def test_domains_and_names_that_spell_the_same(self, tmp_path):
        def function(domain, name, value):
            return helper.make_function(
                domain, name, ["a"], ["b"],
                [helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.float32([value]), "c")),
                 helper.make_node("Add", ["a", "c"], ["b"])], [helper.make_opsetid("", OPSET)])

        def model(first, second):
            return build([helper.make_node("r.s", ["x"], ["y"], domain="q"),
                          helper.make_node("s", ["x"], ["z"], domain="q.r")], self.X, self.Y,
                         functions=[function("q", "r.s", first), function("q.r", "s", second)],
                         opsets=[helper.make_opsetid("q", 1), helper.make_opsetid("q.r", 1)])

        inputs = {"x": np.zeros(2, np.float32)}
        artifact = check_own_file(saved(model(1, 2), tmp_path / "m.onnx"), inputs)
        same(outputs(artifact.session(), inputs), [np.float32([1, 1]), np.float32([2, 2])])
        assert swappable(artifact) == ["q.r.s#2/c", "q.r.s/c"]
        check_swap(tmp_path, model(1, 2), model(3, 4), inputs)

    def scaling(self, first, second, default=None):
        """The weight of a node in the body comes from the call."""
        node = helper.make_node("Scaler", ["a"], ["b"], domain="ai.onnx.ml", name="scaler", offset=[0.0, 0.0])
        scale = node.attribute.add()
        scale.name, scale.ref_attr_name, scale.type = "scale", "by", onnx.AttributeProto.FLOATS
        defaults = {} if default is None else {"attribute_protos": [helper.make_attribute("by", default)]}
        names = ["by"] if default is None else []
        function = helper.make_function("local", "f", ["a"], ["b"], [node], [helper.make_opsetid("", OPSET), *ML],
                                        names, **defaults)
        calls = [self.call("x", "y", name="one", **({} if first is None else {"by": first})),
                 self.call("x", "z", name="two", **({} if second is None else {"by": second}))]
        return build(calls, self.X[:0] + [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2]), ("z", FLOAT, ["n", 2])],
                     functions=[function], opsets=[*LOCAL, *ML])

    def test_attributes_of_calls_belong_to_the_call(self, tmp_path):
        inputs = {"x": np.ones((1, 2), np.float32)}
        model = self.scaling([2.0, 3.0], [4.0, 5.0])
        artifact = check_own_file(saved(model, tmp_path / "m.onnx"), inputs)
        same(outputs(artifact.session(), inputs), [np.float32([[2, 3]]), np.float32([[4, 5]])])
        assert swappable(artifact) == ["local.f/scaler.offset", "one.by", "two.by"]
        check_swap(tmp_path, model, self.scaling([6.0, 7.0], [8.0, 9.0]), inputs)

    def test_defaults_belong_to_the_function(self, tmp_path):
        inputs = {"x": np.ones((1, 2), np.float32)}
        model = self.scaling([2.0, 3.0], None, default=[4.0, 5.0])
        artifact = check_own_file(saved(model, tmp_path / "m.onnx"), inputs)
        same(outputs(artifact.session(), inputs), [np.float32([[2, 3]]), np.float32([[4, 5]])])
        assert swappable(artifact) == ["local.f.by", "local.f/scaler.offset", "one.by"]
        check_swap(tmp_path, model, self.scaling([6.0, 7.0], None, default=[8.0, 9.0]), inputs)
        twice = self.scaling(None, None, default=[4.0, 5.0])
        assert swappable(compiled(twice)) == ["local.f.by", "local.f/scaler.offset"]

    def test_constants_from_calls_belong_to_the_call(self, tmp_path):
        def model(first, second):
            node = helper.make_node("Constant", [], ["c"])
            value = node.attribute.add()
            value.name, value.ref_attr_name, value.type = "value_floats", "by", onnx.AttributeProto.FLOATS
            function = helper.make_function("local", "f", ["a"], ["b"], [node, helper.make_node("Mul", ["a", "c"], ["b"])],
                                            [helper.make_opsetid("", OPSET)], ["by"])
            return build([self.call("x", "y", name="one", by=first), self.call("x", "z", name="two", by=second)], self.X,
                         self.Y, functions=[function], opsets=LOCAL)

        inputs = {"x": np.ones(2, np.float32)}
        artifact = check_own_file(saved(model([2.0, 3.0], [4.0, 5.0]), tmp_path / "m.onnx"), inputs)
        assert swappable(artifact) == ["one.by", "two.by"]
        check_swap(tmp_path, model([2.0, 3.0], [4.0, 5.0]), model([6.0, 7.0], [8.0, 9.0]), inputs)


    def test_one_attribute_in_two_shapes(self, tmp_path):
        """One source has one shape, so a value that is read in two stays as it is."""
        def model(values):
            constant = helper.make_node("Constant", [], ["c"])
            linear = helper.make_node("LinearRegressor", ["a"], ["l"], domain="ai.onnx.ml", name="linear", targets=2)
            for node, name in ((constant, "value_floats"), (linear, "coefficients")):
                attribute = node.attribute.add()
                attribute.name, attribute.ref_attr_name, attribute.type = name, "by", onnx.AttributeProto.FLOATS
            function = helper.make_function("local", "f", ["a"], ["l", "d"], [
                constant, linear, helper.make_node("Identity", ["c"], ["d"])],
                [helper.make_opsetid("", OPSET), *ML], ["by"])
            call = helper.make_node("f", ["x"], ["y", "z"], domain="local", name="call", by=values)
            return build([call], [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2]), ("z", FLOAT, [4])],
                         functions=[function], opsets=[*LOCAL, *ML])

        inputs = {"x": np.ones((1, 2), np.float32)}
        artifact = check_own_file(saved(model([1.0, 2.0, 3.0, 4.0]), tmp_path / "m.onnx"), inputs)
        same(outputs(artifact.session(), inputs), [np.float32([[3, 7]]), np.float32([1, 2, 3, 4])])
        assert swappable(artifact) == []
        with pytest.raises(tenon.Error, match="guard: .*'call.by'"):
            artifact.session().set_weights(saved(model([5.0, 6.0, 7.0, 8.0]), tmp_path / "b.onnx"))

    def test_bodies_in_functions(self, tmp_path):
        """A weight of a body in a function is one source for all calls."""
        def model(value):
            def branch(name, sign):
                return helper.make_graph([helper.make_node("Add", ["a", "w"], [name])], name, [],
                                         [helper.make_tensor_value_info(name, FLOAT, [2])],
                                         initializer=[weight("w", np.float32([sign * value] * 2))])

            node = helper.make_node("If", ["c"], ["b"], name="if", then_branch=branch("t", 1), else_branch=branch("e", -1))
            function = helper.make_function("local", "f", ["a", "c"], ["b"], [node], [helper.make_opsetid("", OPSET)])
            calls = [helper.make_node("f", [x, "c"], [y], domain="local") for x, y in (("x", "y"), ("y", "z"))]
            return build(calls, [*self.X, ("c", BOOL, [])], self.Y, functions=[function], opsets=LOCAL)

        inputs = {"x": np.zeros(2, np.float32), "c": np.array(False)}
        artifact = check_own_file(saved(model(1), tmp_path / "m.onnx"), inputs)
        same(outputs(artifact.session(), inputs), [np.float32([-1, -1]), np.float32([-2, -2])])
        assert swappable(artifact) == ["local.f/if.else_branch/w", "local.f/if.then_branch/w"]
        check_swap(tmp_path, model(1), model(2), inputs)


class TestNamesAreUnique:
    def ifs(self, first, second, names=("if", "if"), more=()):
        def branch(value, name):
            return helper.make_graph([helper.make_node("Add", ["x", "w"], [name])], name, [],
                                     [helper.make_tensor_value_info(name, FLOAT, [2])],
                                     initializer=[weight("w", np.float32([value, value]))])

        nodes = [helper.make_node("If", ["c"], [y], name=name, then_branch=branch(value, f"{y}t"),
                                  else_branch=branch(-value, f"{y}e"))
                 for y, value, name in zip("yz", (first, second), names)]
        nodes += [helper.make_node("Add", [f"{y}", name], [f"{y}s"]) for y, (name, _) in zip("yz", more)]
        results = [(f"{y}s" if i < len(more) else y, FLOAT, [2]) for i, y in enumerate("yz")]
        return build(nodes, [("x", FLOAT, [2]), ("c", BOOL, [])], results,
                     [weight(name, np.float32([value, value])) for name, value in more])

    INPUTS = {"x": np.zeros(2, np.float32), "c": np.array(True)}

    def test_nodes_of_one_name(self, tmp_path):
        model = self.ifs(1, 2)
        artifact = check_own_file(saved(model, tmp_path / "m.onnx"), self.INPUTS)
        same(outputs(artifact.session(), self.INPUTS), [np.float32([1, 1]), np.float32([2, 2])])
        assert swappable(artifact) == ["if#2.else_branch/w", "if#2.then_branch/w", "if.else_branch/w",
                                       "if.then_branch/w"]
        check_swap(tmp_path, model, self.ifs(3, 4), self.INPUTS)

    def test_an_initializer_keeps_its_name(self, tmp_path):
        more = [("if.then_branch/w", 10)]
        model = self.ifs(1, 2, ("if", "other"), more)
        artifact = check_own_file(saved(model, tmp_path / "m.onnx"), self.INPUTS)
        same(outputs(artifact.session(), self.INPUTS), [np.float32([11, 11]), np.float32([2, 2])])
        assert {"if.then_branch/w", "if.then_branch/w#2"} < set(swappable(artifact))
        check_swap(tmp_path, model, self.ifs(3, 4, ("if", "other"), [("if.then_branch/w", 20)]), self.INPUTS)
        session = artifact.session()
        session.set_weights({"if.then_branch/w": np.float32([5, 5])}, partial=True)
        same(outputs(session, self.INPUTS), [np.float32([6, 6]), np.float32([2, 2])])

    def test_a_numbered_name_that_is_taken(self, tmp_path):
        more = [("if#2.then_branch/w", 10), ("if.then_branch/w", 20)]
        model = self.ifs(1, 2, more=more)
        artifact = check_own_file(saved(model, tmp_path / "m.onnx"), self.INPUTS)
        assert len(swappable(artifact)) == 6
        check_swap(tmp_path, model, self.ifs(3, 4, more=[(name, value + 1) for name, value in more]), self.INPUTS)

    def test_an_initializer_called_as_an_attribute(self, tmp_path):
        def model(scale, other):
            return build([helper.make_node("Scaler", ["x"], ["s"], domain="ai.onnx.ml", name="sc", offset=[0.0, 0.0],
                                           scale=scale), helper.make_node("Add", ["s", "sc.scale"], ["y"])],
                         [("x", FLOAT, ["n", 2])], [("y", FLOAT, ["n", 2])], [weight("sc.scale", np.float32(other))],
                         opsets=ML)

        inputs = {"x": np.ones((1, 2), np.float32)}
        artifact = check_own_file(saved(model([1.0, 2.0], [3, 4]), tmp_path / "m.onnx"), inputs)
        assert swappable(artifact) == ["sc.offset", "sc.scale", "sc.scale#2"]
        check_swap(tmp_path, model([1.0, 2.0], [3, 4]), model([5.0, 6.0], [7, 8]), inputs)


class TestConstantNodes:
    def constant(self, **value):
        return helper.make_node("Constant", [], ["k"], **value)

    def test_strings(self, tmp_path):
        def model(strings):
            return build([self.constant(value_strings=strings), helper.make_node("StringConcat", ["x", "k"], ["y"])],
                         [("x", STRING, [2])], [("y", STRING, [2])])

        a, b = model(["a", "b"]), model(["c", "d"])
        inputs = {"x": np.array(["1", "2"], object)}
        check_own_file(saved(a, tmp_path / "a.onnx"), inputs)
        session = compiled(a).session()
        report = session.set_weights(saved(b, tmp_path / "b.onnx"))
        assert report["replaced"] == ["k"]
        assert session.run(None, inputs)[0].tolist() == ["1c", "2d"]

    def test_one_string(self, tmp_path):
        def model(string):
            return build([self.constant(value_string=string), helper.make_node("StringConcat", ["x", "k"], ["y"])],
                         [("x", STRING, [2])], [("y", STRING, [2])])

        session = compiled(model("a")).session()
        assert session.set_weights(saved(model("b"), tmp_path / "b.onnx"))["replaced"] == ["k"]
        assert session.run(None, {"x": np.array(["1", "2"], object)})[0].tolist() == ["1b", "2b"]

    def test_of_another_domain(self, tmp_path):
        """A function of the user's that is called Constant."""
        def model(value):
            function = helper.make_function("local", "Constant", [], ["c"],
                                            [helper.make_node("Constant", [], ["c"], value_floats=[value, value])],
                                            [helper.make_opsetid("", OPSET)], ["value_floats"])
            return build([helper.make_node("Constant", [], ["k"], domain="local", name="call", value_floats=[7.0, 7.0]),
                          helper.make_node("Add", ["x", "k"], ["y"])], [("x", FLOAT, [2])], [("y", FLOAT, [2])],
                         functions=[function], opsets=LOCAL)

        inputs = {"x": np.zeros(2, np.float32)}
        artifact = check_own_file(saved(model(1.0), tmp_path / "m.onnx"), inputs)
        assert swappable(artifact) == ["local.Constant/c"]
        check_swap(tmp_path, model(1.0), model(2.0), inputs)

    def test_sparse(self, tmp_path):
        def model(value):
            def sparse(name):
                return helper.make_sparse_tensor(helper.make_tensor(name, FLOAT, [1], [value]),
                                                 helper.make_tensor(f"{name}.at", INT64, [1], [1]), [2])

            return build([self.constant(sparse_value=sparse("")), helper.make_node("Add", ["x", "k"], ["s"]),
                          helper.make_node("Add", ["s", "w"], ["y"])], [("x", FLOAT, [2])], [("y", FLOAT, [2])],
                         sparse=[sparse("w")])

        inputs = {"x": np.zeros(2, np.float32)}
        artifact = check_own_file(saved(model(1.0), tmp_path / "m.onnx"), inputs)
        assert swappable(artifact) == ["k", "w"]
        check_swap(tmp_path, model(1.0), model(2.0), inputs)

    def test_tensors_of_other_nodes_are_not_extra(self, tmp_path):
        model = build([helper.make_node("ConstantOfShape", ["s"], ["c"], name="fill", value=weight("", np.float32([3]))),
                       helper.make_node("Add", ["c", "w"], ["y"])], [("s", INT64, [1])], [("y", FLOAT, [2])],
                      [weight("w", np.float32([1, 2])), weight("unused", np.float32([1]))])
        check_own_file(saved(model, tmp_path / "m.onnx"), {"s": np.array([2])})


def tree(modes=("BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"), true=(1, 0, 3, 0, 0), false=(2, 0, 4, 0, 0),
         values=(0.5, 0, 1.5, 0, 0), features=(0, 0, 1, 0, 0), weights=(10, 20, 30), weight_nodes=(1, 3, 4),
         weight_ids=(0, 0, 0), trees=(0, 0, 0, 0, 0), nodes=(0, 1, 2, 3, 4), classifier=False, **more):
    prefix, op = ("class", "TreeEnsembleClassifier") if classifier else ("target", "TreeEnsembleRegressor")
    attributes = {
        "nodes_treeids": list(trees), "nodes_nodeids": list(nodes), "nodes_featureids": list(features),
        "nodes_modes": list(modes), "nodes_values": [float(v) for v in values], "nodes_truenodeids": list(true),
        "nodes_falsenodeids": list(false), f"{prefix}_treeids": [0] * len(weight_nodes),
        f"{prefix}_nodeids": list(weight_nodes), f"{prefix}_ids": list(weight_ids),
        f"{prefix}_weights": [float(v) for v in weights], **more}
    results = [("y", FLOAT, None)]
    if classifier:
        attributes.setdefault("classlabels_int64s", [0, 1, 2])
        results = [("label", INT64, None), ("y", FLOAT, None)]
    else:
        attributes.setdefault("n_targets", 2)
    node = helper.make_node(op, ["x"], [name for name, _, _ in results], domain="ai.onnx.ml", name="trees", **attributes)
    return build([node], [("x", FLOAT, ["n", 2])], results, opsets=ML)


TREE_INPUTS = {"x": np.float32([[0, 0], [0, 2], [1, 0], [1, 2], [2, 1], [2, 2]])}
MIRRORED = {"modes": ("BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"), "true": (1, 3, 0, 0, 0),
            "false": (2, 4, 0, 0, 0), "weight_nodes": (2, 3, 4)}


class TestTrees:
    @pytest.mark.parametrize("classifier", [False, True])
    def test_other_values_of_the_same_trees(self, classifier, tmp_path):
        a = tree(classifier=classifier)
        check_own_file(saved(a, tmp_path / "a.onnx"), TREE_INPUTS)
        b = tree(classifier=classifier, values=(1.5, 0, 0.5, 0, 0), features=(1, 0, 0, 0, 0), weights=(5, 6, 7),
                 weight_ids=(1, 0, 1))
        check_swap(tmp_path, a, b, TREE_INPUTS)

    @pytest.mark.parametrize("classifier", [False, True])
    @pytest.mark.parametrize("change, named", [
        (MIRRORED, "nodes_modes"), (MIRRORED, "nodes_truenodeids"), (MIRRORED, "nodes_falsenodeids"),
        ({"modes": ("BRANCH_LT", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF")}, "nodes_modes"),
        ({"true": (2, 0, 3, 0, 0), "false": (1, 0, 4, 0, 0)}, "nodes_truenodeids"),
        ({"weight_nodes": (4, 3, 1)}, "_nodeids"),
        ({"nodes": (0, 1, 2, 3, 5), "false": (2, 0, 5, 0, 0), "weight_nodes": (1, 3, 5)}, "nodes_nodeids")])
    def test_other_trees_are_refused(self, classifier, change, named, tmp_path):
        session = compiled(tree(classifier=classifier)).session()
        before = outputs(session, TREE_INPUTS)
        with pytest.raises(tenon.Error, match=f"(?s)guard: .*'trees\\.[a-z]*{named}'"):
            session.set_weights(saved(tree(classifier=classifier, **change), tmp_path / "b.onnx"))
        same(outputs(session, TREE_INPUTS), before)

    def test_other_labels_are_refused(self, tmp_path):
        session = compiled(tree(classifier=True)).session()
        with pytest.raises(tenon.Error, match="guard: .*'trees.classlabels_int64s'"):
            session.set_weights(saved(tree(classifier=True, classlabels_int64s=[2, 1, 0]), tmp_path / "b.onnx"))

    @pytest.mark.parametrize("more", [{"base_values": [1.0, 2.0]}, {"nodes_missing_value_tracks_true": [1, 0, 0, 0, 0]}])
    def test_values_that_only_one_of_them_has(self, more, tmp_path):
        without, given = tree(), tree(**more)
        with pytest.raises(tenon.Error, match=f"'trees.{next(iter(more))}'"):
            compiled(without).session().set_weights(saved(given, tmp_path / "b.onnx"))
        with pytest.raises(tenon.Error, match=f"missing: 'trees.{next(iter(more))}'"):
            compiled(given).session().set_weights(saved(without, tmp_path / "a.onnx"))

    def test_saved_baked_and_stripped(self, tmp_path):
        a, b = tree(classifier=True), tree(classifier=True, weights=(5, 6, 7))
        path = saved(b, tmp_path / "b.onnx")
        expected = outputs(compiled(b).session(), TREE_INPUTS)
        loaded = tenon.Artifact.load(compiled(a, sources="embed").save(tmp_path / "a")[0])
        loaded.verify()
        same(outputs(loaded.bake(path)[0].session(), TREE_INPUTS), expected)
        same(outputs(loaded.strip().bake(path)[0].session(), TREE_INPUTS), expected)
        with pytest.raises(tenon.Error, match="guard: "):
            loaded.bake(saved(tree(classifier=True, **MIRRORED), tmp_path / "c.onnx"))
        session = loaded.session()
        session.set_weights({"trees.class_weights": np.float32([5, 6, 7])}, partial=True)
        same(outputs(session, TREE_INPUTS), expected)


class TestOtherLearnedOps:
    """Lists that belong with the weights of a node and are not weights themselves."""

    X = [("x", FLOAT, ["n", 2])]

    def refused(self, a, b, named, path):
        session = compiled(a).session()
        with pytest.raises(tenon.Error, match=f"'{named}'"):
            session.set_weights(saved(b, path / "b.onnx"))
        session.set_weights(saved(a, path / "a.onnx"), strict=True)

    def svm(self, per_class):
        node = helper.make_node("SVMClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml", name="svm",
                                classlabels_ints=[0, 1], vectors_per_class=per_class, coefficients=[1.0, -1.0, 0.5],
                                support_vectors=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], rho=[0.5], kernel_type="LINEAR",
                                kernel_params=[1.0, 0.0, 3.0])
        return build([node], self.X, [("label", INT64, None), ("y", FLOAT, None)], opsets=ML)

    def test_support_vectors_per_class(self, tmp_path):
        self.refused(self.svm([1, 2]), self.svm([2, 1]), "svm.vectors_per_class", tmp_path)

    def linear(self, labels, intercepts=(0.0, 0.0)):
        more = {"intercepts": list(intercepts)} if intercepts else {}
        node = helper.make_node("LinearClassifier", ["x"], ["label", "y"], domain="ai.onnx.ml", name="linear",
                                classlabels_strings=labels, coefficients=[1.0, 2.0, 3.0, 4.0], **more)
        return build([node], self.X, [("label", STRING, None), ("y", FLOAT, None)], opsets=ML)

    def test_labels(self, tmp_path):
        self.refused(self.linear(["a", "b"]), self.linear(["b", "a"]), "linear.classlabels_strings", tmp_path)

    def test_intercepts_that_were_not_there(self, tmp_path):
        self.refused(self.linear(["a", "b"], None), self.linear(["a", "b"]), "linear.intercepts", tmp_path)

    def encoder(self, keys):
        node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", name="encoder", keys_floats=keys,
                                values_floats=[5.0, 6.0])
        return build([node], self.X, [("y", FLOAT, None)], opsets=ML)

    def test_keys(self, tmp_path):
        self.refused(self.encoder([1.0, 2.0]), self.encoder([2.0, 1.0]), "encoder.keys_floats", tmp_path)

    def words(self, pool):
        node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], name="words", mode="TFIDF", min_gram_length=1,
                                max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1],
                                pool_strings=pool, weights=[2.0, 3.0])
        return build([node], [("x", STRING, [3])], [("y", FLOAT, None)])

    def test_vocabulary(self, tmp_path):
        self.refused(self.words(["a", "b"]), self.words(["b", "a"]), "words.pool_strings", tmp_path)
        session = compiled(self.words(["a", "b"])).session()
        session.set_weights({"words.weights": np.float32([4, 5])}, partial=True)
        got = session.run(None, {"x": np.array(["a", "b", "b"], object)})[0]
        np.testing.assert_array_equal(got, np.float32([4, 10]))

    def trees(self, roots):
        """Version 5: every list is a weight, and they change together."""
        true, false = ([1, 0], [2, 1]) if roots == [0] else ([0, 0], [1, 2])
        node = helper.make_node(
            "TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", name="trees", n_targets=1, tree_roots=roots,
            nodes_featureids=[0, 1], nodes_modes=weight("m", np.zeros(2, np.uint8)),
            nodes_splits=weight("s", np.float32([0.5, 1.5])), nodes_truenodeids=true, nodes_falsenodeids=false,
            nodes_trueleafs=[0, 1] if roots == [0] else [1, 0], nodes_falseleafs=[1, 1], leaf_targetids=[0, 0, 0],
            leaf_weights=weight("w", np.float32([10, 20, 30])))
        return build([node], self.X, [("y", FLOAT, None)], opsets=[helper.make_opsetid("ai.onnx.ml", 5)])

    def test_new_trees(self, tmp_path):
        check_own_file(saved(self.trees([0]), tmp_path / "m.onnx"), TREE_INPUTS)
        check_swap(tmp_path, self.trees([0]), self.trees([1]), TREE_INPUTS)


class TestFolders:
    def test_strings_are_not_read_from_bytes(self, tmp_path):
        """External data that claims to be strings would be taken as objects in memory."""
        tensor = TensorProto(name="s", data_type=STRING, dims=[1], data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "m.data"), ("offset", "0"), ("length", "32")):
            tensor.external_data.add(key=key, value=value)
        (tmp_path / "m.data").write_bytes(b"\x41" * 32)
        model = build([helper.make_node("StringConcat", ["x", "s"], ["y"])], [("x", STRING, [1])], [("y", STRING, [1])],
                      [weight("s", np.array(["a"], object))])
        inputs = {"x": np.array(["1"], object)}
        session = compiled(model).session()
        model.graph.initializer[0].CopyFrom(tensor)
        path = saved(model, tmp_path / "m.onnx")
        with pytest.raises(tenon.Error, match="strings cannot be stored as external data"):
            tenon.compile(str(path)).session()
        with pytest.raises(tenon.Error, match="strings cannot be stored as external data"):
            session.set_weights(path)
        assert session.run(None, inputs)[0].tolist() == ["1a"]

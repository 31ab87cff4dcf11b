"""A model that is being written: nodes, weights, inputs and outputs, named as exporters name them."""

from contextlib import contextmanager

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Graph:
    """Collects a graph. With the same seed it has the same weights, whatever else is generated."""

    def __init__(self, seed=0, opset=17):
        self.random = np.random.default_rng(seed)
        self.opset = opset
        self.nodes, self.weights, self.inputs, self.outputs, self.feeds = [], [], [], [], {}
        self._scopes, self._counts = [], {}

    @contextmanager
    def scope(self, name):
        """Nodes and weights made inside carry the name of the module that they belong to."""
        self._scopes.append(name)
        yield
        self._scopes.pop()

    def _name(self, word, separator):
        name = separator.join([*self._scopes, word])
        count = self._counts[name] = self._counts.get(name, -1) + 1
        return f"{name}_{count}" if count else name

    def _initializer(self, values, word):
        name = self._name(word, ".")
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, *shape, terms=None, word="weight"):
        """Random numbers that keep the size of what is summed up over so many terms."""
        terms = terms or int(np.prod(shape[1:])) or 1
        values = self.random.standard_normal(shape, dtype=np.float32)
        values *= np.float32(terms**-0.5)
        return self._initializer(values, word)

    def near(self, center, *shape, word="bias", spread=0.1):
        """Numbers around a center, as biases, scales and variances of trained models are."""
        values = self.random.uniform(center - spread, center + spread, shape).astype(np.float32)
        return self._initializer(values, word)

    def stored(self, values, word="weight"):
        return self._initializer(np.ascontiguousarray(values), word)

    def constant(self, value, dtype=np.float32):
        """The output of a Constant node."""
        return self.node("Constant", value=numpy_helper.from_array(np.asarray(value, dtype)))

    def node(self, op, *inputs, outputs=1, **attributes):
        """The name of the node's output, or the list of names of several."""
        name = "/" + self._name(op, "/")
        results = [f"{name}_output_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), results, name=name, **attributes))
        return results[0] if outputs == 1 else results

    def input(self, name, values, dims=None):
        """An input with the values that runs get; dims may name what the model leaves open."""
        values = np.asarray(values)
        dtype = helper.np_dtype_to_tensor_dtype(values.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, dtype, values.shape if dims is None else dims))
        self.feeds[name] = values
        return name

    def image(self, *shape, name="input"):
        return self.input(name, self.random.standard_normal(shape, dtype=np.float32))

    def output(self, value, name="output", rank=2):
        """Gives a value of floats its name outside; its extents are left to inference."""
        for node in self.nodes:
            for names in (node.input, node.output):
                for i, old in enumerate(names):
                    if old == value:
                        names[i] = name
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * rank))

    def body(self, name):
        """A sub-graph that is being written; it reads the values of this one."""
        inner = Graph(opset=self.opset)
        inner.random = self.random
        inner._scopes = [*self._scopes, name]
        return inner

    def graph(self, name):
        return helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.weights)

    def model(self):
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(self.graph("main_graph"), opset_imports=opsets, ir_version=8, producer_name="pytorch")

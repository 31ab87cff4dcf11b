"""Facts about the model of a session: NodeArg and ModelMetadata."""

from ._arrays import KIND_MAP, KIND_OPTIONAL, KIND_SEQUENCE, KIND_TENSOR, TYPE_NAMES


def type_text(native):
    """onnxruntime's text of a type: "tensor(float)", "seq(tensor(int64))"."""
    if native.kind == KIND_TENSOR:
        return f"tensor({TYPE_NAMES[native.dtype]})"
    element = native.element
    inside = type_text(element) if element is not None else ""
    if native.kind == KIND_SEQUENCE:
        return f"seq({inside})"
    if native.kind == KIND_OPTIONAL:
        return f"optional({inside})"
    if native.kind == KIND_MAP:
        return f"map({TYPE_NAMES[native.dtype]},{inside})"
    return ""


def shape_of(native):
    """Extents as integers, as names from the model, or else None. Empty if there is no shape, as in onnxruntime."""
    if native.kind == KIND_OPTIONAL:
        return shape_of(native.element)
    if native.kind != KIND_TENSOR or native.dims is None:
        return []
    return [extent if extent >= 0 else name or None for extent, name in zip(native.dims, native.dim_names)]


class NodeArg:
    """An input, output or overridable initializer of a model."""

    __slots__ = ("_name", "_type", "_shape")

    def __init__(self, name, native):
        self._name = name
        self._type = type_text(native)
        self._shape = shape_of(native)

    @property
    def name(self):
        return self._name

    @property
    def type(self):
        return self._type

    @property
    def shape(self):
        return list(self._shape)

    def __str__(self):
        return f"NodeArg(name={self._name!r}, type={self._type!r}, shape={self._shape})"


# What onnxruntime says of a model without a version.
NO_VERSION = 2**63 - 1


class ModelMetadata:
    """The metadata of a model file."""

    __slots__ = ("producer_name", "graph_name", "domain", "description", "graph_description", "version",
                 "custom_metadata_map")

    def __init__(self, model):
        self.producer_name = model.property("producer_name")
        self.graph_name = model.property("graph_name")
        self.domain = model.property("domain")
        self.description = model.property("description")
        self.graph_description = model.property("graph_description")
        self.version = int(model.property("version") or NO_VERSION)
        self.custom_metadata_map = model.metadata


class OrtEpAssignedNode:
    """A node that a provider runs."""

    def __init__(self, described):
        domain, _, op_type = described["op"].rpartition(".")
        self._fields = (described["name"], op_type, domain)

    name = property(lambda self: self._fields[0])
    op_type = property(lambda self: self._fields[1])
    domain = property(lambda self: self._fields[2])


class OrtEpAssignedSubgraph:
    """Nodes that a provider runs together."""

    def __init__(self, ep_name, nodes):
        self._ep_name, self._nodes = ep_name, nodes

    ep_name = property(lambda self: self._ep_name)

    def get_nodes(self):
        return list(self._nodes)

"""PyTorch modules as ONNX models in normal form."""

import io
import json
import os

from . import _errors, _tenon
from ._model import capability_settings, load_native

OLDEST_TORCH = (2, 6)
# What smaller tensors hold stays in the model: rules may ask about it, and it costs nothing.
SMALL_BYTES = 1024
OWN_OPTIONS = ("args", "do_constant_folding", "dynamo", "export_params", "external_data", "f", "fallback", "model")


def export_pytorch(module, args, path, *, kwargs=None, dynamo=True, input_names=None, output_names=None,
                   opset_version=None, dynamic_shapes=None, dynamic_axes=None, export_options=None, overwrite=False,
                   file_bytes=None, **capabilities):
    """Exports a PyTorch module to an ONNX file in normal form, and returns a report as a dict, like `optimize`. A later
    `optimize` or `build` of the file sees by its stamp that nothing is to be done.

    Models may have any size, because the module's weights are written once, from the memory where torch has them, and
    never serialized before. They keep the names and values that they have in the module's `state_dict`. They go into the
    file itself, or, where that would get larger than `file_bytes` (default: the 2 GiB that ONNX files are limited to), into
    one file beside it with the ending ".data". So do weights that share their elements, which are stored once.

    dynamo: True uses the exporter on torch.export, which needs onnxscript; False that on TorchScript. kwargs, input_names,
    output_names, opset_version, dynamic_shapes (with dynamo) and dynamic_axes (without) are those of torch.onnx.export,
    and export_options is a dict with more of them. overwrite: replace an existing file. Capabilities are switched by
    name, with underscores, as for `optimize`."""
    settings = capability_settings(capabilities)
    _tenon.choose_capabilities(settings)  # says now what is wrong with them
    path = os.fspath(path)
    _check_output(path, overwrite)
    if dynamic_shapes is not None and not dynamo:
        raise ValueError("dynamic_shapes is for dynamo=True; the exporter on TorchScript takes dynamic_axes")
    options = _export_options(export_options, kwargs=kwargs, input_names=input_names, output_names=output_names,
                              opset_version=opset_version, dynamic_shapes=dynamic_shapes, dynamic_axes=dynamic_axes)
    torch = _torch()
    weights = _Weights(torch)
    export = _export_with_dynamo if dynamo else _export_with_torchscript
    model = export(torch, module, args, options, weights)
    settings |= {"overwrite": str(int(overwrite))}
    if file_bytes is not None:
        settings["file_bytes"] = str(int(file_bytes))
    return json.loads(load_native(model, {}, weights.files).save_optimized(path, settings))


class _Weights:
    """Tensors that a model refers to as external data, each a file in memory: no bytes are copied."""

    def __init__(self, torch):
        self._torch = torch
        self._known = {}
        self.files = {}

    def add(self, name, tensor):
        """The name of the file with the elements of a tensor of torch, and its size."""
        if tensor.is_meta:
            raise _errors.InvalidArgument(f"weight '{name}' is on the device 'meta', so it has no values; load them first")
        key = (tensor.device, tensor.dtype, tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()))
        if key not in self._known:
            # Elements in another order or on another device are the only ones that are copied.
            dense = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
            self._known[key] = self.add_bytes(name, dense.reshape(-1).view(self._torch.uint8).numpy())
        return self._known[key]

    def add_bytes(self, name, content):
        file = f"{len(self.files)} {name}"  # bodies may repeat names
        self.files[file] = content
        return file, memoryview(content).nbytes


def _check_output(path, overwrite):
    """Before the export, which may take long."""
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(f"'{path}' exists; pass overwrite=True to replace it")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise _errors.NoSuchFile(f"the folder '{folder}' does not exist")


def _export_options(more, **options):
    options = {name: value for name, value in options.items() if value is not None}
    for name, value in (more or {}).items():
        if name in OWN_OPTIONS:
            raise ValueError(f"export_options: '{name}' is decided by export_pytorch")
        if name in options:
            raise ValueError(f"export_options: '{name}' is given twice")
        options[name] = value
    return {"verbose": False} | options


def _torch():
    try:
        import torch
        import torch.onnx
    except ImportError as error:
        raise ImportError(f"export_pytorch needs PyTorch ({error}); install the package torch") from error
    version = torch.__version__
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_TORCH:
        oldest = ".".join(map(str, OLDEST_TORCH))
        raise ImportError(f"export_pytorch needs PyTorch {oldest} or newer; {version} is installed")
    return torch


def _export_with_dynamo(torch, module, args, options, weights):
    try:
        from onnxscript import ir
    except ImportError as error:
        raise ImportError(f"the exporter with dynamo=True needs onnxscript ({error}); install the package onnxscript, or "
                          "pass dynamo=False") from error
    # Torch's own optimizing would rename, transpose and merge weights.
    model = torch.onnx.export(module, args, None, dynamo=True, **{"optimize": False} | options).model
    for graph in model.graphs():
        for name, value in graph.initializers.items():
            tensor = value.const_value
            if tensor is None or tensor.nbytes <= SMALL_BYTES or tensor.dtype == ir.DataType.STRING:
                continue
            file, length = _add_ir_tensor(torch, name, tensor, weights)
            value.const_value = ir.ExternalTensor(file, 0, length, tensor.dtype, shape=tensor.shape, name=name)
    return ir.to_proto(model).SerializeToString()


def _add_ir_tensor(torch, name, tensor, weights):
    raw = getattr(tensor, "raw", None)
    if isinstance(raw, torch.Tensor) and raw.nbytes == tensor.nbytes:
        return weights.add(name, raw)
    return weights.add_bytes(name, tensor.tobytes())  # a constant of the exporter's own


def _export_with_torchscript(torch, module, args, options, weights):
    try:
        import onnx
    except ImportError as error:
        raise ImportError(f"the exporter with dynamo=False needs onnx ({error}); install the package onnx") from error
    stream = io.BytesIO()
    # Folding would make other weights of the module's, and a model without these has them as inputs.
    torch.onnx.export(module, args, stream, dynamo=False, export_params=False, do_constant_folding=False, **options)
    model = onnx.load_from_string(stream.getvalue())
    _add_initializers(onnx, model, module.state_dict(keep_vars=True) if hasattr(module, "state_dict") else {}, weights)
    return model.SerializeToString()


def _add_initializers(onnx, model, state, weights):
    """Gives the inputs that are weights their elements."""
    graph = model.graph
    types = {value.name: value.type.tensor_type.elem_type for value in graph.input if value.name in state}
    if model.ir_version >= 4:
        for i in reversed(range(len(graph.input))):
            if graph.input[i].name in types:
                del graph.input[i]
        # Of weights that have equal elements, the exporter made one.
        for i in reversed(range(len(graph.node))):
            node = graph.node[i]
            if node.op_type == "Identity" and node.output[0] in state and node.input[0] in types:
                types[node.output[0]] = types[node.input[0]]
                del graph.node[i]
    for name, elem_type in types.items():
        initializer = graph.initializer.add(name=name, data_type=elem_type, dims=state[name].shape)
        file, length = weights.add(name, state[name])
        if length <= SMALL_BYTES:
            initializer.raw_data = bytes(weights.files[file])
            continue
        initializer.data_location = onnx.TensorProto.EXTERNAL
        for key, text in (("location", file), ("offset", "0"), ("length", str(length))):
            initializer.external_data.add(key=key, value=text)

"""IOBinding: inputs and outputs bound once, for many runs."""

from . import _tenon
from ._arrays import STRING, element_code, to_python, value_from_array
from ._devices import require_cpu
from ._errors import InvalidArgument
from ._values import OrtValue, OrtValueVector


def _require_value(value):
    if not isinstance(value, OrtValue):
        raise TypeError(f"expected an OrtValue, not {type(value).__name__}")


def _value_at(address, element_type, shape):
    shape = list(shape)
    if address == 0 and 0 not in shape:
        raise InvalidArgument("buffer_ptr is 0, which is no address of memory")
    return _tenon.Value.from_address(address, element_code(element_type), shape)


class IOBinding:
    """Inputs and outputs of a session, bound to memory. Bound inputs are read, and bound outputs written, in place."""

    def __init__(self, session):
        self._session = session
        self._inputs = {}
        self._outputs = {}  # name -> memory for it, or None when Tenon is to allocate
        self._results = []  # by position, after a run
        self._arguments = None  # of the native run, until something else is bound

    @property
    def _iobinding(self):
        """onnxruntime's native binding, which has the methods of this one."""
        return self

    def _input(self, name, native):
        if name not in self._session._input_index:
            raise InvalidArgument(f"Failed to find NodeArg with name: {name} in the def list")
        self._inputs[name] = native
        self._arguments = None

    def bind_cpu_input(self, name, arr_on_cpu):
        """Binds an array. A row-major array is not copied; a run reads its contents when it begins."""
        if isinstance(arr_on_cpu, OrtValue):
            return self.bind_ortvalue_input(name, arr_on_cpu)
        self._input(name, value_from_array(arr_on_cpu))

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Binds memory by its address. It must stay valid as long as it is bound."""
        require_cpu(device_type)
        self._input(name, _value_at(buffer_ptr, element_type, shape))

    def bind_ortvalue_input(self, name, ortvalue):
        _require_value(ortvalue)
        self._input(name, ortvalue._native)

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Requests an output, in the memory at an address or, without one, in memory that Tenon allocates."""
        require_cpu(device_type)
        native = None
        if buffer_ptr is not None:
            if element_type is None or shape is None:
                raise ValueError("`element_type` and `shape` are to be provided if pre-allocated memory is provided")
            native = _value_at(buffer_ptr, element_type, shape)
        self._output(name, native)

    def bind_ortvalue_output(self, name, ortvalue):
        """Requests an output in the memory of a value."""
        _require_value(ortvalue)
        native = ortvalue._tensor()
        if not ortvalue._writeable:
            raise InvalidArgument(f"output '{name}' cannot be written into read-only memory")
        if native.dtype == STRING:
            raise InvalidArgument("strings cannot be written into bound memory; use bind_output")
        self._output(name, native)

    def _output(self, name, native):
        if name not in self._session._output_index:
            raise InvalidArgument(f"Invalid output name: {name}")
        self._outputs[name] = native
        self._changed_outputs()

    def _changed_outputs(self):
        self._arguments = None
        self._results = []

    def synchronize_inputs(self):
        """Does nothing: everything is on the CPU."""

    def synchronize_outputs(self):
        """Does nothing: a run has ended when it returns."""

    def clear_binding_inputs(self):
        self._inputs.clear()
        self._arguments = None

    def clear_binding_outputs(self):
        self._outputs.clear()
        self._changed_outputs()

    def get_outputs(self):
        """The outputs of the last run, in the order they were bound; bound memory before the first run."""
        values = OrtValueVector()
        for name, bound in self._outputs.items():
            native = self._results[self._session._output_index[name]] if self._results else bound
            if native is None:
                raise InvalidArgument(f"output '{name}' has no value before run_with_iobinding")
            values.append(OrtValue(native))
        return values

    def get_outputs_as_ortvaluevector(self):
        return self.get_outputs()

    def copy_outputs_to_cpu(self):
        """The outputs of the last run as arrays, which the next run does not change."""
        copies = []
        for value in self.get_outputs():
            result = to_python(value._native)
            copies.append(result.copy() if hasattr(result, "copy") and not isinstance(result, (list, dict)) else result)
        return copies

    def _run(self, run_options):
        session = self._session
        if not self._outputs:
            raise InvalidArgument("At least one output should be requested.")
        if self._arguments is None:
            self._arguments = (
                [self._inputs.get(name) for name in session._input_index],
                [self._outputs.get(name) for name in session._output_index],
                [name in self._outputs for name in session._output_index],
            )
        self._results = session._run_native(*self._arguments, run_options)

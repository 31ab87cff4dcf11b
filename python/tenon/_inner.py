"""The object `session._sess`: onnxruntime's native session, which takes some arguments in another order."""

from ._values import OrtValue


class InnerSession:
    """The session with the method names of onnxruntime's native session. It forwards everything to the session."""

    def __init__(self, session):
        self._session = session

    inputs_meta = property(lambda self: self._session.get_inputs())
    outputs_meta = property(lambda self: self._session.get_outputs())
    overridable_initializers = property(lambda self: self._session.get_overridable_initializers())
    input_meminfos = property(lambda self: self._session.get_input_memory_infos())
    output_meminfos = property(lambda self: self._session.get_output_memory_infos())
    input_epdevices = property(lambda self: self._session.get_input_epdevices())
    model_meta = property(lambda self: self._session.get_modelmeta())
    session_options = property(lambda self: self._session.get_session_options())
    get_profiling_start_time_ns = property(lambda self: self._session.get_profiling_start_time_ns())

    def run_with_ort_values(self, feeds, output_names, run_options=None):
        return self._session.run_with_ort_values(output_names, feeds, run_options)

    def run_with_iobinding(self, iobinding, run_options=None):
        self._session.run_with_iobinding(iobinding, run_options)

    def set_tuning_results(self, results, error_on_invalid=False):
        self._session.set_tuning_results(results, error_on_invalid=error_on_invalid)

    def create_ortvalue_from_shape_and_type(self, shape, element_type, device):
        return OrtValue.ortvalue_from_shape_and_type(shape, element_type, device.device_type())

    create_ortvalue_from_shape_and_onnx_type = create_ortvalue_from_shape_and_type

    def initialize_session(self, providers=(), provider_options=(), disabled_optimizers=frozenset()):
        """Does nothing: a session is ready when it is created."""

    def is_webgpu_graph_capture_enabled(self):
        return False

    def __getattr__(self, name):
        # run, run_async, run_with_ortvaluevector, end_profiling, get_providers, ...: the same on both.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._session, name)

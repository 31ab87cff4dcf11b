"""Devices, memory and execution-provider devices: there is one, the CPU."""

from ._enums import (
    OrtAllocatorType,
    OrtDeviceMemoryType,
    OrtDeviceVendorId,
    OrtHardwareDeviceType,
    OrtMemoryInfoDeviceType,
    OrtMemType,
)
from ._errors import NotImplemented
from ._providers import CPU

# Numbers by which onnxruntime knows kinds of devices.
_DEVICE_TYPES = {"cpu": 0, "cuda": 1, "cann": 3, "dml": 4, "webgpu": 1, "gpu": 1, "npu": 3}


def device_type_number(name):
    """The number of a device type; an unknown name raises what onnxruntime raises."""
    number = _DEVICE_TYPES.get(name.lower())
    if number is None:
        raise Exception("Unsupported device type: " + name)
    return number


_VENDORS = {"cuda": OrtDeviceVendorId.NVIDIA, "dml": OrtDeviceVendorId.MICROSOFT, "cann": OrtDeviceVendorId.HUAWEI,
            "webgpu": OrtDeviceVendorId.NONE}


def vendor_of_device_type(name):
    """The only vendor of such devices, or None."""
    return _VENDORS.get(name)


def require_cpu(device_type):
    """Raises unless the device is the CPU."""
    if device_type_number(device_type) != 0:
        raise NotImplemented(f"device '{device_type}' is not available: Tenon computes on the CPU")


class OrtDevice:
    """A place for values. Created by `OrtDevice.make`; any device can be described, but only the CPU can be used."""

    def __init__(self, name, device_id=0, vendor_id=0):
        self._name, self._id, self._vendor = name, device_id, vendor_id
        self._type = device_type_number(name)

    @staticmethod
    def make(ort_device_name, device_id, vendor_id=-1):
        return OrtDevice(ort_device_name, int(device_id), max(int(vendor_id), 0))

    def _get_c_device(self):
        return self

    def device_id(self):
        return self._id

    def device_type(self):
        return self._type

    def device_vendor_id(self):
        return self._vendor

    def device_mem_type(self):
        return 0


class OrtMemoryInfo:
    """A description of memory."""

    def __init__(self, name, allocator_type, device_id, mem_type):
        self._fields = (name, OrtAllocatorType(allocator_type), int(device_id), OrtMemType(mem_type),
                        OrtDeviceMemoryType.DEFAULT, int(OrtDeviceVendorId.NONE))

    @staticmethod
    def create_v2(name, device_type, vendor_id, device_id, device_mem_type, alignment, allocator_type):
        OrtMemoryInfoDeviceType(device_type)
        info = OrtMemoryInfo(name, allocator_type, device_id, OrtMemType.DEFAULT)
        info._fields = info._fields[:4] + (OrtDeviceMemoryType(device_mem_type), int(vendor_id))
        return info

    name = property(lambda self: self._fields[0])
    allocator_type = property(lambda self: self._fields[1])
    device_id = property(lambda self: self._fields[2])
    mem_type = property(lambda self: self._fields[3])
    device_mem_type = property(lambda self: self._fields[4])
    device_vendor_id = property(lambda self: self._fields[5])


def cpu_memory():
    return OrtMemoryInfo("Cpu", OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, OrtMemType.DEFAULT)


_ARENA_FIELDS = ("max_mem", "arena_extend_strategy", "initial_chunk_size_bytes", "max_dead_bytes_per_chunk",
                 "initial_growth_chunk_size_bytes", "max_power_of_two_extend_bytes")


class OrtArenaCfg:
    """Settings of a memory arena: four numbers or a dict. They can be read back; Tenon has no such arena."""

    __slots__ = _ARENA_FIELDS

    def __init__(self, *settings):
        values = dict.fromkeys(_ARENA_FIELDS, -1)
        values["max_mem"] = 0
        if len(settings) == 1 and isinstance(settings[0], dict):
            unknown = set(settings[0]) - set(_ARENA_FIELDS)
            if unknown:
                raise ValueError(f"Invalid OrtArenaCfg option: {sorted(unknown)[0]}")
            values.update(settings[0])
        elif len(settings) == 4:
            values.update(zip(_ARENA_FIELDS, settings))
        else:
            raise TypeError("OrtArenaCfg takes a dict or four numbers")
        for name, value in values.items():
            setattr(self, name, int(value))


class OrtHardwareDevice:
    """A processor."""

    type = OrtHardwareDeviceType.CPU
    vendor = ""
    vendor_id = 0
    device_id = 0
    metadata = {}


class OrtEpDevice:
    """An execution provider on a device."""

    ep_name = CPU
    ep_vendor = "Tenon"
    ep_metadata = {}
    ep_options = {}
    device = OrtHardwareDevice()

    def memory_info(self, memory_type):
        return cpu_memory()

    def create_sync_stream(self):
        raise NotImplemented("there are no streams on the CPU")


_CPU_DEVICE = OrtEpDevice()


def get_ep_devices():
    return [_CPU_DEVICE]

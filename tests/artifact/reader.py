"""Reads a weights file as docs/artifact.md describes it, and nothing else. Hashes are not computed."""

import struct

SECTIONS = ["packed", "embedded", "strings", "models", "programs", "sources", "index", "debug_map"]
NO_DEBUG_MAP = 0xFFFFFFFF


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def raw(self, size):
        assert self.at + size <= len(self.data), "the bytes end too early"
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.raw(struct.calcsize(form)))[0]

    def u8(self):
        return self.number("B")

    def u32(self):
        return self.number("I")

    def i32(self):
        return self.number("i")

    def u64(self):
        return self.number("Q")

    def i64(self):
        return self.number("q")

    def hash(self):
        low, high = self.u64(), self.u64()
        return f"{high:016x}{low:016x}"

    def list(self, read):
        return [read() for _ in range(self.u32())]

    def block(self):
        return self.raw(self.u32())

    def string_table(self):
        ends = self.list(self.u32)
        text = self.raw(ends[-1] if ends else 0)
        return [text[begin:end].decode() for begin, end in zip([0, *ends], ends)]

    def finish(self):
        assert self.at == len(self.data), f"{len(self.data) - self.at} bytes are left over"


def padded(offset, alignment):
    return -(-offset // alignment) * alignment


class WeightsFile:
    def __init__(self, data):
        self.data = data
        header = Bytes(data)
        assert header.raw(8) == b"\x89TENON\r\n"
        assert header.u32() == 0x01020304
        self.version = header.u32()
        assert self.version == 1
        assert header.u64() == len(data)
        assert (header.u32(), header.u32()) == (len(SECTIONS), 40)
        self.content_id, self.header_hash = header.hash(), header.hash()
        self.sections, self.section_hashes = {}, {}
        end = 64 + len(SECTIONS) * 40
        for number, name in enumerate(SECTIONS):
            assert (header.u32(), header.u32()) == (number, 4096 if number == 0 else 64)
            offset, length = header.i64(), header.i64()
            self.section_hashes[name] = header.hash()
            assert offset == padded(end, 4096 if number == 0 else 64)
            assert not any(data[end:offset])
            self.sections[name] = (offset, length)
            end = offset + length
        assert end == len(data)
        self.read_sections()

    def section(self, name):
        offset, length = self.sections[name]
        return Bytes(self.data[offset : offset + length])

    def read_sections(self):
        strings = self.section("strings")
        self.strings = strings.string_table()
        strings.finish()
        self.programs = [Program(block) for block in self.blocks("programs")]
        self.debug_maps = [debug_map(block) for block in self.blocks("debug_map")] if self.sections["debug_map"][1] else []
        self.read_models()
        self.sources = self.records("sources", self.source)
        self.packed = self.records("index", self.packed_tensor)

    def blocks(self, name):
        section = self.section(name)
        ends = section.list(section.u64)
        blocks = [section.raw(end - begin) for begin, end in zip([0, *ends], ends)]
        section.finish()
        return blocks

    def records(self, name, read):
        section = self.section(name)
        records = section.list(lambda: read(section))
        section.finish()
        return records

    def text(self, section):
        return self.strings[section.u32()]

    def read_models(self):
        section = self.section("models")
        self.made_by = self.text(section)
        self.models = section.list(lambda: self.model(section))
        section.finish()

    def model(self, section):
        model = {"name": self.text(section), "program": section.u32(), "debug_map": section.u32()}
        assert model["debug_map"] == NO_DEBUG_MAP or model["debug_map"] < len(self.debug_maps)
        return model | {
            "plan_key": section.hash(), "source_content": section.hash(), "made_from": section.hash(),
            "slots": section.list(section.i32), "sources": section.list(section.i32),
        }  # fmt: skip

    def source(self, section):
        return {
            "name": self.text(section), "dtype": self.text(section), "dims": section.list(section.i64),
            "content": section.hash(), "file": self.text(section), "file_offset": section.i64(),
            "file_bytes": section.i64(), "file_has_names": section.u8(), "place": section.u8(), "offset": section.i64(),
            "bytes": section.i64(), "packed": section.i32(),
        }  # fmt: skip

    def packed_tensor(self, section):
        return {
            "key": section.hash(), "dtype": self.text(section), "dims": section.list(section.i64),
            "layout": self.text(section), "content": section.hash(), "file": section.hash(), "offset": section.i64(),
            "bytes": section.i64(), "users": section.list(section.i32),
        }  # fmt: skip

    def stored(self, record):
        return self.data[record["offset"] : record["offset"] + record["bytes"]]


class Program:
    def __init__(self, data):
        self.bytes = Bytes(data)
        assert self.bytes.u32() == 3
        self.strings = self.bytes.string_table()
        b = self.bytes
        self.plan = self.read_plan()
        self.sources = b.list(lambda: {"name": self.text(), "dtype": self.text(), "dims": b.list(b.i64),
                                       "expected": b.u8() == 1})
        self.slots = b.list(self.slot)
        self.guards = b.list(lambda: (b.i32(), self.text(), self.text(), self.text()))
        b.finish()

    def text(self):
        return self.strings[self.bytes.u32()]

    def slot(self):
        b = self.bytes
        slot = {"slot": b.i32(), "sources": b.list(b.i32), "layout": self.text()}
        return slot | {"expression": self.read_plan() if b.u8() else None}

    def type(self):
        b = self.bytes
        kind, flags, dtype = ["unknown", "tensor", "sequence", "optional", "map"][b.u8()], b.u8(), self.text()
        shape = b.list(lambda: self.text() if b.u8() else b.i64()) if flags & 2 else None
        return kind, dtype, shape, self.type() if flags & 4 else None

    def read_plan(self):
        b = self.bytes
        return {
            "values": b.list(lambda: (self.type(), b.u8(), b.i32(), self.layout())),
            "inputs": b.list(lambda: (b.i32(), b.i32(), self.text())),
            "captures": b.list(lambda: (b.i32(), b.i32())),
            "late_dims": b.list(lambda: (self.text(), ["quarters", "doublings"][b.u8()])),
            "steps": b.list(self.step),
            "outputs": b.list(lambda: (b.i32(), self.text())),
        }

    def layout(self):
        b = self.bytes
        return (b.u8(), b.list(b.i64)) if b.u8() else None

    def step(self):
        b = self.bytes
        return {
            "family": self.text(), "version": b.number("H"), "op": self.text(), "params": b.block(), "inputs": b.list(b.i32),
            "outputs": b.list(b.i32), "bodies": b.list(self.read_plan),
        }  # fmt: skip


def debug_map(data):
    section = Bytes(data)
    assert section.u32() == 3
    strings = section.string_table()
    names = [strings[i] for i in section.list(section.u32)]
    section.finish()
    return names


def names_needed(plan, nested=False):
    """How many names a debug map has for a plan."""
    inside = sum(1 + sum(names_needed(body, True) for body in step["bodies"]) for step in plan["steps"])
    return len(plan["values"]) + inside + (len(plan["outputs"]) if nested else 0)


def stored_strings(data, count):
    ends = struct.unpack(f"<{count}Q", data[: 8 * count])
    text = data[8 * count :]
    assert not ends or ends[-1] == len(text)
    return [text[begin:end].decode() for begin, end in zip([0, *ends], ends)]

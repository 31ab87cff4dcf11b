"""Writes files of many kinds into the working folder and prints what kinds they are taken for, as JSON."""

import json
import pathlib
import struct
import zlib

from magika import Magika

CHUNK = b"\0\0\0\rIHDR" + struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
FILES = {
    "code.py": b"import os\n\n\ndef main(path):\n    for name in os.listdir(path):\n        print(name)\n" * 4,
    "code.c": b"#include <stdio.h>\n\nint main(void) {\n  printf(\"%d\\n\", 3);\n  return 0;\n}\n" * 4,
    "code.rs": b"use std::fs;\n\nfn main() -> Result<(), String> {\n    let x = vec![1, 2];\n    Ok(())\n}\n" * 4,
    "code.js": b"const fs = require('fs');\nmodule.exports = (a) => { return a.map((b) => b * 2); };\n" * 4,
    "page.html": b"<!DOCTYPE html><html><head><title>t</title></head><body><p>text</p></body></html>\n" * 3,
    "data.json": json.dumps({"rows": [{"id": i, "name": f"n{i}"} for i in range(40)]}).encode(),
    "table.csv": b"id,name,price\n" + b"".join(b"%d,part %d,%d.50\n" % (i, i, i) for i in range(60)),
    "notes.md": b"# Title\n\n- one\n- two\n\nSome *text* and `code`.\n\n## Next\n\n1. a\n2. b\n" * 4,
    "plain.txt": b"Weights are interchangeable parts. Nothing else is to be said about them here.\n" * 8,
    "image.png": b"\x89PNG\r\n\x1a\n" + CHUNK + struct.pack(">I", zlib.crc32(CHUNK[4:])) + bytes(range(256)) * 8,
    "archive.gz": b"\x1f\x8b\x08\x00" + bytes(6) + zlib.compress(bytes(range(256)) * 40)[2:],
    "document.pdf": b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n" * 20 + b"%%EOF\n",
    "program.elf": b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 2, 62, 1) + bytes(3000),
    "random.bin": bytes((i * i * 2654435761 >> 13) & 255 for i in range(4096)),
    "short.txt": b"ab",
    "empty": b"",
}


def main():
    magika = Magika()
    kinds = {}
    for name, content in FILES.items():
        pathlib.Path(name).write_bytes(content)
        for how, result in (("path", magika.identify_path(name)), ("bytes", magika.identify_bytes(content))):
            kinds[f"{name}, {how}"] = [result.output.label, result.dl.label]
    together = magika.identify_paths([pathlib.Path(name) for name in FILES])
    kinds["together"] = [result.output.label for result in together]
    print(json.dumps(kinds))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A safetensors file, read and written with nothing but struct and json.

usage: safetensors_plain.py print FILE         every number as "name index hex", then the metadata
       safetensors_plain.py rewrite FILE OUT   the same arrays in another order and layout
"""

import json
import struct
import sys


def load(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        letter = {"F32": "f", "F64": "d"}[t["dtype"]]
        n = (end - begin) // struct.calcsize(letter)
        product = 1
        for size in t["shape"]:
            product *= size
        assert product == n, name
        arrays[name] = (letter, t["shape"], struct.unpack(f"<{n}{letter}", data[begin:end]))
    return metadata, arrays


def save(path, metadata, arrays):
    header, data = {}, b""
    for name, (letter, shape, values) in arrays:
        packed = struct.pack(f"<{len(values)}{letter}", *values)
        offsets = [len(data), len(data) + len(packed)]
        header[name] = {"shape": shape, "data_offsets": offsets, "dtype": {"f": "F32", "d": "F64"}[letter]}
        data += packed
    header["__metadata__"] = metadata
    text = json.dumps(header, indent=3).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def main(verb, path, out=None):
    metadata, arrays = load(path)
    if verb == "rewrite":
        save(out, metadata, sorted(arrays.items(), reverse=True))
        return
    for name, (_, shape, values) in arrays.items():
        print("shape", name, *shape)
        for i, value in enumerate(values):
            print("value", name, i, value.hex())
    for key, value in metadata.items():
        print("metadata", key, value)


main(*sys.argv[1:])

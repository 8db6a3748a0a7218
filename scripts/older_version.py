#!/usr/bin/env python3
"""Makes a library ask glibc for an older version where it asked for VERSION, so that it starts where glibc is older.

    older_version.py LIBRARY VERSION OLDER

Debian's libstdc++ asks for GLIBC_2.36 because of std::random_device alone (arc4random), which neither Heddle nor Z3 uses. Such a
function is then not found when it is called, and nothing else changes. Both versions must be among those that the library asks for.
"""
import struct
import sys

VERNEED = 0x6ffffffe


def asked_versions(data):
    """Name -> offset of its Elf64_Vernaux."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    versions = {}
    for _, kind, _, _, at, _, link, libraries, _, _ in sections:
        if kind != VERNEED:
            continue
        names = sections[link][4]
        for _ in range(libraries):
            _, parts, _, first, following = struct.unpack_from("<HHIII", data, at)
            part = at + first
            for _ in range(parts):
                name, step = struct.unpack_from("<II", data, part + 8)
                versions[data[names + name:data.index(0, names + name)].decode()] = part
                part += step
            at += following
    return versions


def main(path, version, older):
    data = bytearray(open(path, "rb").read())
    if data[:6] != b"\x7fELF\x02\x01":
        sys.exit(f"{path}: not an ELF file of 64 bits, little endian")
    asked = asked_versions(data)
    if version not in asked:
        return  # nothing to do
    if older not in asked:
        sys.exit(f"{path}: does not ask for {older}")
    to, source = asked[version], asked[older]
    data[to:to + 4] = data[source:source + 4]            # the name's hash
    data[to + 8:to + 12] = data[source + 8:source + 12]  # the name
    open(path, "wb").write(data)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])

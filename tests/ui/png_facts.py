#!/usr/bin/env python3
"""Prints width, height and the number of different colours of a PNG with eight bits per channel."""
import struct
import sys
import zlib


def main(path):
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "no PNG"
    at, packed, width, height, channels = 8, b"", 0, 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and color in (2, 6), "another kind of PNG"
            channels = 4 if color == 6 else 3
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    raw, stride, colors = zlib.decompress(packed), width * channels, set()
    above = bytearray(stride)
    for y in range(height):
        begin = y * (stride + 1)
        rule, line = raw[begin], bytearray(raw[begin + 1 : begin + 1 + stride])
        for i in range(stride):
            a = line[i - channels] if i >= channels else 0
            b, c = above[i], above[i - channels] if i >= channels else 0
            if rule == 1:
                guess = a
            elif rule == 2:
                guess = b
            elif rule == 3:
                guess = (a + b) // 2
            elif rule == 4:
                p = a + b - c
                guess = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            else:
                guess = 0
            line[i] = (line[i] + guess) & 255
        colors.update(bytes(line[i : i + 3]) for i in range(0, stride, channels))
        above = line
    print(width, height, len(colors))


if __name__ == "__main__":
    main(sys.argv[1])

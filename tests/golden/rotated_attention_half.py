    # The rotated loop, written by Heddle. It stands for lines 199 to 206 of rotated.py.
    # The mma of line 200 comes an iteration early, in front of that of line 205, so that that one is in flight
    # while lines 201, 202, 203 and 204 of the next iteration run.
    # Every name goes through the same operations on the same numbers in the same order; an iteration loads what it
    # loads in the source, and without trips nothing happens.
    # But Triton waits for the mma of line 205 at once: its operand of line 202 is carried on as it is, and so
    # through shared memory; it has to be converted in a line for the mma alone.
    # So nothing overlaps, and the loop is worth nothing as it is.
    # old, p now live into the next iteration, 18 registers of each thread: look for spills (ptxas -v).
    # The shapes of the zeros are those of the text; put the kernel's own names there where tiles are tuned.
    tile_high = tl.cdiv(keys, BN)
    old = tl.zeros((128,), tl.float32)
    p = tl.zeros((128, 64), tl.bfloat16)
    if tile_high > 0:
        tile = tl.cast(0, tl.int32)
        s = tl.dot(tq, k.load([tile * BN, 0]).T) * scale
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None]).to(tl.bfloat16)
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p.to(tl.float32), 1)
        top = higher
    for tile in tl.range(1, tile_high):
        s = tl.dot(tq, k.load([tile * BN, 0]).T) * scale
        tile_before = tile - 1
        acc = tl.dot(p, v.load([tile_before * BN, 0]), acc * old[:, None])
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None]).to(tl.bfloat16)
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p.to(tl.float32), 1)
        top = higher
    if tile_high > 0:
        tile_before = tl.cast(tile_high - 1, tl.int32)
        acc = tl.dot(p, v.load([tile_before * BN, 0]), acc * old[:, None])

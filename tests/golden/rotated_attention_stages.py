    # The rotated loop, written by Heddle. It stands for lines 134 to 153 of rotated.py.
    # The mma of line 136 comes an iteration early, in front of that of line 150, so that that one is in flight
    # while lines 137, 144, 145, 146 and 151 of the next iteration run.
    # Every name goes through the same operations on the same numbers in the same order; an iteration loads what it
    # loads in the source, and without trips nothing happens.
    # Triton 3.4.0, 3.6.0 and 3.9.0 were seen to keep such an mma asynchronous on sm_90: in PTX nothing waits
    # between its wgmma and the ex2 behind it. That was compiled; what it gains is predicted, not run on a GPU.
    # old, p now live into the next iteration, 34 registers of each thread: look for spills (ptxas -v).
    # The shapes of the zeros are those of the text; put the kernel's own names there where tiles are tuned.
    old = tl.zeros((128,), tl.float32)
    p = tl.zeros((128, 64), tl.float32)
    offset_before = offset
    if lo < hi:
        at = tl.cast(lo, tl.int32)
        s = tl.dot(tq, k.load([offset, 0]).T)
        at = tl.multiple_of(at, BN)
        if masked:
            s = s * scale + tl.where(im[:, None] >= (at + jn)[None, :], 0, -1.0e6)
            higher = tl.maximum(top, tl.max(s, 1))
            s -= higher[:, None]
        else:
            higher = tl.maximum(top, tl.max(s, 1) * scale)
            s = s * scale - higher[:, None]
        p = tl.exp2(s)
        old = tl.exp2(top - higher)
        some = tl.sum(p, 1)
        total = total * old + some
        top = higher
        offset += BN
    for at in tl.range(lo + BN, hi, BN):
        s = tl.dot(tq, k.load([offset, 0]).T)
        p_now = p
        acc = acc * old[:, None]
        tv = v.load([offset_before, 0])
        p_now = p_now.to(tl.bfloat16)
        acc = tl.dot(p_now, tv, acc)
        offset_before += BN
        at = tl.multiple_of(at, BN)
        if masked:
            s = s * scale + tl.where(im[:, None] >= (at + jn)[None, :], 0, -1.0e6)
            higher = tl.maximum(top, tl.max(s, 1))
            s -= higher[:, None]
        else:
            higher = tl.maximum(top, tl.max(s, 1) * scale)
            s = s * scale - higher[:, None]
        p = tl.exp2(s)
        old = tl.exp2(top - higher)
        some = tl.sum(p, 1)
        total = total * old + some
        top = higher
        offset += BN
    if lo < hi:
        p_now = p
        acc = acc * old[:, None]
        tv = v.load([offset_before, 0])
        p_now = p_now.to(tl.bfloat16)
        acc = tl.dot(p_now, tv, acc)
        offset_before += BN

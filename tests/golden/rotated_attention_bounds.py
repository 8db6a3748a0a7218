    # The rotated loop, written by Heddle. It stands for lines 76 to 90 of rotated.py.
    # The mma of line 79 comes an iteration early, in front of that of line 88, so that that one is in flight while
    # lines 81, 82, 83, 84, 85 and 89 of the next iteration run.
    # Every name goes through the same operations on the same numbers in the same order; an iteration loads what it
    # loads in the source, and without trips nothing happens.
    # Triton 3.4.0, 3.6.0 and 3.9.0 were seen to keep such an mma asynchronous on sm_90: in PTX nothing waits
    # between its wgmma and the ex2 behind it. That was compiled; what it gains is predicted, not run on a GPU.
    # alpha, p now live into the next iteration, 34 registers of each thread: look for spills (ptxas -v).
    # The shapes of the zeros are those of the text; put the kernel's own names there where tiles are tuned.
    at_high = keys - lo
    alpha = tl.zeros((128,), tl.float32)
    p = tl.zeros((128, 64), tl.float32)
    if lo < at_high:
        at = tl.cast(lo, tl.int32)
        at = tl.multiple_of(at, BN)
        s = tl.dot(tq,
                   k.load([at, 0]).T)
        s = s * scale
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        alpha = tl.exp2(top - higher)
        row_sum = tl.sum(p, 1)
        total = total * alpha + row_sum
        top = higher
    for at in tl.range(lo + BN, at_high, BN, num_stages=stages):
        at = tl.multiple_of(at, BN)
        s = tl.dot(tq,
                   k.load([at, 0]).T)
        at_before = at - BN
        at_before = tl.multiple_of(at_before, BN)
        acc = acc * alpha[:, None]
        tv = v.load([at_before, 0])
        acc = tl.dot(p.to(tl.bfloat16), tv, acc)
        s = s * scale
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        alpha = tl.exp2(top - higher)
        row_sum = tl.sum(p, 1)
        total = total * alpha + row_sum
        top = higher
    if lo < at_high:
        at_before = tl.cast(lo + (tl.cdiv(at_high - lo, BN) - 1) * BN, tl.int32)
        at_before = tl.multiple_of(at_before, BN)
        acc = acc * alpha[:, None]
        tv = v.load([at_before, 0])
        acc = tl.dot(p.to(tl.bfloat16), tv, acc)

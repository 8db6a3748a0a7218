    # The rotated loop, written by Heddle. It stands for lines 16 to 26 of rotated.py.
    # The mma of line 18 comes an iteration early, in front of that of line 25, so that that one is in flight while
    # lines 19, 20, 21 and 22 of the next iteration run.
    # Every name goes through the same operations on the same numbers in the same order; an iteration loads what it
    # loads in the source, and without trips nothing happens.
    # Triton 3.4.0, 3.6.0 and 3.9.0 were seen to keep such an mma asynchronous on sm_90: in PTX nothing waits
    # between its wgmma and the ex2 behind it. That was compiled; what it gains is predicted, not run on a GPU.
    # old, p now live into the next iteration, 66 registers of each thread: look for spills (ptxas -v).
    # The shapes of the zeros are those of the text; put the kernel's own names there where tiles are tuned.
    old = tl.zeros((128,), tl.float32)
    p = tl.zeros((128, 128), tl.float32)
    if keys > 0:
        at = tl.cast(0, tl.int32)
        s = tl.dot(tq, k.load([first + at, 0]).T)
        higher = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        top = higher
    for at in tl.range(BN, keys, BN, num_stages=stages):
        # scores
        s = tl.dot(tq, k.load([first + at, 0]).T)
        at_before = at - BN
        acc = acc * old[:, None]
        # what they weigh
        acc = tl.dot(p.to(tl.bfloat16), v.load([first + at_before, 0]), acc)
        higher = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        top = higher
    if keys > 0:
        at_before = tl.cast((tl.cdiv(keys, BN) - 1) * BN, tl.int32)
        acc = acc * old[:, None]
        acc = tl.dot(p.to(tl.bfloat16), v.load([first + at_before, 0]), acc)

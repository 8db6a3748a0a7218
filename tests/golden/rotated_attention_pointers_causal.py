    # The rotated loop, written by Heddle. It stands for lines 48 to 64 of rotated.py.
    # The mma of line 51 comes an iteration early, in front of that of line 61, so that that one is in flight while
    # lines 52, 56, 57, 58 and 59 of the next iteration run.
    # Every name goes through the same operations on the same numbers in the same order; an iteration loads what it
    # loads in the source, and without trips nothing happens.
    # Triton 3.4.0, 3.6.0 and 3.9.0 were seen to keep such an mma asynchronous on sm_90: in PTX nothing waits
    # between its wgmma and the ex2 behind it. That was compiled; what it gains is predicted, not run on a GPU.
    # old, p now live into the next iteration, 34 registers of each thread: look for spills (ptxas -v).
    # The shapes of the zeros are those of the text; put the kernel's own names there where tiles are tuned.
    old = tl.zeros((128,), tl.float32)
    p = tl.zeros((128, 64), tl.float32)
    if last > 0:
        at = tl.cast(0, tl.int32)
        tk = tl.load(pk, mask=at + jn[None, :] < keys, other=0.0)
        s = tl.dot(tq, tk)
        if causal:
            s = tl.where(im[:, None] >= (at + jn)[None, :], s, -1.0e30)
        else:
            s = tl.where((at + jn)[None, :] < keys, s, -1.0e30)
        higher = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        top = higher
        pk += BN * stride
    for at in tl.range(BN, last, BN, num_stages=stages):
        tk = tl.load(pk, mask=at + jn[None, :] < keys, other=0.0)
        s = tl.dot(tq, tk)
        at_before = at - BN
        p_now = p
        tv = tl.load(pv, mask=at_before + jn[:, None] < keys, other=0.0)
        p_now = p_now.to(tl.float16)
        acc = tl.dot(p_now, tv, acc * old[:, None])
        pv += BN * stride
        if causal:
            s = tl.where(im[:, None] >= (at + jn)[None, :], s, -1.0e30)
        else:
            s = tl.where((at + jn)[None, :] < keys, s, -1.0e30)
        higher = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        top = higher
        pk += BN * stride
    if last > 0:
        at_before = tl.cast((tl.cdiv(last, BN) - 1) * BN, tl.int32)
        p_now = p
        tv = tl.load(pv, mask=at_before + jn[:, None] < keys, other=0.0)
        p_now = p_now.to(tl.float16)
        acc = tl.dot(p_now, tv, acc * old[:, None])
        pv += BN * stride

    # The rotated loop, written by Heddle. It stands for lines 117 to 127 of rotated.py.
    # The mma of line 119 comes an iteration early, in front of those of lines 122 and 127, so that those are in
    # flight while line 120 of the next iteration runs.
    # Every name goes through the same operations on the same numbers in the same order; an iteration loads what it
    # loads in the source, and without trips nothing happens.
    # Triton 3.4.0, 3.6.0 and 3.9.0 were seen to keep such an mma asynchronous on sm_90: in PTX nothing waits
    # between its wgmma and the ex2 behind it. That was compiled; what it gains is predicted, not run on a GPU.
    # ds, p now live into the next iteration, 64 registers of each thread: look for spills (ptxas -v).
    # The shapes of the zeros are those of the text; put the kernel's own names there where tiles are tuned.
    ds = tl.zeros((128, 64), tl.float32)
    p = tl.zeros((128, 64), tl.float32)
    if length > 0:
        at = tl.cast(0, tl.int32)
        tq = q.load([first + at, 0])
        s = tl.dot(tk, tq.T)
        p = tl.exp2(s * scale - tl.load(lse + first + at + im)[None, :])
        tdo_again = do.load([first + at, 0])
        dp = tl.dot(tv, tdo_again.T)
        ds = p * (dp - tl.load(delta + first + at + im)[None, :])
    for at in tl.range(BM, length, BM, num_stages=stages):
        tq = q.load([first + at, 0])
        s = tl.dot(tk, tq.T)
        at_before = at - BM
        tdo = do.load([first + at_before, 0])
        adv = tl.dot(p.to(tl.bfloat16), tdo, adv)
        tq_again = q.load([first + at_before, 0])
        adk = tl.dot(ds.to(tl.bfloat16), tq_again, adk)
        p = tl.exp2(s * scale - tl.load(lse + first + at + im)[None, :])
        tdo_again = do.load([first + at, 0])
        dp = tl.dot(tv, tdo_again.T)
        ds = p * (dp - tl.load(delta + first + at + im)[None, :])
    if length > 0:
        at_before = tl.cast((tl.cdiv(length, BM) - 1) * BM, tl.int32)
        tdo = do.load([first + at_before, 0])
        adv = tl.dot(p.to(tl.bfloat16), tdo, adv)
        tq_again = q.load([first + at_before, 0])
        adk = tl.dot(ds.to(tl.bfloat16), tq_again, adk)

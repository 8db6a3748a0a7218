"""Kernels of the texts in this folder, as the tests of core/triton/back/rotated.h read them. Our own code."""
import triton
import triton.language as tl


@triton.jit
def attention_descriptors(q, k, v, o, lse, scale, keys, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Softmax in base 2, tiles by descriptor."""
    head = tl.program_id(1)
    first = head * keys
    row = first + tl.program_id(0) * BM
    tq = q.load([row, 0])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for at in tl.range(0, keys, BN, num_stages=stages):
        # scores
        s = tl.dot(tq, k.load([first + at, 0]).T)
        higher = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        acc = acc * old[:, None]
        # what they weigh
        acc = tl.dot(p.to(tl.bfloat16), v.load([first + at, 0]), acc)
        top = higher
    o.store([row, 0], (acc / total[:, None]).to(tl.bfloat16))
    tl.store(lse + row + tl.arange(0, BM), top + tl.log2(total))


@triton.jit
def attention_pointers(q, k, v, o, scale, keys, stride, stages: tl.constexpr, causal: tl.constexpr,
                       BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Tiles by pointer, any number of keys, causal or not."""
    head = tl.program_id(1)
    base = head * keys * stride
    im, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    jn = tl.arange(0, BN)
    tq = tl.load(q + base + im[:, None] * stride + d[None, :])
    pk = k + base + jn[None, :] * stride + d[:, None]
    pv = v + base + jn[:, None] * stride + d[None, :]
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    last = keys
    if causal:
        last = tl.minimum(keys, (tl.program_id(0) + 1) * BM)
    for at in tl.range(0, last, BN, num_stages=stages):
        tk = tl.load(pk, mask=at + jn[None, :] < keys, other=0.0)
        tv = tl.load(pv, mask=at + jn[:, None] < keys, other=0.0)
        s = tl.dot(tq, tk)
        if causal:
            s = tl.where(im[:, None] >= (at + jn)[None, :], s, -1.0e30)
        else:
            s = tl.where((at + jn)[None, :] < keys, s, -1.0e30)
        higher = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        p = p.to(tl.float16)
        acc = tl.dot(p, tv, acc * old[:, None])
        top = higher
        pk += BN * stride
        pv += BN * stride
    tl.store(o + base + im[:, None] * stride + d[None, :], (acc / total[:, None]).to(tl.float16), mask=im[:, None] < keys)


@triton.jit
def attention_bounds(q, k, v, o, lo, keys, scale, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Bounds that are expressions, a head of two lines, the loop variable aligned."""
    row = tl.program_id(0) * BM
    tq = q.load([row, 0])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.full((BM,), 1.0, dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for at in tl.range(lo, keys - lo, step=BN,
                       num_stages=stages):
        at = tl.multiple_of(at, BN)
        s = tl.dot(tq,
                   k.load([at, 0]).T)
        s = s * scale
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        alpha = tl.exp2(top - higher)
        row_sum = tl.sum(p, 1)
        acc = acc * alpha[:, None]
        tv = v.load([at, 0])
        acc = tl.dot(p.to(tl.bfloat16), tv, acc)
        total = total * alpha + row_sum
        top = higher
    o.store([row, 0], (acc / total[:, None]).to(tl.bfloat16))


@triton.jit
def swiglu(x, wg, wu, y, k, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    gate = tl.zeros((BM, BN), dtype=tl.float32)
    up = tl.zeros((BM, BN), dtype=tl.float32)
    for at in tl.range(0, k, BK, num_stages=stages):
        t = x.load([row, at])
        gate = tl.dot(t, wg.load([col, at]).T, gate)
        up = tl.dot(t, wu.load([col, at]).T, up)
    y.store([row, col], (gate / (1.0 + tl.exp2(-1.4426950408889634 * gate)) * up).to(tl.bfloat16))


@triton.jit
def attention_backward(q, do, k, v, dk, dv, lse, delta, scale, length, stages: tl.constexpr,
                       BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """dK and dV of a block of keys; the tiles that two products read are loaded for each of them."""
    head = tl.program_id(1)
    first = head * length
    col = first + tl.program_id(0) * BN
    tk, tv = k.load([col, 0]), v.load([col, 0])
    adk = tl.zeros((BN, D), dtype=tl.float32)
    adv = tl.zeros((BN, D), dtype=tl.float32)
    im = tl.arange(0, BM)
    for at in tl.range(0, length, BM, num_stages=stages):
        tq = q.load([first + at, 0])
        s = tl.dot(tk, tq.T)
        p = tl.exp2(s * scale - tl.load(lse + first + at + im)[None, :])
        tdo = do.load([first + at, 0])
        adv = tl.dot(p.to(tl.bfloat16), tdo, adv)
        tdo_again = do.load([first + at, 0])
        dp = tl.dot(tv, tdo_again.T)
        ds = p * (dp - tl.load(delta + first + at + im)[None, :])
        tq_again = q.load([first + at, 0])
        adk = tl.dot(ds.to(tl.bfloat16), tq_again, adk)
    dk.store([col, 0], (adk * scale).to(tl.bfloat16))
    dv.store([col, 0], adv.to(tl.bfloat16))


@triton.jit
def some_keys(acc, total, top, tq, k, v, offset, im, jn, scale, lo, hi, masked: tl.constexpr, BN: tl.constexpr):
    for at in tl.range(lo, hi, BN):
        at = tl.multiple_of(at, BN)
        s = tl.dot(tq, k.load([offset, 0]).T)
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
        acc = acc * old[:, None]
        tv = v.load([offset, 0])
        p = p.to(tl.bfloat16)
        acc = tl.dot(p, tv, acc)
        total = total * old + some
        top = higher
        offset += BN
    return acc, total, top


@triton.jit
def attention_stages(q, k, v, o, keys, scale, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Keys before the diagonal without a mask, those on it with one: the loop stands in a function that is called twice."""
    at = tl.program_id(0) * BM
    first = tl.program_id(1) * keys
    im, jn = at + tl.arange(0, BM), tl.arange(0, BN)
    tq = q.load([first + at, 0])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.full((BM,), 0.0, dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    acc, total, top = some_keys(acc, total, top, tq, k, v, first, im, jn, scale, 0, at, False, BN)
    acc, total, top = some_keys(acc, total, top, tq, k, v, first + at, im, jn, scale, at, at + BM, True, BN)
    o.store([first + at, 0], (acc / total[:, None]).to(tl.bfloat16))


@triton.jit
def attention_down(q, k, v, o, keys, scale, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, NB: tl.constexpr, D: tl.constexpr):
    """From the last keys to the first; NB is -BN."""
    row = tl.program_id(0) * BM
    tq = q.load([row, 0])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.full((BM,), 0.0, dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for at in range(keys, 0, NB):
        s = tl.dot(tq, k.load([at - BN, 0]).T) * scale
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), v.load([at - BN, 0]), acc * old[:, None])
        top = higher
    o.store([row, 0], (acc / total[:, None]).to(tl.bfloat16))


@triton.jit
def attention_half(q, k, v, o, keys, scale, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """What the second product reads is converted where it is computed; bounds are a call."""
    row = tl.program_id(0) * BM
    tq = q.load([row, 0])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.full((BM,), 0.0, dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for tile in tl.range(tl.cdiv(keys, BN)):
        s = tl.dot(tq, k.load([tile * BN, 0]).T) * scale
        higher = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None]).to(tl.bfloat16)
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p.to(tl.float32), 1)
        acc = tl.dot(p, v.load([tile * BN, 0]), acc * old[:, None])
        top = higher
    o.store([row, 0], (acc / total[:, None]).to(tl.bfloat16))

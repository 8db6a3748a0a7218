"""Kernels of the texts in this folder that tests/triton/texts has no text of. Our own code."""
import triton
import triton.language as tl


@triton.jit
def gemm_dequant(a, b, s, c, k, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """bf16 by int8 weights with a scale per column: the weights pass through registers."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in tl.range(0, k, BK, num_stages=stages):
        ta = a.load([row, at])
        tb = b.load([col, at])
        acc = tl.dot(ta, tb.to(tl.bfloat16).T, acc)
    sc = tl.load(s + col + tl.arange(0, BN))
    c.store([row, col], (acc * sc[None, :]).to(tl.bfloat16))


@triton.jit
def norm_rows(x, w, y, rows, eps, stages: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    """RMS norm of a block of rows at a time."""
    i, j = tl.arange(0, R), tl.arange(0, C)
    tw = tl.load(w + j).to(tl.float32)
    for at in tl.range(tl.program_id(0) * R, rows, tl.num_programs(0) * R, num_stages=stages):
        t = tl.load(x + (at + i)[:, None] * C + j[None, :]).to(tl.float32)
        r = tl.rsqrt(tl.sum(t * t, 1) / C + eps)
        tl.store(y + (at + i)[:, None] * C + j[None, :], (t * r[:, None] * tw[None, :]).to(y.dtype.element_ty))


@triton.jit
def column_sums(x, y, rows, n, stages: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    i, j = tl.arange(0, R), tl.program_id(0) * C + tl.arange(0, C)
    s = tl.zeros((C,), dtype=tl.float32)
    for at in tl.range(0, rows, R, num_stages=stages):
        t = tl.load(x + (at + i)[:, None] * n + j[None, :]).to(tl.float32)
        s += tl.sum(t, 0)
    tl.store(y + j, s)


@triton.jit
def transpose_copy(x, y, n, R: tl.constexpr, C: tl.constexpr):
    i, j = tl.arange(0, R), tl.arange(0, C)
    for at in range(0, n, C):
        t = tl.load(x + i[:, None] * n + (at + j)[None, :])
        tl.store(y + (at + j)[:, None] * R + i[None, :], t.T)


@triton.jit
def attention_backward_dkdv(q, do, k, v, dk, dv, lse, delta, scale, length, stages: tl.constexpr, ws: tl.constexpr,
                            BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1)
    first = head * length
    col = first + tl.program_id(0) * BN
    tk, tv = k.load([col, 0]), v.load([col, 0])
    adk = tl.zeros((BN, D), dtype=tl.float32)
    adv = tl.zeros((BN, D), dtype=tl.float32)
    im = tl.arange(0, BM)
    for at in tl.range(0, length, BM, num_stages=stages, warp_specialize=ws):
        tq = q.load([first + at, 0])
        s = tl.dot(tk, tq.T)
        p = tl.exp2(s * scale - tl.load(lse + first + at + im)[None, :])
        tdo = do.load([first + at, 0])
        adv = tl.dot(p.to(tl.bfloat16), tdo, adv)
        dp = tl.dot(tv, tdo.T)
        ds = p * (dp - tl.load(delta + first + at + im)[None, :])
        adk = tl.dot(ds.to(tl.bfloat16), tq, adk)
    dk.store([col, 0], (adk * scale).to(tl.bfloat16))
    dv.store([col, 0], adv.to(tl.bfloat16))


@triton.jit
def gemm_dequant_ws(a, b, c, k, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """bf16 by fp8, warp specialized: the weights pass through the registers of a partition of their own."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in tl.range(0, k, BK, num_stages=stages, warp_specialize=True):
        w = b.load([col, at]).to(tl.bfloat16)
        acc = tl.dot(a.load([row, at]), w.T, acc)
    c.store([row, col], acc.to(tl.bfloat16))


@triton.jit
def softmax_store_ws(a, b, c, k, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Warp specialized: a product, a reduction of it, and a store in the loop."""
    row = tl.program_id(0) * BM
    ta = a.load([row, 0])
    for at in tl.range(0, k, BN, num_stages=stages, warp_specialize=True):
        s = tl.dot(ta, b.load([at, 0]).T)
        m = tl.max(s, 1)
        c.store([row, at], tl.exp2(s - m[:, None]).to(tl.bfloat16))


@triton.jit
def mlp_chain(x, w1, w2, y, hidden, ws: tl.constexpr, stages: tl.constexpr, BM: tl.constexpr, BH: tl.constexpr, D: tl.constexpr):
    """relu(x w1^T) w2, a block of the hidden columns at a time."""
    row = tl.program_id(0) * BM
    tx = x.load([row, 0])
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for h in tl.range(0, hidden, BH, num_stages=stages, warp_specialize=ws):
        s = tl.dot(tx, w1.load([h, 0]).T)
        acc = tl.dot(tl.maximum(s, 0.0).to(tl.bfloat16), w2.load([h, 0]), acc)
    y.store([row, 0], acc.to(tl.bfloat16))


@triton.jit
def gemm_paged(a, b, table, c, k, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows of b are found in a table, which is a load that another load waits for."""
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        row = tl.load(table + at + rk)
        x = tl.load(a + rm[:, None] * stride + (at + rk)[None, :])
        y = tl.load(b + row[:, None] * stride + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * stride + rn[None, :], acc.to(tl.bfloat16))


@triton.jit
def gemm_f8_columns(a, b, c, k, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """fp8, the right operand contiguous along its columns: wgmma wants it along the sum."""
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        x = tl.load(a + rm[:, None] + (at + rk)[None, :] * stride)
        y = tl.load(b + (at + rk)[:, None] * stride + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * stride + rn[None, :], acc.to(tl.bfloat16))


@triton.jit
def gemm_branch(a, b, c, k, filled, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One operand is loaded in a branch."""
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in range(0, k, BK):
        x = tl.zeros((BM, BK), dtype=tl.bfloat16)
        if at < filled:
            x = tl.load(a + rm[:, None] * stride + (at + rk)[None, :])
        y = tl.load(b + (at + rk)[:, None] * stride + rn[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rm[:, None] * stride + rn[None, :], acc.to(tl.bfloat16))


@triton.jit
def sum_rows(x, y, n, stride, C: tl.constexpr):
    """A plain loop: no product, and nothing asked of Triton."""
    row = tl.program_id(0)
    s = tl.zeros((C,), dtype=tl.float32)
    for at in range(0, n, C):
        j = at + tl.arange(0, C)
        s += tl.load(x + row * stride + j, mask=j < n, other=0.0).to(tl.float32)
    tl.store(y + row, tl.sum(s, 0))

"""Triton kernels of our own, under Heddle's licence; the text beside this file is the last one made into TTGIR.

attention_forward.sm90.ttgir is what Triton 3.9.0 prints of `attention_forward` after its pass tritongpu-schedule-loops,
for compute capability 9.0, with BM = BN = D = 128, bf16 descriptors, stages = 3, ws = False and num_warps = 8. Every op of
it says which line of this file it comes from; so the window shows that line when an op is selected, and opens it.

To get such a text of a kernel of your own, no GPU is needed. Either set an environment variable and let your program run:

    MLIR_ENABLE_DUMP=1 python3 program.py 2> passes.log

and open the log: it holds the kernel before every pass, and the one before tritongpu-pipeline is taken where nothing else
is asked for. Or keep what the compiler makes in the end, which shows rings and barriers but not the stages:

    TRITON_KERNEL_DUMP=1 TRITON_DUMP_DIR=dump python3 program.py

and open the folder. Then

    heddle compare passes.log h100       the three schedules: Triton's, the best it could do, the best the machine could do
    heddle audit passes.log h100         loads that are not pipelined, memory, stages, what num_stages would change
    heddle gui passes.log h100           both of them in the window

Names of values in the text are those of the Python variables (Triton 3.6 and later): %higher, %total, %acc. What a name
stands for changes on the way through a loop; so the text numbers them: %total_22. A name that ends in a number and has
no variable of that name is such a one. Constants are called after their value: %c0_i32.

The loop's attributes say what Triton decided: tt.num_stages is what the program asked for, loop.stage the iteration that
an op runs ahead by, loop.cluster its order within a stage, tt.scheduled_max_stage the last stage there is.

Heddle writes other ones only where it is asked to: heddle export TEXT SCHEDULE --format ttgir (scripts/heddle_triton.py).

The kernels before attention_forward are here so that the numbers of its lines are right.
"""
import triton
import triton.language as tl


# ---- matmul ---------------------------------------------------------------------------------------------------------
@triton.jit
def gemm_pointers(a, b, c, m, n, k, sam, sak, sbk, sbn, scm, scn, stages: tl.constexpr,
                  BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0), tl.program_id(1)
    im = (row * BM + tl.arange(0, BM)) % m
    jn = (col * BN + tl.arange(0, BN)) % n
    kk = tl.arange(0, BK)
    pa = a + im[:, None] * sam + kk[None, :] * sak
    pb = b + kk[:, None] * sbk + jn[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, tl.cdiv(k, BK), num_stages=stages):
        left = k - step * BK
        ta = tl.load(pa, mask=kk[None, :] < left, other=0.0)
        tb = tl.load(pb, mask=kk[:, None] < left, other=0.0)
        acc = tl.dot(ta, tb, acc)
        pa += BK * sak
        pb += BK * sbk
    om = row * BM + tl.arange(0, BM)
    on = col * BN + tl.arange(0, BN)
    tl.store(c + om[:, None] * scm + on[None, :] * scn, acc.to(c.dtype.element_ty),
             mask=(om[:, None] < m) & (on[None, :] < n))


@triton.jit
def gemm_descriptors(a, b, c, k, stages: tl.constexpr, ws: tl.constexpr,
                     BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in tl.range(0, k, BK, num_stages=stages, warp_specialize=ws):
        ta = a.load([row, at])
        tb = b.load([col, at])
        acc = tl.dot(ta, tb.T, acc)
    c.store([row, col], acc.to(tl.bfloat16))


@triton.jit
def gemm_persistent(a, b, c, m, n, k, sms, stages: tl.constexpr, ws: tl.constexpr, flat: tl.constexpr,
                    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    down, across = tl.cdiv(m, BM), tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), down * across, sms, flatten=flat, warp_specialize=ws):
        row, col = (tile % down) * BM, (tile // down) * BN
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for at in tl.range(0, k, BK, num_stages=stages):
            acc = tl.dot(a.load([row, at]), b.load([col, at]).T, acc)
        c.store([row, col], acc.to(tl.bfloat16))


@triton.jit
def gemm_scaled_f8(a, b, sa, sb, c, k, stages: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Block-scaled fp8: a scale per row and per column of every depth step, so an elementwise op follows each product."""
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    im, jn = row + tl.arange(0, BM), col + tl.arange(0, BN)
    steps = tl.cdiv(k, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in tl.range(0, steps, num_stages=stages):
        part = tl.dot(a.load([row, step * BK]), b.load([col, step * BK]).T)
        acc += part * tl.load(sa + im * steps + step)[:, None] * tl.load(sb + jn * steps + step)[None, :]
    c.store([row, col], acc.to(tl.bfloat16))


@triton.jit
def swiglu_dual(x, wg, wu, y, k, stages: tl.constexpr, ws: tl.constexpr,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    gate = tl.zeros((BM, BN), dtype=tl.float32)
    up = tl.zeros((BM, BN), dtype=tl.float32)
    for at in tl.range(0, k, BK, num_stages=stages, warp_specialize=ws):
        t = x.load([row, at])
        gate = tl.dot(t, wg.load([col, at]).T, gate)
        up = tl.dot(t, wu.load([col, at]).T, up)
    y.store([row, col], (gate / (1.0 + tl.exp2(-1.4426950408889634 * gate)) * up).to(tl.bfloat16))


# ---- attention ------------------------------------------------------------------------------------------------------
@triton.jit
def attention_forward(q, k, v, o, lse, scale, keys, stages: tl.constexpr, ws: tl.constexpr,
                      BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Tiles by descriptor, [head * length, D]; softmax in base 2."""
    head = tl.program_id(1)
    first = head * keys
    row = first + tl.program_id(0) * BM
    tq = q.load([row, 0])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for at in tl.range(0, keys, BN, num_stages=stages, warp_specialize=ws):
        s = tl.dot(tq, k.load([first + at, 0]).T)
        higher = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        acc = acc * old[:, None]
        acc = tl.dot(p.to(tl.bfloat16), v.load([first + at, 0]), acc)
        top = higher
    o.store([row, 0], (acc / total[:, None]).to(tl.bfloat16))
    tl.store(lse + row + tl.arange(0, BM), top + tl.log2(total))

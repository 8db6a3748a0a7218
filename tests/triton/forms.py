"""Triton kernels of our own in forms that public kernels have and the other texts of this folder do not: masks of rows and columns,
integers as data, numbers that are loaded in the loop, branches, loops inside scf.while, products by mma.sync and by FMA.

    heddle_triton.py dump forms.py --target sm_90 -o texts
"""
import triton
import triton.language as tl


@triton.jit
def ragged_attention(q, k, v, o, rows, columns, stride_q, stride_k, window, scale, causal: tl.constexpr,
                     BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attention over `rows` queries and `columns` keys: both ends masked, and a window of keys before the diagonal."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + r[:, None] * stride_q + d[None, :], mask=r[:, None] < rows, other=0.0)
    best = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for begin in range(0, columns, BN):
        c = begin + tl.arange(0, BN)
        key = tl.load(k + c[None, :] * stride_k + d[:, None], mask=c[None, :] < columns, other=0.0)
        s = tl.dot(query, key) * scale
        keep = (r[:, None] < rows) & (c[None, :] < columns)
        if causal:
            keep = keep & (c[None, :] <= r[:, None]) & (r[:, None] - c[None, :] < window)
        s = tl.where(keep, s, -1.0e30)
        top = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - top[:, None])
        fade = tl.exp2(best - top)
        total = total * fade + tl.sum(p, 1)
        value = tl.load(v + c[:, None] * stride_k + d[None, :], mask=c[:, None] < columns, other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * fade[:, None])
        best = top
    tl.store(o + r[:, None] * stride_q + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty), mask=r[:, None] < rows)


@triton.jit
def documents(q, k, v, o, of_row, of_column, length, stride, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attention within documents: which one a key belongs to is loaded, and compared with the query's."""
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + r[:, None] * stride + d[None, :])
    mine = tl.load(of_row + r)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for begin in range(0, length, BN):
        c = begin + tl.arange(0, BN)
        key = tl.load(k + c[None, :] * stride + d[:, None])
        theirs = tl.load(of_column + c)
        s = tl.where(mine[:, None] == theirs[None, :], tl.dot(query, key), -1.0e30)
        p = tl.exp2(s)
        total += tl.sum(p, 1)
        value = tl.load(v + c[:, None] * stride + d[None, :])
        acc = tl.dot(p.to(value.dtype), value, acc)
    tl.store(o + r[:, None] * stride + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty))


@triton.jit
def four_bits(a, w, scales, zeros, c, k, stride_a, stride_w, stride_c, group: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """GEMM whose right operand is packed, eight numbers of four bits in an integer, with a scale and a zero for each group."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    kk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, k, BK):
        x = tl.load(a + m[:, None] * stride_a + (begin + kk)[None, :])
        packed = tl.load(w + ((begin + kk) // 8)[:, None] * stride_w + n[None, :])
        s = tl.load(scales + (begin // group) * stride_w + n)
        z = tl.load(zeros + (begin // group) * stride_w + n)
        nibble = (packed >> ((kk % 8) * 4)[:, None]) & 15
        y = (nibble.to(tl.float16) - z[None, :]) * s[None, :]
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * stride_c + n[None, :], acc.to(tl.float16))


@triton.jit
def bytes_signed(a, w, c, k, stride_a, stride_w, stride_c, scale, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """GEMM whose right operand has two signed numbers of four bits in a byte; the lower ones are shifted up and back."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    kk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, k, BK):
        x = tl.load(a + m[:, None] * stride_a + (begin + kk)[None, :])
        packed = tl.load(w + (begin + kk)[:, None] * stride_w + n[None, :])
        y = ((packed << 4) >> 4).to(tl.bfloat16)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * stride_c + n[None, :], (acc * scale).to(tl.bfloat16))


@triton.jit
def decode(q, k, v, o, pages, length, stride_q, stride_page, scale, BH: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attention of one token: 16 heads share their keys, which lie in pages that a table names."""
    h = tl.arange(0, BH)
    d = tl.arange(0, D)
    query = tl.load(q + tl.program_id(0) * stride_q + h[:, None] * D + d[None, :])
    best = tl.full((BH,), -1.0e30, tl.float32)
    total = tl.zeros((BH,), tl.float32)
    acc = tl.zeros((BH, D), tl.float32)
    for begin in range(0, length, BN):
        page = tl.load(pages + begin // BN)
        c = tl.arange(0, BN)
        key = tl.load(k + page * stride_page + c[None, :] * D + d[:, None], mask=(begin + c)[None, :] < length, other=0.0)
        s = tl.where((begin + c)[None, :] < length, tl.dot(query, key) * scale, -1.0e30)
        top = tl.maximum(best, tl.max(s, 1))
        p = tl.exp2(s - top[:, None])
        fade = tl.exp2(best - top)
        total = total * fade + tl.sum(p, 1)
        value = tl.load(v + page * stride_page + c[:, None] * D + d[None, :], mask=(begin + c)[:, None] < length, other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * fade[:, None])
        best = top
    tl.store(o + tl.program_id(0) * stride_q + h[:, None] * D + d[None, :], (acc / total[:, None]).to(o.dtype.element_ty))


@triton.jit
def fading(x, u, gate, o, steps, stride, BC: tl.constexpr, D: tl.constexpr):
    """A state that fades by a number loaded for each chunk."""
    c = tl.arange(0, BC)
    d = tl.arange(0, D)
    state = tl.zeros((D, D), tl.float32)
    for t in range(0, steps):
        g = tl.load(gate + t)
        a = tl.load(x + t * BC * stride + c[None, :] * stride + d[:, None])
        b = tl.load(u + t * BC * stride + c[:, None] * stride + d[None, :])
        state = tl.dot(a, b, state * tl.exp2(g))
    tl.store(o + d[:, None] * D + d[None, :], state)


@triton.jit
def begins_with_bias(a, b, bias, o, steps, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each product begins with a row of biases: a gate that is summed up."""
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    kk = tl.arange(0, BK)
    w = tl.load(b + kk[:, None] * stride + n[None, :])
    row = tl.load(bias + n).to(tl.float32)
    total = tl.zeros((BM, BN), tl.float32)
    for t in range(0, steps):
        x = tl.load(a + (t * BM + m)[:, None] * stride + kk[None, :])
        h = tl.dot(x, w) + row[None, :]
        total += tl.sigmoid(h)
    tl.store(o + m[:, None] * stride + n[None, :], total)


@triton.jit
def persistent_flat(a, b, c, m, n, k, tiles_n, tiles, programs: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Persistent GEMM whose loops over tiles and steps are made one."""
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
    out = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    for tile in tl.range(tl.program_id(0), tiles, programs, flatten=True):
        y = (tile // tiles_n) * BM
        x = (tile % tiles_n) * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for step in range(tl.cdiv(k, BK)):
            acc = tl.dot(left.load([y, step * BK]), right.load([x, step * BK]).T, acc)
        out.store([y, x], acc.to(tl.float16))


@triton.jit
def early_exit(x, y, o, counts, length, BK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Sparse blocks: a product is skipped where a count that is loaded is zero."""
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    kk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, length, BK):
        count = tl.load(counts + begin // BK)
        if count > 0:
            a = tl.load(x + m[:, None] * length + (begin + kk)[None, :])
            b = tl.load(y + (begin + kk)[:, None] * BN + n[None, :])
            acc = tl.dot(a, b, acc)
    tl.store(o + m[:, None] * BN + n[None, :], acc)


@triton.jit
def grouped(a, b, c, sizes, groups, k, programs: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Grouped GEMM: which tiles a program works on is found as it goes, in a while loop."""
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    kk = tl.arange(0, BK)
    tile = tl.program_id(0)
    end = 0
    for g in range(groups):
        count = tl.load(sizes + g)
        while tile < end + count:
            row = (tile - end) * BM
            acc = tl.zeros((BM, BN), tl.float32)
            for begin in range(0, k, BK):
                x = tl.load(a + (row + m)[:, None] * k + (begin + kk)[None, :])
                y = tl.load(b + g * k * BN + (begin + kk)[:, None] * BN + n[None, :])
                acc = tl.dot(x, y, acc)
            tl.store(c + (row + m)[:, None] * BN + n[None, :], acc.to(tl.float16))
            tile += programs
        end += count


@triton.jit
def whole_blocks(x, o, length, B: tl.constexpr):
    """Sums all whole blocks but the last: with too few numbers the loop has no turn."""
    i = tl.arange(0, B)
    total = tl.zeros((B,), tl.float32)
    for begin in range(0, tl.cdiv(length, B) * B - B, B):
        total += tl.load(x + begin + i)
    tl.store(o + i, total)


@triton.jit
def between(x, o, bounds, stride, B: tl.constexpr):
    """A sequence's rows, whose first and last are loaded."""
    i = tl.arange(0, B)
    begin = tl.load(bounds + tl.program_id(0))
    end = tl.load(bounds + tl.program_id(0) + 1)
    total = tl.zeros((B,), tl.float32)
    for row in range(begin, end):
        total += tl.load(x + row * stride + i)
    tl.store(o + tl.program_id(0) * B + i, total)


@triton.jit
def with_barrier(x, target, o, length, B: tl.constexpr):
    """A barrier of the program's own in front of the loop."""
    i = tl.arange(0, B)
    aim = tl.load(target + tl.program_id(0))
    tl.debug_barrier()
    total = tl.zeros((B,), tl.float32)
    for begin in range(0, length, B):
        logits = tl.load(x + begin + i, mask=begin + i < length, other=-1.0e30)
        total += tl.exp2(logits - aim)
    tl.store(o + tl.program_id(0), tl.sum(total, 0))


@triton.jit
def exact_product(a, b, o, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Products of f32 that may not be rounded: no tensor core takes them."""
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    kk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, k, BK):
        x = tl.load(a + m[:, None] * k + (begin + kk)[None, :])
        y = tl.load(b + (begin + kk)[:, None] * BN + n[None, :])
        acc = tl.dot(x, y, acc, input_precision="ieee")
    tl.store(o + m[:, None] * BN + n[None, :], acc)


@triton.jit
def prefix_scaled(x, gate, o, steps, stride, BC: tl.constexpr, D: tl.constexpr):
    """Rows scaled by a running sum of logarithms along the chunk."""
    c = tl.arange(0, BC)
    d = tl.arange(0, D)
    state = tl.zeros((D, D), tl.float32)
    for t in range(0, steps):
        g = tl.cumsum(tl.load(gate + t * BC + c), 0)
        a = tl.load(x + (t * BC + c)[:, None] * stride + d[None, :])
        scaled = (a * tl.exp2(g)[:, None]).to(tl.bfloat16)
        state = tl.dot(tl.trans(scaled), a, state)
    tl.store(o + d[:, None] * D + d[None, :], state)


@triton.jit
def states(k, v, h, steps, stride, BC: tl.constexpr, D: tl.constexpr):
    """The state before each chunk is stored, and then changed by the chunk."""
    c = tl.arange(0, BC)
    d = tl.arange(0, D)
    state = tl.zeros((D, D), tl.float32)
    for t in range(0, steps):
        tl.store(h + t * D * D + d[:, None] * D + d[None, :], state)
        key = tl.load(k + (t * BC + c)[None, :] * stride + d[:, None])
        value = tl.load(v + (t * BC + c)[:, None] * stride + d[None, :])
        state = tl.dot(key, value, state)


def heddle_kernels():
    half, brain = "*fp16:16", "*bf16:16"
    attention = {"q": brain, "k": brain, "v": brain, "o": brain, "rows": "i32", "columns": "i32", "stride_q": "i32:16", "stride_k": "i32:16",
                 "window": "i32", "scale": "fp32"}
    gemm4 = {"a": half, "w": "*i32:16", "scales": half, "zeros": half, "c": half, "k": "i32:16", "stride_a": "i32:16", "stride_w": "i32:16",
             "stride_c": "i32:16"}
    return [
        (ragged_attention, attention, {"causal": False, "BM": 128, "BN": 64, "D": 128}, {"num_warps": 8}),
        (ragged_attention, attention, {"causal": True, "BM": 128, "BN": 64, "D": 128}, {"num_warps": 8}),
        (documents, {"q": brain, "k": brain, "v": brain, "o": brain, "of_row": "*i32:16", "of_column": "*i32:16", "length": "i32:16",
                     "stride": "i32:16"}, {"BM": 128, "BN": 64, "D": 64}, {"num_warps": 4}),
        (four_bits, gemm4, {"group": 128, "BM": 64, "BN": 128, "BK": 64}, {"num_warps": 4, "num_stages": 3}),
        (bytes_signed, {"a": brain, "w": "*i8:16", "c": brain, "k": "i32:16", "stride_a": "i32:16", "stride_w": "i32:16", "stride_c": "i32:16",
                        "scale": "fp32"}, {"BM": 128, "BN": 128, "BK": 64}, {"num_warps": 8, "num_stages": 3}),
        (decode, {"q": brain, "k": brain, "v": brain, "o": brain, "pages": "*i32:16", "length": "i32", "stride_q": "i32:16",
                  "stride_page": "i32:16", "scale": "fp32"}, {"BH": 16, "BN": 64, "D": 128}, {"num_warps": 4, "num_stages": 2}),
        (fading, {"x": brain, "u": brain, "gate": "*fp32:16", "o": "*fp32:16", "steps": "i32", "stride": "i32:16"}, {"BC": 64, "D": 128},
         {"num_warps": 8, "num_stages": 3}),
        (begins_with_bias, {"a": brain, "b": brain, "bias": brain, "o": "*fp32:16", "steps": "i32", "stride": "i32:16"},
         {"BM": 128, "BN": 128, "BK": 64}, {"num_warps": 8}),
        (persistent_flat, {"a": half, "b": half, "c": half, "m": "i32:16", "n": "i32:16", "k": "i32:16", "tiles_n": "i32", "tiles": "i32"},
         {"programs": 132, "BM": 128, "BN": 128, "BK": 64}, {"num_warps": 8, "num_stages": 3}),
        (early_exit, {"x": half, "y": half, "o": "*fp32:16", "counts": "*i32:16", "length": "i32:16"}, {"BK": 64, "BM": 128, "BN": 128},
         {"num_warps": 8, "num_stages": 3}),
        (grouped, {"a": half, "b": half, "c": half, "sizes": "*i32:16", "groups": "i32", "k": "i32:16"},
         {"programs": 132, "BM": 128, "BN": 128, "BK": 64}, {"num_warps": 8, "num_stages": 3}),
        (whole_blocks, {"x": "*fp32:16", "o": "*fp32:16", "length": "i32"}, {"B": 1024}, {"num_warps": 4}),
        (between, {"x": "*fp32:16", "o": "*fp32:16", "bounds": "*i32:16", "stride": "i32:16"}, {"B": 1024}, {"num_warps": 4}),
        (with_barrier, {"x": "*fp32:16", "target": "*fp32:16", "o": "*fp32:16", "length": "i32"}, {"B": 1024}, {"num_warps": 4}),
        (exact_product, {"a": "*fp32:16", "b": "*fp32:16", "o": "*fp32:16", "k": "i32:16"}, {"BM": 64, "BN": 64, "BK": 32}, {"num_warps": 4}),
        (prefix_scaled, {"x": brain, "gate": "*fp32:16", "o": "*fp32:16", "steps": "i32", "stride": "i32:16"}, {"BC": 64, "D": 64},
         {"num_warps": 4, "num_stages": 2}),
        (states, {"k": brain, "v": brain, "h": "*fp32:16", "steps": "i32", "stride": "i32:16"}, {"BC": 64, "D": 128}, {"num_warps": 8, "num_stages": 3}),
    ]

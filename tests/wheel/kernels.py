"""Two kernels for the tests with Triton's wheel, and how they are launched: in the way that an ordinary program would do it, with
tensors that have no memory."""
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def gemm(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for at in tl.range(0, k, BK):
        acc = tl.dot(a.load([row, at]), b.load([col, at]).T, acc)
    c.store([row, col], acc.to(tl.bfloat16))


@triton.jit
def attention(q, k, v, o, scale, keys, specialize: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    row = tl.program_id(0) * BM
    tq = q.load([row, 0])
    top = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    acc = tl.zeros((BM, D), dtype=tl.float32)
    for at in tl.range(0, keys, BN, warp_specialize=specialize):
        s = tl.dot(tq, k.load([at, 0]).T)
        higher = tl.maximum(top, tl.max(s, 1) * scale)
        p = tl.exp2(s * scale - higher[:, None])
        old = tl.exp2(top - higher)
        total = total * old + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.bfloat16), v.load([at, 0]), acc * old[:, None])
        top = higher
    o.store([row, 0], (acc / total[:, None]).to(tl.bfloat16))


def gemm_arguments(tensor, BM=128, BN=256, BK=64, stages=3):
    """What stands in the brackets of gemm[grid](...)."""
    blocks = ([BM, BK], [BN, BK], [BM, BN])
    descriptors = [TensorDescriptor.from_tensor(tensor("bf16", (4096, 4096)), block) for block in blocks]
    return (*descriptors, 4096), dict(BM=BM, BN=BN, BK=BK, num_warps=8, num_stages=stages)


def attention_arguments(tensor, D=128, specialize=False, warps=8):
    blocks = ([128, D], [128, D], [128, D], [128, D])
    descriptors = [TensorDescriptor.from_tensor(tensor("bf16", (8192, D)), block) for block in blocks]
    return (*descriptors, 0.125, 8192), dict(specialize=specialize, BM=128, BN=128, D=D, num_warps=warps, num_stages=3)

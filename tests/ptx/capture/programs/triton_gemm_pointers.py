"""For heddle capture: a GEMM of Triton by pointers, a tile a CTA. Needs triton only."""

import triton
import triton.language as tl
from heddle_capture import Tensor


@triton.jit
def gemm(a, b, c, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    left, right = a + rows[:, None] * K + depth[None, :], b + depth[:, None] * N + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(left), tl.load(right), acc)
        left += BK
        right += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], acc.to(tl.bfloat16))


M, N, K, BM, BN, BK = 256, 256, 512, 128, 128, 64
A, B, C = Tensor("bf16", (M, K)), Tensor("bf16", (K, N)), Tensor("bf16", (M, N))
gemm[(M // BM, N // BN)](A, B, C, K, N, BM, BN, BK, num_warps=4, num_stages=3)

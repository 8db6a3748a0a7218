"""For heddle capture, by hand: a persistent GEMM of Triton with tensor descriptors; with a word behind it warp specialized. Needs triton only."""

import sys

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from heddle_capture import Tensor


@triton.jit
def gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr, WS: tl.constexpr):
    nm, nn = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), nm * nn, SMS, warp_specialize=WS, flatten=False):
        m, n = (tile % nm) * BM, (tile // nm) * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([m, k * BK]), b.load([n, k * BK]).T, acc)
        c.store([m, n], acc.to(tl.bfloat16))


M, N, K = 1024, 1024, 512
BM, BN, BK = 128, 128, 64


def described(tensor, block):
    return TensorDescriptor(tensor, list(tensor.shape), [tensor.shape[1], 1], block)


A, B, C = Tensor("bf16", (M, K)), Tensor("bf16", (N, K)), Tensor("bf16", (M, N))
specialized = len(sys.argv) > 1
gemm[(16,)](described(A, [BM, BK]), described(B, [BN, BK]), described(C, [BM, BN]), M, N, K, BM, BN, BK, 16, specialized,
            num_warps=4 if specialized else 8, num_stages=3)

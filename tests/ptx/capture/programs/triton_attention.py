"""For heddle capture, by hand: attention of Triton with tensor descriptors; with a word behind it warp specialized. Needs triton only."""

import sys

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
from heddle_capture import Tensor


@triton.jit
def attention(q, k, v, o, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, WS: tl.constexpr):
    row = tl.program_id(1) * N
    query = q.load([row + tl.program_id(0) * BM, 0])
    acc = tl.zeros((BM, D), tl.float32)
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    for n in tl.range(0, N, BN, warp_specialize=WS):
        scores = tl.dot(query, k.load([row + n, 0]).T) * scale
        higher = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - higher[:, None])
        shrink = tl.exp2(most - higher)
        total = total * shrink + tl.sum(weights, 1)
        acc = tl.dot(weights.to(tl.bfloat16), v.load([row + n, 0]), acc * shrink[:, None])
        most = higher
    o.store([row + tl.program_id(0) * BM, 0], (acc / total[:, None]).to(tl.bfloat16))


HEADS, N, D, BM, BN = 2, 640, 128, 128, 128


def described(rows):
    tensor = Tensor("bf16", (HEADS * N, D))
    return TensorDescriptor(tensor, list(tensor.shape), [D, 1], [rows, D])


specialized = len(sys.argv) > 1
attention[(N // BM, HEADS)](described(BM), described(BN), described(BN), described(BM), N, 0.1275, BM, BN, D, specialized,
                            num_warps=4 if specialized else 8, num_stages=2)

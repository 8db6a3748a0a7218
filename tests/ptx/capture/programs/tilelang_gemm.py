"""For heddle capture, by hand: a pipelined GEMM of TileLang, which it specializes by warps. Needs tilelang (with torch) and nvcc."""

import tilelang
import tilelang.language as T
import torch


@tilelang.jit(out_idx=[-1])
def matmul(M, N, K, bM, bN, bK, dtype="bfloat16", acc="float32", stages=3):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(T.ceildiv(N, bN), T.ceildiv(M, bM), threads=128) as (bx, by):
            A_s, B_s = T.alloc_shared((bM, bK), dtype), T.alloc_shared((bK, bN), dtype)
            C_l = T.alloc_fragment((bM, bN), acc)
            T.clear(C_l)
            for k in T.Pipelined(T.ceildiv(K, bK), num_stages=stages):
                T.copy(A[by * bM, k * bK], A_s)
                T.copy(B[k * bK, bx * bN], B_s)
                T.gemm(A_s, B_s, C_l)
            T.copy(C_l, C[by * bM, bx * bN])
    return main


f = matmul(1024, 1024, 512, 128, 128, 64)
a = torch.empty((1024, 512), device="cuda", dtype=torch.bfloat16)
b = torch.empty((512, 1024), device="cuda", dtype=torch.bfloat16)
c = f(a, b)
print(c.shape)

"""What a user of Triton has: a script that launches its kernels. `program.py specialize` is for Blackwell."""
import sys

from heddle_triton import Tensor
from kernels import attention, attention_arguments, gemm, gemm_arguments

specialize = "specialize" in sys.argv
for _ in range(2):  # the second launch is the same kernel
    arguments, options = gemm_arguments(Tensor)
    gemm[(32, 16)](*arguments, **options)
arguments, options = attention_arguments(Tensor, D=64, specialize=True, warps=4) if specialize else attention_arguments(Tensor)
attention[(64,)](*arguments, **options)

"""A program that compiles kernels as a launch would, on a machine without a GPU:

    compile.py [--use FOLDER]... [--target 90] [--threads] [--ptx FILE] WHAT...

WHAT is gemm, gemm32, tuned, attention or specialized. Prints "WHAT SHARED" for each; --ptx FILE keeps the PTX of the last."""
import argparse
import threading

import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import CUDABackend

import heddle_triton
import kernels
import until_memory
from heddle_triton import Tensor

parser = argparse.ArgumentParser()
parser.add_argument("--use", action="append", default=[])
parser.add_argument("--target", type=int, default=90)
parser.add_argument("--ptx")
parser.add_argument("--threads", action="store_true")
parser.add_argument("what", nargs="+")
options = parser.parse_args()
for folder in options.use:
    heddle_triton.use(folder)
if options.ptx:
    CUDABackend.make_cubin = lambda *words: b""  # takes time and has no say in what is printed here; finish has its cubin made
else:
    until_memory.install()
triton.runtime.driver.set_active(heddle_triton.StandInDriver(GPUTarget("cuda", options.target, 32)))
tuned = triton.autotune(configs=[triton.Config(dict(BM=128, BN=256, BK=64), num_warps=n) for n in (4, 8)], key=["k"])(kernels.gemm)


def build(what):
    if what == "tuned":
        arguments, _ = kernels.gemm_arguments(Tensor)
        return tuned.warmup(*arguments, grid=(1,))
    if what in ("attention", "specialized"):
        special = dict(D=64, specialize=True, warps=4) if what == "specialized" else {}
        arguments, named = kernels.attention_arguments(Tensor, **special)
        return [kernels.attention.warmup(*arguments, grid=(1,), **named)]
    arguments, named = kernels.gemm_arguments(Tensor, BK=32 if what == "gemm32" else 64)
    return [kernels.gemm.warmup(*arguments, grid=(1,), **named)]


results = {}


def keep(what):
    results[what] = build(what)


workers = [threading.Thread(target=keep, args=(what,)) for what in options.what]
for worker in workers:
    worker.start()
    if not options.threads:
        worker.join()
for worker in workers:
    worker.join()
for what in options.what:
    print(what, *(kernel.metadata.shared for kernel in results[what]))
if options.ptx:
    with open(options.ptx, "w") as file:
        file.write(results[options.what[-1]][0].asm["ptx"])

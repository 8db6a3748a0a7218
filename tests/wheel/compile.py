"""A program that compiles kernels as a launch would, on a machine without a GPU:

    compile.py [--use FOLDER]... WHAT...

WHAT is a name of the table below. Prints "WHAT SHARED" for each; --ptx FILE keeps the PTX of the last."""
import sys
import threading

import triton
from triton.backends.compiler import GPUTarget

import heddle_triton
import kernels
from heddle_triton import Tensor

words = sys.argv[1:]
while "--use" in words:
    at = words.index("--use")
    heddle_triton.use(words[at + 1])
    del words[at:at + 2]
ptx = None
if "--ptx" in words:
    at = words.index("--ptx")
    ptx = words[at + 1]
    del words[at:at + 2]
threads = "--threads" in words
words = [word for word in words if word != "--threads"]

triton.runtime.driver.set_active(heddle_triton.StandInDriver(GPUTarget("cuda", 90, 32)))
tuned = triton.autotune(configs=[triton.Config(dict(BM=128, BN=256, BK=64), num_warps=n) for n in (4, 8)], key=["k"])(kernels.gemm)


def build(what):
    if what == "tuned":
        arguments, _ = kernels.gemm_arguments(Tensor)
        return tuned.warmup(*arguments, grid=(1,))
    if what == "attention":
        arguments, options = kernels.attention_arguments(Tensor)
        return [kernels.attention.warmup(*arguments, grid=(1,), **options)]
    arguments, options = kernels.gemm_arguments(Tensor, BK=32 if what == "gemm32" else 64)
    return [kernels.gemm.warmup(*arguments, grid=(1,), **options)]


results = {}


def keep(what):
    results[what] = build(what)


if threads:
    workers = [threading.Thread(target=keep, args=(what,)) for what in words]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
else:
    for word in words:
        keep(word)
for word in words:
    print(word, *(kernel.metadata.shared for kernel in results[word]))
if ptx:
    with open(ptx, "w") as file:
        file.write(results[words[-1]][0].asm["ptx"])

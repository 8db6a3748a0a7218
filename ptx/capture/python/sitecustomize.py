"""What Python programs need besides the stand-ins' libraries while heddle captures them: some modules are changed when they are imported.
Python runs this file by itself, by its name."""

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys


def answer(runtime, name, handle=None):
    """cudaFoo(...) by the stand-in: gives (error, handle) as cuda.bindings does."""
    function = getattr(ctypes.CDLL("libcudart.so.13"), name)

    def call(*arguments):
        words = [ctypes.c_void_p(int(each)) for each in arguments]
        result = ctypes.c_uint64(0)
        error = runtime.cudaError_t(function(*([ctypes.byref(result)] if handle else []), *words))
        return (error, handle(result.value)) if handle else (error,)

    return call


def cover(runtime):
    """cuda.bindings.runtime has NVIDIA's runtime inside itself. Those of its functions that compilers call get others in front of them."""
    results = {"cudaGetDeviceCount": int, "cudaGetDevice": int, "cudaStreamCreate": runtime.cudaStream_t, "cudaEventCreate": runtime.cudaEvent_t,
               "cudaDriverGetVersion": int, "cudaRuntimeGetVersion": int, "cudaMalloc": int}
    for name, handle in results.items():
        setattr(runtime, name, answer(runtime, name, handle))
    for name in ("cudaDeviceSynchronize", "cudaSetDevice", "cudaStreamSynchronize", "cudaStreamDestroy", "cudaEventRecord", "cudaEventSynchronize",
                 "cudaEventDestroy", "cudaLibraryUnload", "cudaFree"):
        setattr(runtime, name, answer(runtime, name))
    done = runtime.cudaError_t.cudaSuccess
    runtime.cudaEventElapsedTime = lambda *_: (done, 1.0)
    # Graphs: what is launched while one is recorded has been written down then.
    runtime.cudaStreamEndCapture = lambda *_: (done, runtime.cudaGraph_t(16))
    runtime.cudaGraphInstantiate = lambda *_: (done, runtime.cudaGraphExec_t(16))
    runtime.cudaGraphGetNodes = lambda *_: (done, [runtime.cudaGraphNode_t(16)], 1)
    for name in ("cudaStreamBeginCapture", "cudaGraphLaunch", "cudaGraphExecDestroy", "cudaGraphDestroy"):
        setattr(runtime, name, lambda *_: (done,))


def keep_text(module):
    """TileLang's compiler gives PTX where it is asked for machine code: a driver takes both, and what is launched can be written down."""
    compile_cuda = module.compile_cuda

    def compile_to_text(code, target_format="ptx", *others, **named):
        return compile_cuda(code, "ptx", *others, **named)

    module.compile_cuda = compile_to_text


def time_once(module):
    """Triton's autotuner times each configuration by one launch: where nothing is computed, all are as fast."""

    def once(launch, *_, quantiles=None, **__):
        launch()
        return [1.0] * len(quantiles) if quantiles else 1.0

    module.do_bench = module.do_bench_cudagraph = once


class Finder(importlib.abc.MetaPathFinder):
    """Lets some modules be imported as usual, and changes them then."""

    def __init__(self, changes):
        self.changes = changes

    def find_spec(self, name, path=None, target=None):
        change = self.changes.pop(name, None)  # once: the module is looked for by the others below
        if not change:
            return None
        spec = importlib.util.find_spec(name)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                change(module)

            spec.loader.exec_module = exec_module
        return spec


changes = {"tilelang.contrib.nvcc": keep_text, "tilelang.contrib.nvrtc": keep_text}
if not os.environ.get("HEDDLE_CAPTURE_DRIVER"):  # with a driver the runtime in cuda.bindings works, and times are times
    changes |= {"cuda.bindings.runtime": cover, "triton.testing": time_once}
sys.meta_path.insert(0, Finder(changes))

# One of the user's own comes next on the path.
here = os.path.dirname(os.path.abspath(__file__))
others = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
if (spec := importlib.machinery.PathFinder.find_spec("sitecustomize", others)) and spec.loader:
    spec.loader.exec_module(importlib.util.module_from_spec(spec))

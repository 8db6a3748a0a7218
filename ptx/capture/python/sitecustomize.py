"""What a Python program needs besides the stand-ins' libraries while heddle captures it: cuda.bindings.runtime has NVIDIA's runtime inside
itself, so its functions that need a driver are put in front of it here, one by one. Also heddle_capture.Tensor, for scripts without torch."""

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
    """The functions of cuda.bindings.runtime that compilers call on their way to a launch."""
    results = {"cudaGetDeviceCount": int, "cudaGetDevice": int, "cudaStreamCreate": runtime.cudaStream_t, "cudaEventCreate": runtime.cudaEvent_t,
               "cudaDriverGetVersion": int, "cudaRuntimeGetVersion": int, "cudaMalloc": int}
    for name, handle in results.items():
        setattr(runtime, name, answer(runtime, name, handle))
    for name in ("cudaDeviceSynchronize", "cudaSetDevice", "cudaStreamSynchronize", "cudaStreamDestroy", "cudaEventRecord", "cudaEventSynchronize",
                 "cudaEventDestroy", "cudaLibraryUnload", "cudaFree"):
        setattr(runtime, name, answer(runtime, name))
    runtime.cudaEventElapsedTime = lambda *_: (runtime.cudaError_t.cudaSuccess, 0.0)


class Finder(importlib.abc.MetaPathFinder):
    """Lets cuda.bindings.runtime be imported as usual, and covers it then."""

    def find_spec(self, name, path=None, target=None):
        if name != "cuda.bindings.runtime":
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            sys.meta_path.insert(0, self)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                cover(module)

            spec.loader.exec_module = exec_module
        return spec


if not os.environ.get("HEDDLE_CAPTURE_DRIVER"):  # with a driver the runtime in it works
    sys.meta_path.insert(0, Finder())

# One of the user's own comes next on the path.
here = os.path.dirname(os.path.abspath(__file__))
others = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
if (spec := importlib.machinery.PathFinder.find_spec("sitecustomize", others)) and spec.loader:
    spec.loader.exec_module(importlib.util.module_from_spec(spec))

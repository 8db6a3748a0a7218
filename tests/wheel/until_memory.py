"""Lets Triton compile until it has laid out memory: what it says of a kernel is known then, and most of its work comes later."""
import types

from triton.backends.nvidia.compiler import CUDABackend

from heddle_triton import Listener, PassList


class FirstPasses(PassList):
    """Those that lay out memory, and all before them."""

    def run(self, module, *words):
        self.words = words
        self.run_range(module, 0, max(self.names.index(name) for name in ("add_allocate_shared_memory_nv", "add_allocate_tensor_memory")) + 1)


class Nothing:
    """Stands for LLVM: whatever it is asked for is nothing too."""

    def __getattr__(self, name):
        return self

    def __call__(self, *words, **named):
        return self


def install():
    """From here on there is neither LLVM's code nor PTX nor cubin. Triton's own make_llir runs, and reads off what has been laid out."""
    own, nothing = CUDABackend.make_llir, Nothing()
    scope = dict(own.__globals__)
    nvidia = Listener(scope["nvidia"], set_nvvm_reflect_ftz=nothing, has_extern_deps=nothing)
    scope.update(llvm=nothing, nvidia=nvidia, passes=Listener(scope["passes"]), ir=Listener(scope["ir"], pass_manager=FirstPasses))
    make = types.FunctionType(own.__code__, scope, own.__name__, own.__defaults__, own.__closure__)

    def make_llir(backend, module, metadata, *words):
        metadata["name"] = module.get_entry_func_name()  # which Triton reads in the PTX
        return make(backend, module, metadata, *words)

    CUDABackend.make_llir, CUDABackend.make_ptx, CUDABackend.make_cubin = make_llir, lambda *words: "", lambda *words: b""

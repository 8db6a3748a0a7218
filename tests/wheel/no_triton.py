"""Stands for Triton where there is none, as far as heddle_triton.use() asks it: import this first. Every text is a module; nothing compiles."""
import importlib.machinery
import sys
import types
from pathlib import Path


def module(name, **members):
    made = sys.modules[name] = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    made.__dict__.update(members)
    return made


class Backend:
    add_stages = hash = None

    def load_dialects(self, context):
        pass


def parse_mlir_module(path, context):
    text = Path(path).read_text()
    return types.SimpleNamespace(str_nodebug=lambda: text)


ir = types.SimpleNamespace(context=object, load_dialects=lambda context: None, parse_mlir_module=parse_mlir_module)
compiler = module("triton.backends.compiler", GPUTarget=lambda *words: None)
backends = module("triton.backends", compiler=compiler)
knobs = module("triton.knobs", runtime=types.SimpleNamespace())
module("triton.backends.nvidia")
module("triton.backends.nvidia.compiler", CUDABackend=Backend)
module("triton._C")
module("triton._C.libtriton", ir=ir)
module("triton", __version__="3.9.0", backends=backends, knobs=knobs, compiler=types.SimpleNamespace(make_backend=lambda target: Backend()))

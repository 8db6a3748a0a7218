"""What a package's Python takes of PyTorch, for machines without it: types, shapes, checks and registration. Nothing is computed."""

import types

for _name in ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int32", "int8", "uint8"):
    globals()[_name] = "torch." + _name

dtype = str
sym_min, sym_max = min, max
loaded, fakes = [], {}


class Tensor:
    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.strides = tuple(shape), dtype, None

    def dim(self):
        return len(self.shape)

    def new_empty_strided(self, shape, strides, dtype):
        made = Tensor(shape, dtype)
        made.strides = list(strides)
        return made


def _check(holds, sentence):
    if not holds:
        raise RuntimeError(sentence())


def _register_fake(name):
    def registered(function):
        fakes[name] = function
        return function
    return registered


ops = types.SimpleNamespace(load_library=loaded.append, heddle=types.SimpleNamespace())
library = types.SimpleNamespace(register_fake=_register_fake)

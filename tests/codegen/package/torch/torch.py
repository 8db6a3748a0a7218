"""What a package's Python takes of PyTorch, for machines without it: types, shapes, checks and registration. Nothing is computed."""

import math
import types

for _name in ("float32", "bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "int32", "int8", "uint8"):
    globals()[_name] = "torch." + _name

dtype = str
sym_min, sym_max = min, max
loaded, fakes, gradients = [], {}, {}


class Tensor:
    device = "cuda"

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.strides = tuple(shape), dtype, None

    def dim(self):
        return len(self.shape)

    def stride(self):
        steps = [1]
        for extent in self.shape[:0:-1]:
            steps.insert(0, steps[0] * extent)
        return tuple(steps)

    def element_size(self):
        return {"torch.float32": 4, "torch.int32": 4}.get(self.dtype, 2)

    def contiguous(self):
        return self

    def to(self, dtype):
        return Tensor(self.shape, dtype)

    def flatten(self, first, last):
        last %= len(self.shape)
        return Tensor((*self.shape[:first], math.prod(self.shape[first:last + 1]), *self.shape[last + 1:]), self.dtype)

    def view(self, shape):
        assert math.prod(shape) == math.prod(self.shape)
        return Tensor(shape, self.dtype)

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


def zeros(shape, dtype, device):
    return Tensor(shape, dtype)


def _register_autograd(name, backward, setup_context):
    gradients[name] = setup_context, backward


ops = types.SimpleNamespace(load_library=loaded.append, heddle=types.SimpleNamespace())
library = types.SimpleNamespace(register_fake=_register_fake, register_autograd=_register_autograd)

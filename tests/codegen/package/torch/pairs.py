"""A forward and a backward package as a pair, without PyTorch: which operators are called when gradients are asked for, and with what.

    pairs.py FORWARD BACKWARD DELTA ROUND    folders with heddle_K below them
"""

import importlib
import pathlib
import sys
import types

import torch

SIZES = {"SEQUENCES": 7, "HEADS": 2, "MAX_Q": 300, "MAX_KV": 500, "TOTAL_Q": 1000, "TOTAL_KV": 2000, "ROWS": 2000, "BLOCKS": 132}


def package(folder):
    sys.path.insert(0, str(folder))
    name = next(folder.glob("heddle_*")).name
    (folder / name / "_C.so").touch()  # in place of what is built
    module = importlib.import_module(name)
    setattr(torch.ops.heddle, module.OPERATOR.name, called(module.OPERATOR, torch.fakes["heddle::" + module.OPERATOR.name]))
    return module


def called(operator, fake):
    def call(*given, **arguments):
        values = [f"{tensor.name}={list(value.shape)} {value.dtype}" for tensor, value in zip(operator.given, given)]
        numbers = [f"{name}={value}" for name, value in zip(operator.arguments, given[len(operator.given):])]
        print(f"{operator.name}({', '.join(values + numbers + [f'{name}={value}' for name, value in arguments.items()])})")
        return fake(*given, **arguments)
    return call


class Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors

    def set_materialize_grads(self, value):
        pass

    def mark_non_differentiable(self, *tensors):
        print("no gradients of", len(tensors))


def gradients_of(forward, scale):
    operator = forward.OPERATOR
    tensors = [torch.Tensor(shape, tensor.dtype) for tensor, shape in zip(operator.given, operator.shapes(*[SIZES[size.name] for size in operator.sizes]))]
    inputs = (*tensors, *[SIZES.get(name, scale) for name in operator.arguments])
    output = getattr(torch.ops.heddle, operator.name)(*inputs)
    setup, backward = torch.gradients["heddle::" + operator.name]
    context = Context()
    setup(context, inputs, output)
    found = backward(context, *[torch.Tensor(x.shape, x.dtype) for x in output])
    print("gradients:", *[f"{list(x.shape)} {x.dtype}" if x is not None else None for x in found])


if __name__ == "__main__":
    forward, backward, delta, rounded = [package(pathlib.Path(folder)) for folder in sys.argv[1:]]
    forward.differentiate(forward.OPERATOR, backward.OPERATOR, Delta=delta.OPERATOR, dQ=rounded.OPERATOR)
    gradients_of(forward, 0.25)
    forward.differentiate(forward.OPERATOR, backward.OPERATOR, Delta=lambda LSE, MAX_Q, scale: print("Delta of", list(LSE.shape), MAX_Q, scale) or LSE)
    gradients_of(forward, None)
    for wrong in (delta, forward):
        try:
            forward.differentiate(forward.OPERATOR, wrong.OPERATOR)
        except ValueError as error:
            print(error)

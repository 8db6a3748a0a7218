"""Calls of packages' shape functions, as torch.compile makes them, without PyTorch.

    calls.py SRC...    a folder with heddle_K below it each; prints a line for each call
"""

import importlib
import pathlib
import sys

import torch

PACKED = {"torch.uint8": 4, "torch.float32": 32}  # bits


def called(what, fake, tensors, *arguments):
    try:
        made = fake(*tensors, *arguments)
        made = made if isinstance(made, tuple) else () if made is None else (made,)
        print(f"{what}:", " ".join(f"{tensor.dtype} {list(tensor.shape)}" for tensor in made))
    except RuntimeError as error:
        print(f"{what}: {error}")


def package(folder):
    sys.path.insert(0, str(folder))
    name = next(folder.glob("heddle_*")).name
    (folder / name / "_C.so").touch()  # in place of what is built
    module = importlib.import_module(name)
    operator, fake = module.OPERATOR, torch.fakes["heddle::" + module.OPERATOR.name]
    print(f"{operator.name}: sizes {[size.name for size in operator.sizes]}")
    sizes = range(3, 3 + len(operator.sizes))
    arguments = [value for size, value in zip(operator.sizes, sizes) if size.tensor < 0]
    shapes = operator.in_elements_of_pytorch(operator.shapes(*[256 * size for size in sizes]))
    arguments = [256 * value for value in arguments]
    right = [torch.Tensor(shape, tensor.dtype) for tensor, shape in zip(operator.given, shapes)]
    called("right", fake, right, *arguments)
    for index, tensor in enumerate(operator.given):
        for dimension in range(tensor.rank):
            wrong = list(right)
            shape = list(right[index].shape)
            shape[dimension] += 1
            wrong[index] = torch.Tensor(shape, tensor.dtype)
            called(f"{tensor.name}.{dimension}", fake, wrong, *arguments)
    called("type", fake, [torch.Tensor(right[0].shape, "torch.float64"), *right[1:]], *arguments)
    called("rank", fake, [torch.Tensor((*right[0].shape, 1), right[0].dtype), *right[1:]], *arguments)


def places(folder):
    """Of the last package: where elements of two blocks of each kind lie."""
    packing = importlib.import_module(next(folder.glob("heddle_*")).name + "._packing")
    for bits, lines in (4, False), (32, False), (32, True), (16, False):
        columns = 2 * 256 // bits
        print(bits, int(lines), *[packing.place(row, column, columns, bits, lines) for row in range(128) for column in range(columns)])


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        package(pathlib.Path(argument))
    places(pathlib.Path(sys.argv[-1]))

"""Runs the kernels of texts/rotated/rotated.py and the loops that Heddle rotates of them with numbers that are expressions: both have to
store the same expressions and load the same places, for no, one, two and five trips.

    rotated_loops.py ROOT      the loops are those of ROOT/tests/golden/rotated_*.py, which the tests of core/triton/back/rotated.h compare with
"""
import glob
import os
import re
import sys
import types


class Value:
    """An operation on values; equal operations on equal values are one object."""
    known = {}

    def __new__(cls, *key):
        if key not in cls.known:
            cls.known[key] = object.__new__(cls)
        return cls.known[key]

    def __getitem__(self, at):
        return Value("at", self, str(at))

    def __iadd__(self, other):
        return Value("add", self, other)

    @property
    def T(self):
        return Value("T", self)

    def to(self, kind):
        return Value("to", self, kind)

    def load(self, at):
        loads.append((self, *at))
        return Value("load", self, *at)

    def store(self, at, tile):
        stores.append((self, *at, tile))

    dtype = property(lambda self: self)


for name in "add sub mul truediv lt le gt ge and".split():
    setattr(Value, f"__{name}__", lambda self, other, name=name: Value(name, self, other))
    setattr(Value, f"__r{name}__", lambda self, other, name=name: Value(name, other, self))
del name

loads, stores = [], []


def load(pointer, mask=None, other=None):
    loads.append((pointer, mask, other))
    return Value("load", pointer, mask, other)


def store(pointer, tile, mask=None):
    stores.append((pointer, tile, mask))


def values(names):
    return {name: (lambda *args, _name=name, **more: Value(_name, *map(fixed, args), *sorted(more.items()))) for name in names.split()}


def fixed(argument):
    return tuple(argument) if isinstance(argument, (list, tuple)) else argument


def language(program):
    tl = types.ModuleType("triton.language")
    tl.__dict__.update(values("dot max sum maximum exp2 log2 where zeros full arange"), load=load, store=store, constexpr=None, float32="float32",
                       float16="float16", bfloat16="bfloat16", int32="int32", cast=lambda value, kind: value, multiple_of=lambda value, n: value,
                       cdiv=lambda a, b: -(-a // b), minimum=min, program_id=lambda axis: program[axis], range=counted)
    return tl


def counted(*bounds, num_stages=None, step=None):
    return range(*bounds) if step is None else range(*bounds, step)


def module(source, program):
    triton = types.ModuleType("triton")
    triton.language, triton.jit = language(program), lambda function: function
    sys.modules.update({"triton": triton, "triton.language": triton.language})
    kernels = types.ModuleType("kernels")
    exec(compile(source, "rotated.py", "exec"), kernels.__dict__)
    return kernels


def run(source, kernel, program, numbers):
    loads.clear()
    stores.clear()
    function = getattr(module(source, program), kernel)
    names = function.__code__.co_varnames[:function.__code__.co_argcount]
    function(*(numbers.get(name, Value("argument", name)) for name in names))
    return list(stores), sorted(map(str, ([id(part) if isinstance(part, Value) else part for part in each] for each in loads)))


def main(root):
    path = os.path.join(root, "tests", "triton", "texts", "rotated", "rotated.py")
    with open(path) as file:
        source = file.read()
    lines = source.split("\n")
    loops = sorted(glob.glob(os.path.join(root, "tests", "golden", "rotated_*.py")))
    failures = tried = 0
    for loop in loops:
        name = re.fullmatch(r"rotated_(\w+)\.py", os.path.basename(loop))[1]
        with open(loop) as file:
            text = file.read()
        first, last = map(int, re.search(r"lines (\d+) to (\d+) of rotated\.py", text).groups())
        changed = "\n".join(lines[:first - 1] + text.rstrip("\n").split("\n") + lines[last:])
        for trips in (0, 1, 2, 3, 5):
            for odd in (0, -1, -63):
                keys = max(0, 64 * trips + odd)
                numbers = dict(keys=keys, length=keys, lo=64 if name == "attention_bounds" else 0, stages=3, causal=name.endswith("_causal"),
                               BM=128 if name != "attention_backward" else 64, BN=64 if name != "attention_backward" else 128, D=64)
                if name == "attention_bounds":
                    numbers["keys"] = keys + 128  # less its low bound, twice
                for program in ((0, 0), (1, 0), (2, 1)):
                    tried += 1
                    kernel = name.removesuffix("_causal")
                    if run(source, kernel, program, numbers) != run(changed, kernel, program, numbers):
                        failures += 1
                        print(f"{name}: {keys} keys, program {program}: the rotated loop stores or loads something else")
    print(f"{len(loops)} loops, {tried} runs, {failures} differ")
    return 1 if failures or not loops else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

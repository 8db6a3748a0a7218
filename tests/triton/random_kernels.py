"""Random Triton kernels with one pipelined loop, to compare what Heddle predicts with what Triton builds: loads of all kinds (by pointer, by descriptor,
through chains of indexes, under masks), products of all types of numbers, with and without options.

    random_kernels.py SEED COUNT > kernels.py     a script for heddle_triton.py dump
"""

import random
import sys

# Bits of each type that a product takes, and what the other operand of a mixed product is converted to.
TYPES = {"bf16": 16, "fp16": 16, "fp8e4nv": 8, "fp8e5": 8, "i8": 8, "fp32": 32}


class Kernel:
    """One kernel: its source, and how it is compiled."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.name = f"kernel_{seed}"
        self.arguments: dict[str, str] = {}
        self.body: list[str] = []     # of the loop
        self.before: list[str] = []
        self.after: list[str] = []
        self.rows, self.columns, self.depth = self.one(32, 64, 64, 128, 128), self.one(32, 64, 128, 128), self.one(32, 64, 64, 128)
        self.options = {"num_warps": self.one(4, 4, 8), "num_stages": self.one(1, 2, 2, 3, 3, 3, 4, 5)}
        own = self.one(None, None, None, 1, 2, 3, 4)
        self.loop = "range(0, k, BK)" if own is None else f"tl.range(0, k, BK, num_stages={own})"
        self.whole_numbers = False
        self.one(self.product, self.product, self.product, self.chain, self.sums)()
        if self.chance(0.15) and not self.whole_numbers:
            self.vector()

    def one(self, *choices):
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def number(self, name: str, divisible: float = 0.85) -> str:
        """An argument, mostly divisible by 16."""
        self.arguments.setdefault(name, "i32:16" if self.chance(divisible) else "i32")
        return name

    def pointer(self, name: str, type: str, aligned: float = 0.95) -> str:
        self.arguments[name] = f"*{type}:16" if self.chance(aligned) else f"*{type}"
        return name

    def index(self, name: str, at: str, length: str) -> str:
        """Numbers of rows out of a table, in `name`; sometimes through a second table."""
        table = self.pointer(f"{name}_table", "i32")
        mask = self.one("", "", f", mask={at} < {self.number('count', 0.6)}, other=0")
        self.body.append(f"{name} = tl.load({table} + {at}{mask})")
        if self.chance(0.25):
            second = self.pointer(f"{name}_second", "i32")
            self.body.append(f"{name} = tl.load({second} + {name})")
        return name

    def tile(self, name: str, type: str, shape: tuple[str, str], along: int) -> None:
        """A load of `shape` in the loop into `name`; `along`: the dimension that the loop goes through."""
        sizes = {"BM": self.rows, "BN": self.columns, "BK": self.depth}
        if self.chance(0.3) and sizes[shape[1]] * TYPES[type] // 8 >= 32:
            self.arguments[name + "_desc"] = f"tensordesc<{type}[{sizes[shape[0]]},{sizes[shape[1]]}]>"
            places = ["m", "n"][:1] * 2
            places[along] = "i"
            places[1 - along] = "m" if "BM" in shape else "n"
            self.body.append(f"{name} = {name}_desc.load([{places[0]}, {places[1]}])")
            return
        tensor = self.pointer(name + "_ptr", type)
        other, inner = ("rm" if "BM" in shape else "rn"), "i + rk"
        if self.chance(0.15):
            inner = self.index(name + "_at", "i + rk", "BK")
        indexes = [other, other]
        indexes[along] = f"({inner})"
        stride = self.number(name + "_stride", 0.9)
        contiguous = 1 if self.chance(0.7) else 0
        terms = [f"{indexes[0]}[:, None]", f"{indexes[1]}[None, :]"]
        terms[1 - contiguous] += f" * {stride}"
        mask = ""
        if self.chance(0.4):
            bound = self.number(self.one("k", "k", "size"), 0.7)
            condition = f"({indexes[along]} < {bound})" + ("[:, None]" if along == 0 else "[None, :]")
            if self.chance(0.3):
                condition += f" & ({other} < {self.number('edge', 0.6)})" + ("[None, :]" if along == 0 else "[:, None]")
            mask = f", mask={condition}, other={self.one('0', '0', '0', '1')}" if type not in ("fp8e4nv", "fp8e5") else f", mask={condition}"
        load = f"{name} = tl.load({tensor} + {' + '.join(terms)}{mask})"
        if self.chance(0.07):
            zeros = f"tl.zeros(({shape[0]}, {shape[1]}), dtype=tl.{dtype(type)})"
            self.body += [f"{name} = {zeros}", f"if i < {self.number('cut')}:", f"    {load}"]
        else:
            self.body.append(load)

    def vector(self) -> None:
        """Scales of rows or columns, or a number, loaded in the loop beside all else."""
        kind = self.one("columns", "rows", "number")
        tensor = self.pointer("scale", self.one("fp32", "bf16"))
        if kind == "number":
            self.body += [f"f = tl.load({tensor} + i)", "acc = acc * f.to(tl.float32)"]
        elif kind == "rows":
            self.body += [f"f = tl.load({tensor} + i + rm)", "acc = acc * f[:, None].to(tl.float32)"]
        else:
            self.body += [f"f = tl.load({tensor} + i + rn)", "acc = acc * f[None, :].to(tl.float32)"]

    def operand(self, name: str, type: str, wanted: str, shape: tuple[str, str], along: int) -> str:
        """Loads an operand of a product and makes it `wanted`; sometimes the other way round."""
        if self.chance(0.25):
            self.tile(name, type, shape[::-1], 1 - along)
            text = f"{name}.T"
        else:
            self.tile(name, type, shape, along)
            text = name
        if type != wanted:
            text = f"{text}.to(tl.{dtype(wanted)})"
        if self.chance(0.12) and wanted in ("bf16", "fp16"):
            text = f"({text} * 0.5).to(tl.{dtype(wanted)})"
        return text

    def product(self) -> None:
        wanted = self.one("bf16", "bf16", "fp16", "fp8e4nv", "fp8e5", "i8", "fp32")
        types = [wanted, wanted]
        if wanted in ("bf16", "fp16") and self.chance(0.3):
            types[self.one(0, 1)] = self.one("i8", "fp8e5", "fp32") if wanted == "fp16" else self.one("i8", "fp32")
        a = self.operand("a", types[0], wanted, ("BM", "BK"), 1)
        b = self.operand("b", types[1], wanted, ("BK", "BN"), 0)
        if wanted == "i8":
            self.whole_numbers = True
            self.before.append("acc = tl.zeros((BM, BN), dtype=tl.int32)")
            self.body.append(f"acc = tl.dot({a}, {b}, acc)")
        else:
            self.before.append("acc = tl.zeros((BM, BN), dtype=tl.float32)")
            self.body.append(f"acc = tl.dot({a}, {b}, acc)" if self.chance(0.8) else f"acc += tl.dot({a}, {b}) * 2.0")
            if self.chance(0.12):
                c = self.operand("c", types[1], wanted, ("BK", "BN"), 0)
                self.before.append("more = tl.zeros((BM, BN), dtype=tl.float32)")
                self.body.append(f"more = tl.dot({a}, {c}, more)")
                self.after.append("acc += more")
        self.store("acc", "BM", "BN")

    def chain(self) -> None:
        """Two products, one behind the other, as in attention."""
        wanted = self.one("bf16", "fp16")
        self.depth = self.one(32, 64)
        self.before += [f"q = tl.load({self.pointer('q_ptr', wanted)} + rm[:, None] * {self.number('q_stride')} + rn[None, :])",
                        "acc = tl.zeros((BM, BN), dtype=tl.float32)"]
        k = self.operand("keys", wanted, wanted, ("BN", "BK"), 1)
        self.body.append(f"s = tl.dot(q, {k})")
        if self.chance(0.5):
            self.body.append("s = tl.exp2(s - tl.max(s, 1)[:, None])")
        v = self.operand("values", wanted, wanted, ("BK", "BN"), 0)
        self.body.append(f"acc = tl.dot(s.to(tl.{dtype(wanted)}), {v}, acc)")
        self.store("acc", "BM", "BN")

    def sums(self) -> None:
        """No product."""
        type = self.one("bf16", "fp32", "fp16", "i8")
        self.before.append("acc = tl.zeros((BM, BK), dtype=tl.float32)")
        self.tile("a", type, ("BM", "BK"), 1)
        self.body.append("acc += a.to(tl.float32)")
        if self.chance(0.4):
            self.tile("b", type, ("BM", "BK"), 1)
            self.body.append("acc = tl.maximum(acc, b.to(tl.float32))")
        self.columns = self.depth
        self.store("acc", "BM", "BK")

    def store(self, name: str, rows: str, columns: str) -> None:
        place = "rn" if columns == "BN" else "rk"
        self.after.append(f"tl.store({self.pointer('out', 'fp32')} + rm[:, None] * {self.number('out_stride')} + {place}[None, :], {name}.to(tl.float32))")

    def source(self) -> str:
        self.number("k")
        lines = ["m, n = tl.program_id(0) * BM, tl.program_id(1) * BN", "rm, rn, rk = m + tl.arange(0, BM), n + tl.arange(0, BN), tl.arange(0, BK)", *self.before,
                 f"for i in {self.loop}:", *(f"    {line}" for line in self.body), *self.after]
        arguments = ", ".join([*self.arguments, "BM: tl.constexpr", "BN: tl.constexpr", "BK: tl.constexpr"])
        return f"@triton.jit\ndef {self.name}({arguments}):\n" + "".join(f"    {line}\n" for line in lines)

    def entry(self) -> str:
        return f"    ({self.name}, {self.arguments!r}, {dict(BM=self.rows, BN=self.columns, BK=self.depth)!r}, {self.options!r}),\n"


def dtype(type: str) -> str:
    return {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32", "fp8e4nv": "float8e4nv", "fp8e5": "float8e5", "i8": "int8"}[type]


def script(seeds) -> str:
    kernels = [Kernel(seed) for seed in seeds]
    text = "import triton\nimport triton.language as tl\n"
    text += "".join(f"\n\n{kernel.source()}" for kernel in kernels)
    return text + "\n\ndef heddle_kernels():\n    return [\n" + "".join("    " + kernel.entry() for kernel in kernels) + "    ]\n"


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    print(script(range(first, first + count)), end="")

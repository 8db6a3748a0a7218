#!/usr/bin/env python3
"""Rotated loops with the real Triton, without a GPU: pasted into their kernels they compile, and what Heddle says of them is what Triton
made: the later product is in flight while the exponentials run.

    rotated_test.py HEDDLE ROOT    exits 77, with the reason, where build/triton has no Triton (./test.sh --label wheel fetches it)
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import warm


def block(rows, columns):
    return f"tensordesc<bf16[{rows},{columns}]>"


FORWARD = dict(q=block(128, 64), k=block(64, 64), v=block(64, 64), o=block(128, 64), keys="i32", lo="i32", scale="fp32")
POINTERS = dict(q="*fp16", k="*fp16", v="*fp16", o="*fp16", keys="i32", stride="i32", scale="fp32")
WIDE = dict(FORWARD, q=block(128, 128), k=block(128, 128), v=block(128, 128), o=block(128, 128), lse="*fp32")
BACKWARD = dict(q=block(64, 64), do=block(64, 64), k=block(128, 64), v=block(128, 64), dk=block(128, 64), dv=block(128, 64), lse="*fp32",
                delta="*fp32", scale="fp32", length="i32")
# name -> types of the arguments, sizes, and which arguments are divisible by 16
CASES = {
    "attention_descriptors": (WIDE, dict(BM=128, BN=128, D=128, stages=3), ()),
    "attention_pointers_causal": (POINTERS, dict(BM=128, BN=64, D=64, stages=3, causal=True), ("q", "k", "v", "o", "keys", "stride")),
    "attention_bounds": (FORWARD, dict(BM=128, BN=64, D=64, stages=3), ()),
    "attention_stages": (FORWARD, dict(BM=128, BN=64, D=64, stages=3), ()),
    "attention_backward": (BACKWARD, dict(BM=64, BN=128, D=64, stages=2), ()),
}


def compile_kernel(path, name):
    """In a Python that has Triton."""
    import importlib.util

    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    spec = importlib.util.spec_from_file_location("rotated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, name.removesuffix("_causal"))
    types, sizes, divisible = CASES[name]
    names = [parameter.name for parameter in kernel.params]
    source = ASTSource(kernel, signature={n: "constexpr" if n in sizes else types[n] for n in names},
                       constexprs={(names.index(n),): size for n, size in sizes.items()},
                       attrs={(names.index(n),): [["tt.divisibility", 16]] for n in divisible})
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=dict(num_warps=8, num_stages=sizes["stages"]))
    json.dump(dict(shared=compiled.metadata.shared, ttgir=compiled.asm["ttgir"]), sys.stdout)


def loops(text):
    """Of each loop with products, what stands in it: "product", "wait", "exponentials"."""
    found = []
    for body in re.findall(r"(?ms)^( *)[^\n]*scf\.for(.*?)^\1}", text):
        words = {"warp_group_dot ": "product", "warp_group_dot_wait": "wait", "math.exp2": "exponentials"}
        events = [words[word] for word in re.findall(r"warp_group_dot_wait|warp_group_dot |math\.exp2", body[1])]
        if "product" in events:
            found.append(events)
    return found


def overlaps(events):
    """Whether exponentials run behind a product that nothing has waited for."""
    flying = False
    for event in events:
        if event == "exponentials" and flying:
            return True
        flying = event == "product" or (flying and event != "wait")
    return False


class Rotated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = cls.enterClassContext(warm.Python(PYTHON, ENVIRONMENT))

    def compiled(self, path, name, until_memory=""):
        with tempfile.TemporaryDirectory() as cache:
            environment = dict(ENVIRONMENT, TRITON_CACHE_DIR=cache, UNTIL_MEMORY=until_memory)
            result = subprocess.run([self.python, __file__, "--compile", path, name], env=environment, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_exponentials_run_while_the_later_product_is_in_flight(self):
        source = TEXTS / "rotated.py"
        lines = source.read_text().split("\n")
        with tempfile.TemporaryDirectory() as scratch:
            for name in CASES:
                result = subprocess.run([HEDDLE, "export", TEXTS / f"{name}.sm90.scheduled.ttgir", "--format", "python", "--source", source],
                                        capture_output=True, text=True, env=dict(os.environ, HEDDLE_STORE="off"))
                self.assertEqual(result.returncode, 0, result.stderr)
                first, last = map(int, re.search(r"lines (\d+) to (\d+) of rotated\.py", result.stdout).groups())
                changed = pathlib.Path(scratch) / "changed.py"
                changed.write_text("\n".join(lines[:first - 1] + result.stdout.rstrip("\n").split("\n") + lines[last:]))
                own, rotated = self.compiled(source, name, until_memory="1"), self.compiled(changed, name)
                with self.subTest(name):
                    self.assertEqual([overlaps(loop) for loop in loops(own["ttgir"])], [False] * len(loops(own["ttgir"])))
                    self.assertEqual([overlaps(loop) for loop in loops(rotated["ttgir"])], [True] * len(loops(own["ttgir"])))
                    # The backward pass reads two tiles twice, which Triton merges where both are of one iteration.
                    self.assertEqual(rotated["shared"], 98880 if name == "attention_backward" else own["shared"])


if __name__ == "__main__":
    if sys.argv[1] == "--compile":
        compile_kernel(*sys.argv[2:])
        sys.exit()
    HEDDLE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    PYTHON, TEXTS = ROOT / "build/triton/bin/python", ROOT / "tests/triton/texts/rotated"
    ENVIRONMENT = dict(os.environ, PYTHONPATH=str(ROOT / "scripts"), PYTHONWARNINGS="ignore", PYTHONDONTWRITEBYTECODE="1")
    if not PYTHON.exists():
        missing = ROOT / "build/triton-missing"
        print(f"skipped: {missing.read_text().strip() if missing.exists() else 'Triton was not fetched; ./test.sh --label wheel does'}")
        sys.exit(77)
    program = unittest.main(argv=[sys.argv[0], "-v"], exit=False)
    sys.exit(0 if program.result.wasSuccessful() else 1)

#!/usr/bin/env python3
"""scripts/triton_corpus.py with the real Triton on a folder of three small kernels, one of which does not compile, and what it says of bad input.

    corpus_test.py HEDDLE ROOT    exits 77, with the reason, where build/triton has no Triton (./test.sh --label wheel fetches it)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HEDDLE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
SCRIPT, PYTHON = ROOT / "scripts/triton_corpus.py", ROOT / "build/triton/bin/python"
KERNELS = '''
import package_that_nobody_has.deep as deep
import triton
import triton.language as tl
from .sizes import WIDTH, NOT_THERE

print("x" * 100)
while True:
    pass

class Module(deep.nn.Module):
    size = deep.version >= 3

@triton.jit
def row(base, at, stride):
    return base + at * stride

@triton.autotune(configs=[triton.Config({"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32}, num_warps=4, num_stages=3)], key=["K"])
@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a = row(a_ptr, m[:, None], stride_am) + k[None, :] * stride_ak
    b = b_ptr + k[:, None] * stride_bk + n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BLOCK_K * stride_ak
        b += BLOCK_K * stride_bk
    tl.store(c_ptr + m[:, None] * N + n[None, :], acc.to(tl.float16))

@triton.jit
def plain(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)

@triton.jit
def wrong(x, y, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)) + nobody_knows_this)
'''


def corpus(*words):
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ, HEDDLE=HEDDLE, HEDDLE_STORE="off", PYTHONDONTWRITEBYTECODE="1", PYTHONWARNINGS="ignore", TRITON_CACHE_DIR=cache)
        return subprocess.run([PYTHON, SCRIPT, *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment)


class Corpus(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        package = self.folder / "repository/package"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("raise SystemExit('no package is started')\n")
        (package / "sizes.py").write_text("WIDTH = 64\n")
        (package / "kernels.py").write_text(KERNELS)
        (package / "half.py").write_text("import triton\n@triton.jit\ndef half(:\n")

    def test_every_kernel_has_a_row_and_what_does_not_compile_has_its_sentence(self):
        result = corpus(self.folder / "repository", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        answer = json.loads(result.stdout)
        rows = {row["kernel"]: row for row in answer["rows"]}
        self.assertEqual(set(rows), {"product", "plain", "wrong"}, "a function that others call is no kernel")
        self.assertEqual(answer["unread_files"], 1)
        product = rows["product"]
        self.assertTrue(product.get("compared"), product)
        self.assertTrue(product.get("accepted"), product)
        self.assertEqual(product["back_predicted"], str(product["back_shared"]))
        self.assertEqual(product["predicted"], product["shared"])
        self.assertTrue(rows["plain"]["opened"] and not rows["plain"]["loop"], rows["plain"])
        self.assertIn("nobody_knows_this is not defined", rows["wrong"]["dump_fault"])
        self.assertEqual(answer["table"]["compared"], "1 of 1 (100 %)")
        self.assertEqual([each["step"] for each in answer["refusals"]], ["Triton"])

    def test_bad_words_are_one_sentence(self):
        for words, sentence in (((self.folder / "nowhere",), "there is no folder"), ((self.folder, "--target", "sm_1"), "there is no target 'sm_1'"),
                                ((self.folder, "--jobs", "0"), "--jobs and --seconds are 1 at least"),
                                ((self.folder / "repository/package/sizes.py",), "no Triton kernel was found")):
            result = corpus(*words)
            self.assertIn(result.returncode, (1, 2))
            self.assertEqual(result.stdout, "")
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(sentence, result.stderr)


if __name__ == "__main__":
    if not PYTHON.exists():
        print(f"skipped: there is no Triton in {PYTHON.parent.parent}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])

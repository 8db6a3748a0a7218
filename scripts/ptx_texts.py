#!/usr/bin/env python3
"""Makes PTX texts and launches with other toolchains, without a GPU, and lets Heddle check them.

    ptx_texts.py FOLDER                        with what is installed of Triton, TileLang, CuTe DSL (PyPI: triton, tilelang, nvidia-cutlass-dsl)
    ptx_texts.py FOLDER --only triton,cutlass  some of them
    ptx_texts.py FOLDER --cutlass TREE         also NVIDIA's examples in a checkout of CUTLASS: the C++ ones by nvcc, CuTe DSL's tutorials by python
    ptx_texts.py FOLDER --flash-attention TREE also FlashAttention 3 (with --cutlass, by nvcc, some minutes each) and 4 (PyPI: torch,
                                               quack-kernels, einops) of a checkout of Dao-AILab/flash-attention
    ptx_texts.py FOLDER --sizes                each launch also with the sizes that `heddle check --sizes auto` proposes

Each kernel has a folder FOLDER/NAME with what `heddle capture` wrote, and FOLDER/NAME.log; a folder that has launches already is only checked.
At the end a table says kernel, verdict and findings by rule. Exit code 0: all in order (there may be doubts, and kernels left out for want of a
toolchain), 4: something is not, 1: something could not be made. The heddle program is the one that HEDDLE names, else the one on PATH. Texts
that others' compilers made stay in FOLDER.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "ptx" / "capture" / "programs"
DSL = "examples/python/CuTeDSL"
TUTORIAL = f"{DSL}/experimental/task_scheduling/blackwell/tutorial"
BLACKWELL = f"{DSL}/cute/blackwell/kernel/dense_gemm/dense_gemm_persistent.py"
PERSISTENT = f"{DSL}/cute/hopper/kernel/dense_gemm/dense_gemm_persistent.py"
HALF = "--mnkl 512,512,320,1 --tile_shape_mn 128,128 --a_dtype Float16 --b_dtype Float16 --c_dtype Float16 --acc_dtype Float32 --c_major n"
SECONDS = 3600  # that one program has


class Recipe(NamedTuple):
    name: str
    toolchain: str  # of --only
    target: str
    source: str  # under PROGRAMS, or under the tree of CUTLASS where it is an example of NVIDIA's
    words: str = ""
    defined: str = ""  # macros, for nvcc

    def of_tree(self) -> bool:
        return self.source.startswith("examples/")


RECIPES = [
    Recipe("triton-gemm-90", "triton", "sm_90a", "triton_gemm.py"),
    Recipe("triton-gemm-100", "triton", "sm_100a", "triton_gemm.py"),
    Recipe("triton-gemm-specialized-100", "triton", "sm_100a", "triton_gemm.py", "specialized"),
    Recipe("triton-attention-90", "triton", "sm_90a", "triton_attention.py"),
    Recipe("triton-attention-specialized-100", "triton", "sm_100a", "triton_attention.py", "specialized"),
    Recipe("tilelang-gemm-90", "tilelang", "sm_90a", "tilelang_gemm.py"),
    Recipe("cute-scale-90", "cute_dsl", "sm_90a", "cute_scale.py"),
    Recipe("cute-persistent-1x1", "cute_dsl", "sm_90a", PERSISTENT, f"{HALF} --cluster_shape_mn 1,1"),
    Recipe("cute-persistent-2x1", "cute_dsl", "sm_90a", PERSISTENT, f"{HALF} --cluster_shape_mn 2,1"),
    Recipe("cute-tutorial-copy", "cute_dsl", "sm_100a", f"{TUTORIAL}/01_copy_basics_ts/02_copy_tma.py"),
    Recipe("cute-tutorial-gemm", "cute_dsl", "sm_100a", f"{TUTORIAL}/02_gemm_simple_ts/01_fp16_bf16_gemm_3.py", "--mnk 256,512,320"),
    Recipe("cute-tutorial-split-k", "cute_dsl", "sm_100a", f"{TUTORIAL}/06_gemm_split_k_fp16_ts/01_gemm_split_k_fp16.py"),
    Recipe("cutlass-48", "cutlass", "sm_90a", "examples/48_hopper_warp_specialized_gemm/48_hopper_warp_specialized_gemm.cu",
           "--m=512 --n=512 --k=512 --iterations=1"),
    Recipe("cute-blackwell-2sm", "cute_dsl", "sm_100a", BLACKWELL,
           "--mnkl 512,512,320,1 --mma_tiler_mn 256,128 --cluster_shape_mn 2,1 --use_2cta_instrs --use_tma_store --skip_ref_check "
           "--ab_dtype Float16 --c_dtype Float16 --acc_dtype Float32"),
    Recipe("flash-attention-3", "flash_attention", "sm_90a", "flash_attention_3.cu", "1024 704 4 2", "-DCLUSTER=2"),
    Recipe("flash-attention-4-90", "flash_attention", "sm_90a", "flash_attention_4.py"),
    Recipe("flash-attention-4-90-causal", "flash_attention", "sm_90a", "flash_attention_4.py", "causal"),
    Recipe("flash-attention-4-100", "flash_attention", "sm_100a", "flash_attention_4.py"),
    Recipe("flash-attention-4-100-causal", "flash_attention", "sm_100a", "flash_attention_4.py", "causal"),
    Recipe("cutlass-49", "cutlass", "sm_90a", "examples/49_hopper_gemm_with_collective_builder/49_collective_builder.cu", "--m=512 --n=512 --k=512"),
]
MODULES = {"triton": "triton", "tilelang": "tilelang", "cute_dsl": "cutlass", "flash_attention": "quack"}
# As FlashAttention's own setup.py says them.
FLASH = "-DNDEBUG -DCUTE_SM90_EXTENDED_MMA_SHAPES_ENABLED -DCUTLASS_ENABLE_GDC_FOR_SM90 --expt-extended-lambda -lcuda".split()


class Trees(NamedTuple):
    """Checkouts that the user names."""

    cutlass: Path | None
    flash: Path | None

# NVIDIA's examples compare with what torch computes, which needs cuBLAS and a GPU: products and comparisons are left out.
WITHOUT_PRODUCTS = """
import runpy, sys, torch
def empty(a, b, columns): return torch.empty(tuple(a.shape[:-1]) + (columns,), dtype=a.dtype, device=a.device)
torch.nn.functional.linear = lambda a, b, *rest: empty(a, b, b.shape[0])
torch.matmul = torch.mm = lambda a, b, *rest: empty(a, b, b.shape[-1])
torch.testing.assert_close = lambda *rest, **named: None
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Left(Exception):
    """What a kernel needs is not here."""


class Failed(Exception):
    """It is, and yet no launch came of it, or no answer."""


def find_heddle() -> str:
    found = os.environ.get("HEDDLE") or shutil.which("heddle")
    if not found:
        sys.exit("ptx_texts: no heddle program: name it by HEDDLE, or put it on PATH")
    return found


def compiled(recipe: Recipe, source: Path, trees: Trees, folder: Path) -> Path:
    """The source as a program that says to the stand-ins what it launches."""
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    if not os.access(nvcc, os.X_OK):
        raise Left("no nvcc")
    program = folder / recipe.name
    if program.exists():
        return program
    number = recipe.target.removeprefix("sm_")
    words = [nvcc, "-std=c++17", "-O1", "-lineinfo", "--expt-relaxed-constexpr", "-cudart", "shared",
             "-gencode", f"arch=compute_{number},code=compute_{number}"]
    words += [f"-I{trees.cutlass / part}" for part in ("include", "tools/util/include", "examples/common")]
    words += recipe.defined.split()
    if recipe.toolchain == "flash_attention":
        words += [f"-I{trees.flash / 'hopper'}", *FLASH]
    ended = subprocess.run(words + [str(source), "-o", str(program)], capture_output=True, text=True, timeout=SECONDS)
    if ended.returncode:
        raise Failed(f"nvcc: {(ended.stderr.strip().splitlines() or ['no reason is known'])[-1]}")
    return program


def command_of(recipe: Recipe, trees: Trees, folder: Path) -> list[str]:
    by_nvcc = recipe.source.endswith(".cu")
    if trees.cutlass is None and (recipe.of_tree() or by_nvcc):
        raise Left("needs --cutlass TREE")
    if trees.flash is None and recipe.toolchain == "flash_attention":
        raise Left("needs --flash-attention TREE")
    source = trees.cutlass / recipe.source if recipe.of_tree() else PROGRAMS / recipe.source
    if not source.is_file():
        raise Failed(f"{source} is not there")
    if by_nvcc:
        return [str(compiled(recipe, source, trees, folder / "programs")), *recipe.words.split()]
    module = MODULES[recipe.toolchain]
    if importlib.util.find_spec(module) is None:
        raise Left(f"{module} is not installed in {sys.executable}")
    if not recipe.of_tree():
        tree = [str(trees.flash)] if recipe.toolchain == "flash_attention" else []
        return [sys.executable, str(source), *tree, *recipe.words.split()]
    if importlib.util.find_spec("torch") is None:
        raise Left("torch is not installed")
    wrapper = folder / "programs" / "without_products.py"
    wrapper.write_text(WITHOUT_PRODUCTS)
    return [sys.executable, str(wrapper), str(source), *recipe.words.split()]


def capture(heddle: str, recipe: Recipe, trees: Trees, folder: Path) -> None:
    into = folder / recipe.name
    if any(into.glob("*.json")):
        return
    command = command_of(recipe, trees, folder)
    with open(folder / f"{recipe.name}.log", "w") as log:
        words = [heddle, "capture", "-o", str(into), "--target", recipe.target, "--", *command]
        try:
            subprocess.run(words, stdout=log, stderr=subprocess.STDOUT, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"not over after {SECONDS} seconds")
    if not any(into.glob("*.json")):
        raise Failed(f"nothing was captured: see {log.name}")


def rows_of(heddle: str, recipe: Recipe, folder: Path, sizes: bool) -> list[tuple[str, str, str]]:
    words = [heddle, "check", str(folder / recipe.name), "--json"] + (["--sizes", "auto"] if sizes else [])
    ended = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
    try:
        launches = json.loads(ended.stdout)["launches"]
    except (ValueError, KeyError):
        raise Failed(f"heddle check: {ended.stderr.strip() or ended.stdout.strip()}"[:300])
    rows = []
    for launch in launches:
        rules = collections.Counter((finding["rank"], finding["rule"]) for finding in launch["findings"])
        found = ", ".join(f"{rank} {rule} {number}" for (rank, rule), number in rules.items())
        name = f"{recipe.name}/{Path(launch['name']).stem}: {launch['kernel'][:48]}"
        verdict = launch["sentence"] if launch["verdict"] in ("stopped", "unreadable") else launch["verdict"].replace("_", " ")
        rows.append((name, verdict if len(verdict) < 100 else verdict[:97] + "...", found))
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", help="triton, tilelang, cute_dsl, cutlass, flash_attention: those, separated by commas")
    parser.add_argument("--cutlass", type=Path, metavar="TREE")
    parser.add_argument("--flash-attention", type=Path, metavar="TREE")
    parser.add_argument("--sizes", action="store_true")
    given = parser.parse_args()
    only = given.only.split(",") if given.only else sorted({recipe.toolchain for recipe in RECIPES})
    unknown = set(only) - {recipe.toolchain for recipe in RECIPES}
    if unknown:
        parser.error(f"--only: nothing is known of {', '.join(sorted(unknown))}")
    heddle, folder = find_heddle(), given.folder.resolve()
    (folder / "programs").mkdir(parents=True, exist_ok=True)
    trees = Trees(given.cutlass and given.cutlass.resolve(), given.flash_attention and given.flash_attention.resolve())
    rows, worst = [], 0
    for recipe in RECIPES:
        if recipe.toolchain not in only:
            continue
        print(f"{recipe.name} ...", file=sys.stderr, flush=True)
        try:
            capture(heddle, recipe, trees, folder)
            made = rows_of(heddle, recipe, folder, given.sizes)
        except Left as reason:
            made = [(recipe.name, f"left out: {reason}", "")]
        except (Failed, OSError, subprocess.TimeoutExpired) as reason:
            made = [(recipe.name, f"failed: {reason}", "")]
            worst = worst or 1
        rows += made
        if any(verdict == "not in order" for _, verdict, _ in made):
            worst = 4
    widths = [max(len(row[column]) for row in [("kernel", "verdict", "")] + rows) for column in (0, 1)]
    for row in [("kernel", "verdict", "findings")] + rows:
        print(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip())
    return worst


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Packages for PyTorch with the real PyTorch, as far as a machine without a GPU goes: they are built and installed, their own tests run, and a
forward and a backward kernel make a pair.

    torch_test.py HEDDLE ROOT    exits 77, with the reason, where build/torch has no PyTorch (./test.sh --slow --label torch fetches it)
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HEDDLE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
HERE, PYTHON = ROOT / "tests/torch", ROOT / "build/torch/bin/python"
PACKAGES = {"gemm": ["gemm_hopper"], "forward": ["attention_forward_hopper", "-p", "LSE=1"], "backward": ["attention_backward_hopper"]}


def run(*command, **environment):
    print("$", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, env={**os.environ, **environment}, stdin=subprocess.DEVNULL)


def reason_to_skip():
    if not PYTHON.exists():
        missing = ROOT / "build/torch-missing"
        return missing.read_text() if missing.exists() else "build/torch has no PyTorch"
    if not shutil.which("nvcc"):
        return "no nvcc to build extensions with"
    found = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, text=True)
    return found.stderr.strip().splitlines()[-1] if found.returncode else ""


def main():
    if reason := reason_to_skip():
        print("skipped:", reason)
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        site = pathlib.Path(scratch, "site")
        for folder, (kernel, *parameters) in PACKAGES.items():
            package = pathlib.Path(scratch, folder)
            schedule = ROOT / f"tests/schedules/{kernel}_h100.json"
            run(HEDDLE, "emit", kernel, "h100", schedule, *parameters, "--format", "torch", "-o", package)
            run(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action", "ignore", "--no-build-isolation", "--no-deps",
                "--upgrade", "--target", site, package)
            run(PYTHON, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", package / "tests", PYTHONPATH=str(site))
        run(PYTHON, HERE / "gradients.py", pathlib.Path(scratch, "forward"), pathlib.Path(scratch, "backward"), PYTHONPATH=str(site))
    return 0


if __name__ == "__main__":
    sys.exit(main())

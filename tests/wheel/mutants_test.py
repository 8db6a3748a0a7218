#!/usr/bin/env python3
"""Captures kernels that Triton's wheel compiles, without a GPU, and has test_ptx plant mistakes in their PTX. None of it is kept.

    mutants_test.py HEDDLE ROOT TEST_PTX sample|all    exits 77, with the reason, where build/triton has no Triton, or this build no capture
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HEDDLE, ROOT, TEST_PTX, HOW_MANY = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), os.path.abspath(sys.argv[3]), sys.argv[4]
PYTHON, PROGRAMS = ROOT / "build/triton/bin/python", ROOT / "tests/ptx/capture/programs"
# name -> target, program and its arguments
KERNELS = {
    "gemm_pointers_90": ("sm_90a", "triton_gemm_pointers.py"),
    "gemm_pointers_100": ("sm_100a", "triton_gemm_pointers.py"),
    "gemm_90": ("sm_90a", "triton_gemm.py"),
    "gemm_100": ("sm_100a", "triton_gemm.py"),
    "gemm_specialized_100": ("sm_100a", "triton_gemm.py", "specialized"),
    "attention_90": ("sm_90a", "triton_attention.py"),
    "attention_100": ("sm_100a", "triton_attention.py"),
    "attention_specialized_100": ("sm_100a", "triton_attention.py", "specialized"),
}


def main():
    if not PYTHON.exists():
        print("skipped: no Triton in build/triton (./test.sh --label wheel fetches it)")
        return 77
    if not (pathlib.Path(HEDDLE).parent / "capture").exists():
        print("skipped: built without CUDA's headers, so nothing can be captured")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, HEDDLE_STORE="off", PYTHONWARNINGS="ignore", PYTHONDONTWRITEBYTECODE="1")
        for name, (target, program, *words) in KERNELS.items():
            into = pathlib.Path(folder, name)
            done = subprocess.run([HEDDLE, "capture", "-o", into, "--target", target, "--", PYTHON, PROGRAMS / program, *words], env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if not (into / "0.json").exists():
                print(f"{name}: nothing was captured\n{done.stdout}{done.stderr}")
                return 1
        return subprocess.run([TEST_PTX, f"[wheel-{HOW_MANY}]"], env=dict(environment, HEDDLE_TRITON_TEXTS=folder), stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.exit(main())

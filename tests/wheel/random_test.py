#!/usr/bin/env python3
"""What Heddle predicts of random kernels (tests/triton/random_kernels.py), from the texts before and after Triton has scheduled them, against what the real
Triton builds: which loads become asynchronous copies, how deep their rings are, and shared memory.

    random_test.py HEDDLE ROOT COUNT [FIRST]    exits 77, with the reason, where build/triton has no Triton (./test.sh --label wheel fetches it)
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import warm

HEDDLE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
COUNT, FIRST = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1
SCRIPT, PYTHON = ROOT / "scripts/heddle_triton.py", ROOT / "build/triton/bin/python"
AT_ONCE = 10  # kernels of one process of Triton's
sys.path.insert(0, str(ROOT / "tests/triton"))
sys.dont_write_bytecode = True
import random_kernels


def built(text: str) -> list:
    """Of a final text: (slots, extents) of every ring."""
    rings = []
    for name, extents in re.findall(r"(%[\w.-]+) = ttg\.local_alloc : \(\) -> !ttg\.memdesc<((?:\d+x)+)(?!\d|i64)\w+,", text):
        if re.search(rf"memdesc_(?:index|subview) {re.escape(name)}\[", text):
            slots, *tile = map(int, extents.split("x")[:-1])
            rings.append((slots, tile))
    return sorted(rings)


def predicted(path: pathlib.Path) -> tuple[list, dict]:
    answer = subprocess.run([HEDDLE, "audit", path, "--no-solve", "--json"], capture_output=True, text=True, env=dict(os.environ, HEDDLE_STORE="off"))
    assert answer.returncode in (0, 4), f"{path.name}: {answer.stderr}"
    audit = json.loads(answer.stdout)
    rings = []
    for load in (load for loop in audit["loops"] for load in loop["loads"] if load["slots"] > 0):
        extents = re.match(r"([\dx]+) ", load["tile"])  # of a number there are none
        rings.append((load["slots"], [int(extent) for extent in extents[1].split("x")] if extents else [1]))
    return sorted(rings), audit["memory"]


def differences(final: pathlib.Path) -> list[str]:
    rings, shared = built(final.read_text()), json.loads(final.with_suffix(".json").read_text())["shared"]
    found = []
    for form in ("input", "scheduled"):
        mine, memory = predicted(final.with_name(final.name.replace(".final.", f".{form}.")))
        if mine != rings:
            found.append(f"{final.name}, {form}: rings {mine}, Triton builds {rings}")
        if memory["shared_bytes"] != shared and memory["exact"]:
            found.append(f"{final.name}, {form}: {memory['shared_bytes']} bytes, Triton takes {shared}")
    return found


def main() -> int:
    if not PYTHON.exists():
        print("no Triton in build/triton: ./test.sh --label wheel fetches it")
        return 77
    environment = dict(os.environ, HEDDLE=HEDDLE, HEDDLE_STORE="off", PYTHONWARNINGS="ignore", PYTHONPATH=str(SCRIPT.parent), PYTHONDONTWRITEBYTECODE="1")
    wrong, kernels = [], 0
    with tempfile.TemporaryDirectory() as folder, warm.Python(PYTHON, environment) as python:
        for first in range(FIRST, FIRST + COUNT, AT_ONCE):
            out = pathlib.Path(folder, str(first))
            out.mkdir()
            script = out / "kernels.py"
            script.write_text(random_kernels.script(range(first, min(first + AT_ONCE, FIRST + COUNT))))
            dump = subprocess.run([python, SCRIPT, "dump", script, "--target", "sm_90", "-o", out], capture_output=True, text=True,
                                  env=dict(environment, UNTIL_MEMORY="1", TRITON_CACHE_DIR=f"{folder}/cache"))
            assert dump.returncode in (0, 1), dump.stderr
            for final in sorted(out.glob("*.final.ttgir")):
                kernels += 1
                wrong += differences(final)
    print("\n".join([*wrong, f"{kernels} kernels from seed {FIRST}: {len(wrong)} differences"]))
    assert kernels >= COUNT * 9 // 10, "most of the kernels do not compile"
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that C++ files are laid out as .clang-format says; with --fix it lays them out.

    format.py ROOT [--fix]     prints one line per place and exits 1 if there is any; 77 where this clang-format is not installed

Versions differ in details, so one is agreed on: that of Debian 12. A file that a table makes readable by hand says `clang-format off`.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

VERSION = "14"
SKIPPED = 77
FILES_AT_ONCE = 40


def clang_format():
    """The command, or none."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path and re.search(rf"version {VERSION}\.", subprocess.run([path, "--version"], capture_output=True, text=True).stdout):
            return path
    return None


def main():
    root = pathlib.Path(sys.argv[1])
    program = clang_format()
    if not program:
        print(f"clang-format {VERSION} is not installed (Debian package clang-format)")
        return SKIPPED
    files = sorted(str(path.relative_to(root)) for room in ("app", "core", "ptx", "solver", "codegen", "tests")
                   for suffix in ("*.h", "*.cpp") for path in (root / room).rglob(suffix))
    action = ["-i"] if "--fix" in sys.argv[2:] else ["--dry-run"]
    batches = [files[i:i + FILES_AT_ONCE] for i in range(0, len(files), FILES_AT_ONCE)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda batch: subprocess.run([program, *action, *batch], cwd=root, capture_output=True, text=True), batches)
        places = [line for run in runs for line in run.stderr.splitlines() if "warning:" in line or "error:" in line]
    for place in places[:50]:
        print(place)
    if places:
        print(f"{len(places)} place(s); tests/layering/format.py . --fix lays them out")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())

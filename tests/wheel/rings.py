"""What Triton makes of scheduled texts, as JSON: {TEXT: {"rings": [[slots, tile], ...], "warps": all of a CTA}}.

    rings.py TEXT...

Each text runs through the rest of Triton's passes in a process of its own; for what Triton fails on there is nothing (null)."""
import json
import os
import pathlib
import re
import sys
import tempfile

from triton.backends.nvidia.compiler import CUDABackend

import heddle_triton

CUDABackend.make_llir = CUDABackend.make_ptx = CUDABackend.make_cubin = lambda *words: ""  # the rings are there before


def rings(path):
    with tempfile.TemporaryDirectory() as folder:
        if child := os.fork():
            os.waitpid(child, 0)
        else:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            text = path.read_text()
            stages = re.search(r"tt\.num_stages = (\d+)", text)  # rings between partitions follow the option
            heddle_triton.finish_here({"whole": True, "text": str(path), "form": heddle_triton.form_of(text), "folder": folder,
                                       "target": int(re.search(r'"cuda:(\d+)"', text)[1]),
                                       "options": heddle_triton.options_for(path, text, {"num_stages": int(stages[1])} if stages else {})})
            os._exit(0)
        final = pathlib.Path(folder, "finished.ttgir")
        text = final.read_text() if final.exists() else None
    if text is None:
        return None
    # A warp group has names of its own for what it is handed.
    aliases = {}
    for handed, groups in re.findall(r"ttg\.warp_specialize\(([^)]*)\)(.*?)(?=ttg\.warp_specialize|\Z)", text, re.S):
        for arguments in re.findall(r"^ *partition\d+\((.*?)\) num_warps", groups, re.M):
            for outside, inside in zip(handed.split(", "), re.findall(r"(%[\w-]+): ", arguments)):
                aliases.setdefault(outside, []).append(inside)
    allocations = re.findall(r"(%[\w-]+) = ttg\.local_alloc : \(\) -> !ttg\.memdesc<(\d+)x([^,]*),", text)
    found = [(int(slots), tile) for name, slots, tile in allocations if not tile.endswith("i64") and
             any(f"memdesc_index {each}[" in text for each in [name, *aliases.get(name, [])])]
    warps = int(re.search(r'"ttg.num-warps" = (\d+)', text)[1]) + sum(map(int, re.findall(r"^ *partition\d+\(.*\) num_warps\((\d+)\)", text, re.M)))
    return {"rings": found, "warps": -(-warps // 4) * 4}


print(json.dumps({path: rings(pathlib.Path(path)) for path in sys.argv[1:]}))

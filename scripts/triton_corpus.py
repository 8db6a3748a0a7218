#!/usr/bin/env python3
"""Tries Heddle on every Triton kernel of some folders: what opens, what is compared, what Triton takes back, and what is refused, by class.

    triton_corpus.py FOLDER... [--target sm_90] [--heddle PROGRAM] [-o DIR] [--jobs N] [--most N] [--seconds S] [--json]

No GPU is needed, and no package but Triton: others are stood in for. Sources are read where they lie; DIR (none by default) gets the texts.
Arguments are guessed from names, defaults and first configurations, so a row says what Heddle makes of a kernel, not how fast somebody runs it.
"""

# Each kernel is tried in a process of its own, forked from one that has Triton loaded: it may crash, hang or print as it likes. It writes
# down what is known after each step, and the table is made of that.

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import re
import resource
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))
import heddle_triton  # noqa: E402
import triton_guess  # noqa: E402
from heddle_triton import Fault  # noqa: E402

MOST_PRINTED = 16 << 20  # bytes that a kernel's process may write into one file


class Found(NamedTuple):
    """A kernel in a source: its file, the folder that the user named, its name there."""
    root: Path
    path: Path
    name: str
    has_loop: bool


# ---- which kernels there are --------------------------------------------------------------------------------------------------------------
def kernels_of(tree: ast.Module) -> list[ast.FunctionDef]:
    """Those that are launched: functions under @triton.jit that give nothing back and that no other one calls."""
    jitted = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and any(triton_guess.is_jit(each) for each in node.decorator_list)]
    called = {node.func.id for function in jitted for node in ast.walk(function) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}

    def gives(function: ast.FunctionDef) -> bool:
        return any(isinstance(node, ast.Return) and node.value and not (isinstance(node.value, ast.Constant) and node.value.value is None)
                   for node in ast.walk(function))

    return [function for function in jitted if function.name not in called and not gives(function)]


def find(folders: list[Path], most: int) -> tuple[list[Found], int]:
    """The kernels of all folders, those without a loop of their own last, `most` of each folder; and how many files cannot be read."""
    found, unread = [], 0
    for root in folders:
        here = []
        for path in sorted(root.rglob("*.py") if root.is_dir() else [root]):
            try:
                text = heddle_triton.read_file(path)
                tree = ast.parse(text) if re.search(r"@[\w.]*jit\b", text) else ast.Module([], [])
            except (Fault, OSError, ValueError, SyntaxError, RecursionError):
                unread += 1
                continue
            for function in kernels_of(tree):
                loops = any(isinstance(node, (ast.For, ast.While)) for node in ast.walk(function))
                here.append(Found(root.resolve(), path.resolve(), function.name, loops))
        here.sort(key=lambda kernel: not kernel.has_loop)
        with_loop = sum(kernel.has_loop for kernel in here)
        if most and most < with_loop:  # spread over the folder
            here = [here[at * with_loop // most] for at in range(most)]
        found += here[:most] if most else here
    return found, unread


# ---- one kernel ---------------------------------------------------------------------------------------------------------------------------
class Row:
    """What is known of a kernel, in a file that outlives its process."""

    def __init__(self, path: Path, kernel: Found):
        self.path, self.known = path, {"kernel": kernel.name, "file": os.path.relpath(kernel.path, kernel.root.parent)}

    def put(self, **known: Any) -> None:
        self.known.update(known)
        heddle_triton.write_file(self.path, json.dumps(self.known))

    def step(self, name: str, ask: Any) -> Any:
        """What `ask` gives. A fault is a refusal of this step; the row says so."""
        self.put(step=name)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            return ask()
        except (Fault, OSError, ValueError) as fault:
            self.put(**{f"{name}_fault": str(fault)})
            return None
        finally:
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.put(**{f"{name}_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime})


def text_of(kernel: Found, target: int, folder: Path, row: Row) -> Path | None:
    """The text that Triton makes of a kernel before its schedule is carried out, for the first guess of arguments that it compiles with."""
    row.put(step="dump")
    triton = heddle_triton.load_triton()
    dumper = heddle_triton.Dumper(triton, target, folder, False, folder / "printed")
    dumper.install()
    heddle_triton.until_memory()
    module = triton_guess.load(kernel.path, kernel.root)
    guess = triton_guess.Guess(triton, getattr(module, kernel.name, None), kernel.name)
    first = ""
    for entry in guess.entries():
        try:
            dumper.compile_named(*entry)
        except Fault as fault:
            dumper.why = str(fault)
        texts = sorted(folder.glob("*.scheduled.ttgir"))
        if texts:
            specialized = texts[0].with_name(texts[0].name.replace(".scheduled.", ".partitioned."))
            row.put(compiled=True, shared=json.loads(texts[0].with_suffix(".json").read_text()).get("shared"), guessed=repr(entry[1:]))
            return specialized if specialized.exists() else texts[0]
        first = first or dumper.why
        guess.failed(dumper.why)
        row.put(dump_fault=first)
    return None


def try_kernel(kernel: Found, target: int, folder: Path, row: Row) -> None:
    text = text_of(kernel, target, folder, row)
    if not text:
        return
    def audit_of(answer: dict) -> dict:
        return {"loops": answer.get("loops"), "predicted": answer["memory"]["shared_bytes"], "exact": answer["memory"]["exact"]}

    audit = row.step("audit", lambda: heddle_triton.ask_heddle("audit", text, "--no-solve", "--json", accepted=(0, 4), read=audit_of))
    if audit is None:
        return
    row.put(opened=True, loop=bool(re.search(r"(?m)^ *(%\S+ = )?scf\.(for|while)", text.read_text())), **audit)
    periods = row.step("compare", lambda: heddle_triton.ask_heddle(
        "compare", text, "--format", "json", accepted=(0, 5), searches=1, read=lambda answer: [side.get("period") for side in answer["sides"]]))
    if periods is None:
        return
    row.put(compared=True, periods=periods)
    same = folder / "same.ttgir"
    if row.step("export", lambda: heddle_triton.ask_heddle("export", text, "--format", "ttgir", "--out", same, "--quiet") or True):
        row.put(identical=same.read_text() == text.read_text())
    plain = text.with_name(text.name.replace(".partitioned.", ".scheduled."))
    if back := row.step("back", lambda: heddle_triton.give_back(plain, [], folder, whole=False)):
        _, predicted, _, metadata = back
        row.put(accepted=True, back_predicted=predicted, back_shared=metadata.get("shared"))


def child(kernel: Found, target: int, folder: Path, path: Path, seconds: int) -> None:
    """The process of one kernel; does not return."""
    code = 1
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_PRINTED, MOST_PRINTED))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        os.environ["TRITON_CACHE_DIR"] = str(folder / "cache")
        printed = os.open(folder / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(printed, stream)
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        row = Row(path, kernel)
        try:
            try_kernel(kernel, target, folder, row)
            row.put(step="done")
        except BaseException as fault:  # SystemExit too: it is the kernel's module that has ended
            row.put(dump_fault=row.known.get("dump_fault") or f"{type(fault).__name__}: {fault}")
        code = 0
    finally:
        os._exit(code)


# ---- all kernels --------------------------------------------------------------------------------------------------------------------------
def row_of(path: Path, kernel: Found, ended: str, folder: Path) -> dict:
    """What the process wrote down, and how it ended where it did not end by itself."""
    try:
        row = json.loads(path.read_text())
    except (OSError, ValueError):
        row = {"kernel": kernel.name, "file": os.path.relpath(kernel.path, kernel.root.parent), "step": "dump"}
    if ended:
        said = ""
        for log in ("said", "printed", "passes"):
            with contextlib.suppress(OSError):
                said += heddle_triton.telling_lines((folder / log).read_text(errors="replace")[-100000:])
        why = f": {said.splitlines()[-1]}" if said else ""
        row.setdefault(f"{row['step']}_fault", ended + why)
        row["ended"] = ended
    return row


def try_all(kernels: list[Found], target: int, out: Path, jobs: int, seconds: int) -> list[dict]:
    rows: list[dict | None] = [None] * len(kernels)
    running: dict[int, tuple[int, float, Path]] = {}
    waiting = list(range(len(kernels)))[::-1]
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                at = waiting.pop()
                folder = out / f"{at:04}"
                folder.mkdir(parents=True, exist_ok=True)
                sys.stdout.flush()
                if not (process := os.fork()):
                    child(kernels[at], target, folder, folder / "row.json", seconds)
                running[process] = (at, time.monotonic() + 4 * seconds, folder)  # of a machine with other work
            for process, (at, end, folder) in list(running.items()):
                ended, status = os.waitpid(process, os.WNOHANG)
                late = time.monotonic() > end
                if not ended and not late:
                    continue
                with contextlib.suppress(ProcessLookupError):  # also what it has left behind
                    os.killpg(process, signal.SIGKILL)
                if not ended:
                    os.waitpid(process, 0)
                number = os.WTERMSIG(status) if ended and os.WIFSIGNALED(status) else 0
                slow = late and not ended or number in (signal.SIGXCPU, signal.SIGKILL)
                how = f"no end after {seconds} s" if slow else f"crashed (signal {number})" if number else ""
                rows[at] = row_of(folder / "row.json", kernels[at], how, folder)
                del running[process]
                done = len(kernels) - len(waiting) - len(running)
                heddle_triton.say(f"{done} of {len(kernels)}: {kernels[at].name}: {state_of(rows[at])}")
            time.sleep(0.02)
    finally:
        for process in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
    return [row for row in rows if row]


def state_of(row: dict) -> str:
    for step in ("back", "export", "compare", "audit", "dump"):
        if fault := row.get(f"{step}_fault"):
            if step != "dump" or not row.get("compiled"):
                return f"{step}: {fault}"
    return "given back" if row.get("accepted") else "compared" if row.get("compared") else "opened" if row.get("opened") else "nothing is known"


def class_of(fault: str) -> str:
    """A refusal without what is particular to one kernel: names in quotes, numbers, places."""
    fault = re.sub(r"^\S*\.(?:ttgir|py)(?::\d+)*(?:#\d+)?:?\s*", "", fault)
    fault = re.sub(r"'[^']*'|\"[^\"]*\"|%\w+", "'...'", fault)
    fault = re.sub(r"\(line[^)]*\)|, in line \d+ of its source|\(?\w*/?\w+\.py:\d+\)?", "", fault)
    return re.sub(r"\d+", "N", fault)[:110].strip()


def table_of(rows: list[dict]) -> list[tuple[str, str]]:
    compiled = [row for row in rows if row.get("compiled")]
    opened = [row for row in compiled if row.get("opened")]
    loop = [row for row in opened if row.get("loop")]
    compared = [row for row in loop if row.get("compared")]
    back = [row for row in compared if row.get("accepted")]
    known = [row for row in opened if row.get("shared") is not None]
    same = sum(row["predicted"] == row["shared"] for row in known)
    hedged = sum(row["predicted"] != row["shared"] and not row["exact"] for row in known)
    right = sum(str(row["back_shared"]) == row["back_predicted"].removeprefix("about ") for row in back)
    seconds = sorted(row["compare_seconds"] for row in loop if "compare_seconds" in row)
    share = f" ({100 * len(compared) // len(loop)} %)" if loop else ""
    time_words = f"median {statistics.median(seconds):.2f}, worst {seconds[-1]:.1f}" if seconds else "-"
    return [
        ("kernels found", str(len(rows))),
        ("compiled by Triton", str(len(compiled))),
        ("opened", f"{len(opened)} of {len(compiled)}"),
        ("with a loop", str(len(loop))),
        ("compared", f"{len(compared)} of {len(loop)}{share}"),
        ("shared memory as predicted", f"{same} of {len(known)}; {hedged} more are said to be about"),
        ("export without a schedule changes nothing", f"{sum(bool(row.get('identical')) for row in compared)} of {len(compared)}"),
        ("given back and accepted by Triton", f"{len(back)} of {len(compared)}"),
        ("its shared memory as predicted", f"{right} of {len(back)}"),
        ("crashed or without end", str(sum("ended" in row for row in rows))),
        ("CPU seconds of a comparison", time_words),
    ]


def refusals(rows: list[dict]) -> list[tuple[int, str, str]]:
    """How often each kind of refusal came, with one example of it, by step; those of Triton last."""
    counts: Counter = Counter()
    example: dict[tuple, str] = {}
    for row in rows:
        for step in ("audit", "compare", "export", "back", "dump"):
            fault = row.get(f"{step}_fault")
            if fault and not (step == "dump" and row.get("compiled")) and not (step == "compare" and not row.get("loop")):
                kind = (step == "dump", step, class_of(fault))
                counts[kind] += 1
                example.setdefault(kind, f"{row['kernel']} ({row['file']}): {fault}")
    order = sorted(counts, key=lambda kind: (kind[0], -counts[kind]))
    return [(counts[kind], "Triton" if kind[0] else kind[1], example[kind]) for kind in order]


def main(words: list[str]) -> int:
    parser = heddle_triton.Parser(prog="triton_corpus.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("folders", metavar="FOLDER", nargs="+", type=Path)
    parser.add_argument("--target", default="sm_90", help="sm_90: Hopper (default), sm_100: Blackwell, ...")
    parser.add_argument("--heddle", help="the heddle program (default: that of heddle_triton.py)")
    parser.add_argument("-o", "--out", type=Path, help="keeps texts, rows and what was printed")
    parser.add_argument("--jobs", type=int, default=1, help="kernels at the same time (default 1)")
    parser.add_argument("--most", type=int, default=0, help="of each folder, spread over it (default: all)")
    parser.add_argument("--seconds", type=int, default=120, help="of CPU time that a kernel may take (default 120)")
    parser.add_argument("--json", action="store_true", help="table, refusals and rows as JSON")
    options = parser.parse_args(words)
    if options.jobs < 1 or options.most < 0 or options.seconds < 1:
        raise Fault("--jobs and --seconds are 1 at least, --most is 0 (all) at least", 2)
    for folder in options.folders:
        if not folder.exists():
            raise Fault(f"there is no folder {folder}", 2)
    if options.heddle:
        os.environ["HEDDLE"] = os.path.abspath(options.heddle) if os.path.exists(options.heddle) else options.heddle
    heddle_triton.find_heddle()
    target = heddle_triton.target_number(options.target)
    kernels, unread = find(options.folders, options.most)
    if not kernels:
        raise Fault("no Triton kernel was found: no function under @triton.jit that no other one calls")
    heddle_triton.load_triton()
    triton_guess.warm()
    os.environ["HEDDLE_STORE"] = "off"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.ExitStack() as stack:
        out = options.out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rows = try_all(kernels, target, out.resolve(), options.jobs, options.seconds)
    table, refused = table_of(rows), refusals(rows)
    if options.json:
        print(json.dumps({"table": dict(table), "unread_files": unread, "refusals": [dict(zip(("count", "step", "example"), each)) for each in refused],
                          "rows": rows}, indent=1))
        return 0
    for name, value in table:
        print(heddle_triton.printable(f"{name:<43}{value}"))
    if refused:
        print("\nrefusals, how often, by whom, and one of each")
    for count, step, example in refused:
        print(heddle_triton.printable(f"{count:>5}  {step:<8}{' '.join(example.split())[:400]}"))
    print("\nArguments are guessed, and nothing was run on a GPU.")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Fault as fault:
        heddle_triton.say(str(fault))
        sys.exit(fault.code)
    except KeyboardInterrupt:
        sys.exit(130)

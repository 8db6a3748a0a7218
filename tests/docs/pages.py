#!/usr/bin/env python3
"""Runs the commands that README.md and the pages under docs/ show, and compares what they print with what the pages say.

    pages.py HEDDLE ROOT [PAGE...]            exits 1 if a command does not end, or print, as its page says
    pages.py HEDDLE ROOT [PAGE...] --slow     the same of commands that take long, and only of those
    pages.py HEDDLE ROOT [PAGE...] --renew    puts what is printed now into the pages (with --slow: of what takes long)
    pages.py HEDDLE ROOT [PAGE...] --times    also says what processor time each command took, the longest first
    pages.py --self-test                      plants faults in a page and exits 1 if one is overlooked

Every line of an indented block that begins with `./run.sh`, `heddle` or `mkdir`, or with `$` and one of them, is run, in a folder of the
page's own.

- It ends with 0, or with the N of "exit code N" in its comment. Where its comment says "II N", it prints that.
- What stands below a line with `$` is what it prints: a line `...` stands for lines left out, ` ...` at the end of a line for the rest
  of it. Seconds may differ.
- A table is held where a comment before it says so: a command, and for columns what of its output stands in them. A row is held
  if it has a comment with what takes the places {1}, {2} ... there, separated by semicolons. A value is a path into the JSON that is
  printed (a.b, a[0], a[name=x].b), or a pattern with one group:
  /took (\\d+)/, with a star behind it for all that fit. Numbers of a cell are compared as it rounds them.

      <!-- docs: rows ./run.sh solve {1} --json
        II = ii
        stages, warps = stages warps
      -->
      | kernel | II | stages, warps |
      |---|---:|---|
      | gemm<!-- gemm_hopper h100 --> | 1024 | 3, 9 |

- `<!-- docs: file x.ttgir = kernels/triton/a.ttgir -->` says what a reader's own file is here.

Commands of one run share a store of kept answers and one of compiled kernels, so a question that several of them put is searched once, and a
text compiled once; nothing is kept from run to run.
Left out is what needs a GPU, a window, a cluster or another host, `compile` where no compiler is, and what runs out of time.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

PAGES = ["README.md", "docs/tour.md", "docs/model.md", "docs/command_line.md", "docs/triton.md", "docs/layouts.md", "docs/files.md", "docs/code_generator.md", "docs/packages.md", "docs/ptx.md", "docs/figures.md", "docs/limits.md"]
ELSEWHERE = re.compile(r"(run\.sh|heddle) (run|bench|profile|calibrate|capture|gui)\b(?!.*--(emit-only|list))|--(slurm|on)\b|(check|show) (launch|gemm\.ptx|all\.ptx)")
# What takes some ten seconds of processor time.
SLOW = re.compile(
    r" (price attention|calibrate \S+ --emit-only|solve attention_backward|emit attention_backward|slack .*--exact|alternatives|pareto|validate|compare .* b200|(solve|simulate) .*(forward_fp8|parts|tile_black).*--json"
    r"|compile .* b200|tune attention|solve attention_backward.*--choose all|--study balance)"
)
# What may stop with less where its time runs out, which a busy machine must not decide.
TIMED = re.compile(r"(?:run\.sh|heddle) (solve|explain|price|slack|latency|sensitivity|alternatives|paper|compare|show|export|emit|compile|interpret|simulate|traffic|period|family|pareto|audit) (?!.*--timeout)")
COMMAND = re.compile(r"(\$ )?((?:\./run\.sh|heddle|mkdir) +[^ #].*)")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
PATH = re.compile(r"/[^/]*/\*?|\S+")
SECONDS = re.compile(r"\d+(\.\d+)? (ms|s)\b")
LIMIT_S = 500


class Failure(Exception):
    """Why a command, an output or a cell is not as the page says."""


class Run:
    """What a command printed on standard output, and how it ended."""

    def __init__(self, command, done):
        self.command, self.code = command, done.returncode
        self.lines = done.stdout.rstrip("\n").split("\n")
        self.text = done.stdout
        self.said = (done.stderr.strip() or done.stdout.strip()).split("\n")[-1][:200]

    def values(self, path):
        """What `path` names in the output, as often as it is there where it ends with a star."""
        if path.endswith("/*"):
            return [number_or_text(text) for text in re.findall(path[1:-2], self.text)]
        return [self.value(path)]

    def value(self, path):
        """What `path` names in the output: a number or a string."""
        if path.startswith("/"):
            found = re.search(path.strip("/"), self.text)
            if not found:
                raise Failure(f"{self.command} prints nothing like {path}")
            return number_or_text(found[1])
        try:
            at = json.loads(self.text)
            for name, index, wanted in re.findall(r"(\w+)|\[(\d+)\]|\[(\w+=[^\]]+)\]", path):
                if name:
                    at = at[name]
                elif index:
                    at = at[int(index)]
                else:
                    key, value = wanted.split("=")
                    at = next(item for item in at if str(item[key]) == value)
        except (ValueError, LookupError, TypeError, StopIteration):
            raise Failure(f"{self.command} prints no {path}") from None
        return at


class Place:
    """A folder in which a page's commands find what the repository has, and a home without answers of before."""

    shared = {}  # command: (a lock, [what it printed]), of commands that neither read nor write files of a page
    times = []  # (seconds of processor time, command)

    def __init__(self, heddle, root, store):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="heddle_pages_"))
        self.root = root
        for name in ("kernels", "scripts", "assets", "tests"):
            (self.folder / name).symlink_to(root / name)
        for name, called in (("run.sh", "./run.sh"), ("bin/heddle", "heddle")):
            program = self.folder / name
            program.parent.mkdir(exist_ok=True)
            program.write_text(f'#!/bin/sh\nHEDDLE_CALLED={called} exec "{heddle}" "$@"\n')
            program.chmod(0o755)
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("HEDDLE_", "COLUMNS"))}
        self.environment |= {"HOME": str(self.folder), "HEDDLE_STORE": str(store), "XDG_CACHE_HOME": f"{store}/cache", "LC_ALL": "C.UTF-8", "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}

    def run(self, command):
        """Pre: the commands before it on its page have been run."""
        bare = re.sub(r"\s+# .*", "", command)
        if TIMED.search(bare):
            bare += f" --timeout {LIMIT_S - 10}"
        if " tune " in bare:
            bare += f" --solve-timeout {LIMIT_S - 10}"
        own_files = re.search(r"\.(json|jsonl|ttgir|cu|svg)\b|micro", bare)
        lock, answer = (threading.Lock(), []) if own_files else self.shared.setdefault(bare, (threading.Lock(), []))
        with lock:
            if not answer:
                answer.append(self.run_anew(bare))
        return answer[0]

    def run_anew(self, command):
        read, write = os.pipe()
        script = f"{command}\ncode=$?\ntimes >&{write}\nexit $code"
        try:
            done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, pass_fds=[write])
            return Run(command, done)
        except subprocess.TimeoutExpired:
            raise Failure(f"{command} takes more than {LIMIT_S} s") from None
        finally:
            os.close(write)
            with open(read) as times:
                spent = sum(60 * float(minutes) + float(seconds) for minutes, seconds in re.findall(r"(\d+)m([\d.]+)s", times.read()))
            self.times.append((spent, command))

    def remove(self):
        shutil.rmtree(self.folder)


def number_or_text(text):
    return float(text) if NUMBER.fullmatch(text) else text


# Outputs.

def masked(line):
    return SECONDS.sub("# s", line.rstrip())


def is_gap(line):
    return line.strip() == "..."


def is_cut(line):
    return line.endswith(" ...") and not is_gap(line)


def same_line(shown, printed):
    if is_cut(shown):
        return masked(printed).startswith(masked(shown[:-4]))
    return masked(shown) == masked(printed)


def runs_of(shown):
    """Lines that follow each other, between gaps: [(the gap before them, or nothing, lines)], and the gap at the end."""
    runs, gap = [], ""
    for line in shown:
        if is_gap(line):
            gap = line
        elif gap or not runs:
            runs.append((gap, [line]))
            gap = ""
        else:
            runs[-1][1].append(line)
    return runs, gap


def likeness(shown, printed):
    """How much of the words of a shown line a printed one has, numbers apart."""
    words = re.findall(r"[^\W\d]\w*", shown)
    there = re.findall(r"[^\W\d]\w*", printed)
    return sum(word in there for word in words) - 0.1 * abs(len(words) - len(there)) if not is_cut(shown) else sum(word in there for word in words)


def first_difference(shown, printed):
    """Nothing where the printed lines are as shown; else a shown line and what stands in its place."""
    runs, open_end = runs_of(shown)
    at = 0
    for number, (gap, lines) in enumerate(runs):
        fits = [start for start in range(at, len(printed) - len(lines) + 1) if all(same_line(s, p) for s, p in zip(lines, printed[start:]))]
        last = number == len(runs) - 1 and not open_end
        if not gap:
            fits = [start for start in fits if start == at]
        if last:
            fits = [start for start in fits if start + len(lines) == len(printed)]
        if not fits:
            start = at if not gap else max(range(at, len(printed)), key=lambda i: likeness(lines[0], printed[i]), default=at)
            for offset, line in enumerate(lines):
                there = printed[start + offset] if start + offset < len(printed) else "(nothing)"
                if not same_line(line, there):
                    return line, there
            return lines[-1], "more lines"
        at = fits[0] + len(lines)
    return None


def cut_like(old, new):
    """The new line, cut where the old one was, at a blank."""
    if not is_cut(old) or len(new) <= len(old) - 4:
        return new
    part = new[: len(old) - 4]
    if new[len(part)] != " " and " " in part.strip():
        part = part[: part.rstrip().rfind(" ")] if not part.endswith(" ") else part
    return part.rstrip() + " ..."


def renewed(shown, printed):
    """The printed lines, with those left out that were."""
    runs, open_end = runs_of(shown)
    if len(runs) == 1 and not runs[0][0] and not open_end:
        runs = [(False, runs[0][1] + [""] * (len(printed) - len(runs[0][1])))]
    result, at = [], 0
    for number, (gap, lines) in enumerate(runs):
        start = at
        if gap and number == len(runs) - 1 and not open_end:
            start = max(at, len(printed) - len(lines))
        elif gap:
            start = max(range(at, len(printed)), key=lambda i: (likeness(lines[0], printed[i]), -i), default=at)
        if gap:
            result.append(gap)
        for old, new in zip(lines, printed[start:]):
            result.append(old if same_line(old, new) else cut_like(old, new))
        at = start + len(lines)
    return result + [open_end] * bool(open_end)


# Cells.

def cell_with(cell, values):
    """The cell with these values in place of its first numbers, each rounded as the number there is."""
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    values = list(values)

    def replace(found):
        if not values:
            return found[0]
        value = values.pop(0)
        decimals = len(found[0].partition(".")[2])
        sign = "+" if found[0].startswith("+") and value >= 0 else ""
        return f"{sign}{value:.{decimals}f}"

    text = NUMBER.sub(replace, cell)
    if values:
        raise Failure(f"'{cell}' has fewer numbers than the table's comment wants")
    return text


# Pages.

class Page:
    """A page's lines, and what of them was found wrong or renewed."""

    def __init__(self, path, name, place, slow, renew):
        self.path, self.name, self.place, self.slow, self.renew = path, name, place, slow, renew
        self.lines = path.read_text().split("\n")
        self.faults, self.changes, self.left_out, self.held = [], [], [], 0

    def complain(self, line, text):
        self.faults.append(f"{self.name}:{line + 1}: {text}")

    def directive(self, first):
        """What the last comment for us before line `first` says, with only blank lines between."""
        end = first - 1
        while end >= 0 and not self.lines[end].strip():
            end -= 1
        if end < 0 or not self.lines[end].rstrip().endswith("-->"):
            return ""
        begin = end
        while begin > 0 and "<!--" not in self.lines[begin]:
            begin -= 1
        text = "\n".join(self.lines[begin : end + 1])
        found = re.fullmatch(r"\s*<!-- docs: (.*?)\s*-->\s*", text, re.DOTALL)
        return found[1] if found else ""

    def go(self):
        for line in self.lines:
            if found := re.fullmatch(r"<!-- docs: file (\S+) = (\S+) -->", line):
                (self.place.folder / found[1]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.place.root / found[2], self.place.folder / found[1])
        at = 0
        while at < len(self.lines):
            if self.lines[at].startswith("    ") and (at == 0 or not self.lines[at - 1].strip()):
                at = self.block(at)
            elif self.lines[at].startswith("|"):
                at = self.table(at)
            else:
                at += 1
        if self.renew and self.changes:
            for begin, end, new in sorted(self.changes, reverse=True):
                self.lines[begin:end] = new
            self.path.write_text("\n".join(self.lines))

    def block(self, begin):
        end = begin
        while end < len(self.lines) and (self.lines[end].startswith("    ") or not self.lines[end].strip()):
            end += 1
        while not self.lines[end - 1].strip():
            end -= 1
        starts = [i for i in range(begin, end) if COMMAND.match(self.lines[i][4:])]
        for i, following in zip(starts, starts[1:] + [end]):
            shown_below, command = COMMAND.match(self.lines[i][4:]).groups()
            try:
                if shown_below:
                    while following < end and not self.lines[following - 1].strip():
                        following -= 1
                    self.output(i, following, command)
                else:
                    self.command(i, command)
            except Failure as failure:
                self.complain(i, str(failure))
        return end

    def ran(self, command):
        """What it printed; nothing where it is not to be run now, or cannot run here."""
        if bool(SLOW.search(command)) != self.slow:
            return None
        if ELSEWHERE.search(command):
            self.left_out.append(command)
            return None
        comment = command.partition(" # ")[2]
        run = self.place.run(command)
        if run.code == 5 or run.code == 6 and " compile " in command:
            self.left_out.append(command)
            return None
        said = re.search(r"exit(?: code)? (\d+)", comment)
        if run.code != (int(said[1]) if said else 0):
            raise Failure(f"{run.command} ends with {run.code}: {run.said}")
        self.held += 1
        return run

    def command(self, line, command):
        run = self.ran(command)
        if not run:
            return
        claim = re.search(r"\bII (\d+)", command.partition(" # ")[2])
        if not claim:
            return
        is_so = run.value(r"/II (\d+)/")
        if is_so == float(claim[1]):
            return
        if not self.renew:
            raise Failure(f"says {claim[0]}, and it is {is_so:.0f}")
        self.changes.append((line, line + 1, [self.lines[line].replace(claim[0], f"II {is_so:.0f}")]))

    def output(self, line, end, command):
        run = self.ran(command)
        if not run:
            return
        shown = [text[4:] for text in self.lines[line + 1 : end]]
        while shown and not shown[-1].strip():
            shown.pop()
        difference = first_difference(shown, run.lines)
        if not difference:
            return
        if not self.renew:
            raise Failure(f"{run.command}\n    shown:   {difference[0]}\n    printed: {difference[1]}")
        indent = lambda text: f"    {text}".rstrip()
        self.changes.append((line + 1, line + 1 + len(shown), [indent(text) for text in renewed(shown, run.lines)]))

    def table(self, begin):
        end = begin
        while end < len(self.lines) and self.lines[end].startswith("|"):
            end += 1
        found = re.fullmatch(r"rows (\S[^\n]*)\n(.*)", self.directive(begin), re.DOTALL)
        if not found:
            return end
        columns = dict(clause.strip().split(" = ", 1) for clause in found[2].strip().split("\n"))
        names = [cell.strip().replace("`", "") for cell in self.lines[begin].split("|")]
        for name in columns:
            if name not in names:
                self.complain(begin, f"the table has no column '{name}'")
                return end
        for i in range(begin + 2, end):
            if not (row := re.search(r"<!-- (.*?) -->", self.lines[i])):
                continue
            holes = {str(number + 1): text.strip() for number, text in enumerate(row[1].split(";"))}
            fill = lambda text: re.sub(r"\{(\d)\}", lambda hole: holes.get(hole[1], ""), text)
            try:
                self.row(i, fill(found[1]), {names.index(name): [fill(path) for path in PATH.findall(paths)] for name, paths in columns.items()})
            except Failure as failure:
                self.complain(i, str(failure))
        return end

    def row(self, line, command, columns):
        run = self.ran(command)
        if not run:
            return
        cells = self.lines[line].split("|")
        for column, paths in columns.items():
            cell = cells[column].strip()
            new = cell_with(cell, [value for path in paths for value in run.values(path)])
            if new == cell:
                continue
            if not self.renew:
                raise Failure(f"{run.command}\n    shown:   {cell}\n    printed: {new}")
            cells[column] = f" {new} "
        if self.renew and "|".join(cells) != self.lines[line]:
            self.changes.append((line, line + 1, ["|".join(cells)]))


def look_at(heddle, root, name, slow, renew, store):
    place = Place(heddle, root, store)
    try:
        page = Page(root / name, name, place, slow, renew)
        page.go()
        return page
    finally:
        place.remove()


def look_at_all(heddle, root, names, slow=False, renew=False):
    with tempfile.TemporaryDirectory(prefix="heddle_pages_store_") as store, concurrent.futures.ThreadPoolExecutor(2) as threads:
        return list(threads.map(lambda name: look_at(heddle, root, name, slow, renew, store), names))


def self_test():
    """A page whose every kind of claim is wrong is complained of, renewed, and then in order."""
    wrong = """# Page

    $ ./run.sh say
    first 2
    table  a long l ...
    ...
    last 3
    took 7.0 s

    ./run.sh fail        # refused, exit code 3
    ./run.sh say x       # II 5
    heddle run never     # needs a GPU

<!-- docs: rows ./run.sh json {1}
  II = ii
  share = share[name=b].share
  word = word
-->

| kernel | II | share | word |
|---|---:|---:|---|
| a<!-- x --> | 3 | 12.0 % | old |
| not held | 3 | 12.0 % | old |
"""
    right = wrong.replace("first 2", "first 1").replace("a long l ...", "a long ...").replace("last 3", "last 4").replace("# II 5", "# II 8")
    right = right.replace("--> | 3 | 12.0 % | old", "--> | 7 | 13.4 % | new")
    program = """#!/bin/sh
case $1 in
  say) printf 'first 1\\ntable  a long row\\nmore\\nII 8\\nlast 4\\ntook 6.5 s\\n' ;;
  json) echo '{"ii": 7, "word": "new", "share": [{"name": "a", "share": 1}, {"name": "b", "share": 13.37}]}' ;;
  *) exit 3 ;;
esac
"""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "heddle").write_text(program)
        (root / "heddle").chmod(0o755)
        (root / "page.md").write_text(wrong)
        Place.shared.clear()
        faults = look_at_all(root / "heddle", root, ["page.md"])[0].faults
        after = look_at_all(root / "heddle", root, ["page.md"], renew=True)[0].faults
        text = (root / "page.md").read_text()
        still = look_at_all(root / "heddle", root, ["page.md"])[0].faults
        (root / "page.md").write_text(right.replace("exit code 3", "fine"))
        unexpected = look_at_all(root / "heddle", root, ["page.md"])[0].faults
    problems = []
    if [fault.split(": ")[0] for fault in faults] != ["page.md:3", "page.md:11", "page.md:22"]:
        problems.append(f"found: {faults}")
    if after or still:
        problems.append(f"after renewing: {after + still}")
    if text != right:
        problems.append(f"renewed as:\n{text}")
    if len(unexpected) != 1:
        problems.append(f"of an exit code that is not said: {unexpected}")
    print("\n".join(problems) or "in order")
    return 1 if problems else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heddle", nargs="?")
    parser.add_argument("root", nargs="?")
    parser.add_argument("pages", nargs="*", default=PAGES)
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    given = parser.parse_intermixed_args()
    if given.self_test:
        return self_test()
    if not given.root:
        parser.error("HEDDLE and ROOT are needed")
    pages = look_at_all(pathlib.Path(given.heddle).resolve(), pathlib.Path(given.root).resolve(), given.pages or PAGES, given.slow, given.renew)
    for page in pages:
        print("\n".join(page.faults + [f"{page.name}: left out: {command}" for command in page.left_out]))
        print(f"{page.name}: {page.held} commands ran, {len(page.faults)} faults, {len(page.changes)} places {'renewed' if given.renew else 'to renew'}")
    if given.times:
        for seconds, command in sorted(Place.times, reverse=True):
            print(f"{seconds:7.2f} s  {command}")
    return 1 if any(page.faults for page in pages) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What of scripts/heddle_triton.py needs no Triton: no check, no use; nothing of ours stops a program; what it says.

    script_test.py HEDDLE ROOT
"""

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
import unittest

HEDDLE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
HERE, SCRIPT = ROOT / "tests/wheel", ROOT / "scripts/heddle_triton.py"
GOOD = ROOT / "tests/triton/texts/attention_forward.sm90.scheduled.ttgir"
BROKEN = re.sub(r"(math.exp2 %\w+ \{loop.cluster = 0 : i32, loop.stage = )2", r"\g<1>1", GOOD.read_text(), count=1)
HOSTILE = "a\u009b31m\u2066b\b\x1b[2Jc\u202e"


def python(program, *words, heddle=HEDDLE, path=None, **options):
    environment = dict(os.environ, HEDDLE_STORE="off", PYTHONPATH=f"{SCRIPT.parent}:{HERE}", PYTHONDONTWRITEBYTECODE="1", HEDDLE=heddle)
    environment.pop("HEDDLE_CALLED", None)
    if path is not None:
        environment["PATH"] = path
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([sys.executable, "-c", program, *map(str, words)], env=environment, text=True, stdin=subprocess.DEVNULL, timeout=120, **options)


def use(folder, **options):
    return python("import no_triton, sys, heddle_triton\nprint('use:', heddle_triton.use(sys.argv[1]))\nprint('went on')", folder, **options)


class Script(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def test_what_passes_the_check_is_used_and_what_does_not_is_not(self):
        self.write("good.ttgir", GOOD.read_text())
        self.assertEqual(use(self.folder).stdout, "use: True\nwent on\n")
        self.assertNotEqual(BROKEN, GOOD.read_text())
        self.write("good.ttgir", BROKEN)
        result = use(self.folder)
        self.assertEqual(result.stdout, "use: False\nwent on\n")
        self.assertIn("good.ttgir is not used: triton-order: ", result.stderr)

    def test_what_cannot_be_checked_is_not_used(self):
        self.write("good.ttgir", GOOD.read_text())
        here = f"{pathlib.Path(HEDDLE).parent}:{os.environ['PATH']}"  # a heddle on PATH is not the one that HEDDLE means
        for heddle, sentence in (("heddlex", "HEDDLE is 'heddlex', and there is no such program"), ("/nowhere/heddle", "there is no such program"),
                                 (f"{HEDDLE} -q", f"HEDDLE is '{HEDDLE} -q', and there is no such program; it takes a name or a path, without options"),
                                 (str(self.folder), "cannot be run (Permission denied)")):
            result = use(self.folder, heddle=heddle, path=here)
            self.assertEqual(result.stdout, "use: False\nwent on\n", heddle)
            self.assertIn(sentence, result.stderr)
        self.assertEqual(use(self.folder, heddle="", path=here).stdout, "use: True\nwent on\n")
        alone = self.write("alone/heddle_triton.py", SCRIPT.read_text()).parent  # no heddle beside it either
        result = python("import sys\nsys.path.insert(0, sys.argv[2])\nimport no_triton, heddle_triton\nprint(heddle_triton.use(sys.argv[1]))",
                        self.folder, alone, heddle="", path="/nowhere")
        self.assertEqual(result.stdout, "False\n")
        self.assertEqual(result.stderr, "heddle_triton: Triton uses its own schedules: there is no heddle program: set HEDDLE to its path, or put it on PATH\n")

    def test_a_triton_that_crashes_or_hangs_in_finish_is_one_sentence(self):
        text = self.write("good.scheduled.ttgir", GOOD.read_text())
        for triton, sentence in (("import os\nos.abort()", "Triton crashed (signal 6) on good.scheduled.ttgir: "),
                                 ("import sys, time\nprint('LLVM ERROR: what it says', file=sys.stderr, flush=True)\nsys.exit(3)",
                                  "Triton failed on good.scheduled.ttgir: LLVM ERROR: what it says"),
                                 ("import time\ntime.sleep(1000)", "Triton does not end on good.scheduled.ttgir within 1 s (HEDDLE_FINISH_SECONDS allows more)")):
            folder = self.write("fake/triton.py", triton).parent
            environment = dict(os.environ, HEDDLE=HEDDLE, HEDDLE_STORE="off", HEDDLE_FINISH_SECONDS="1" if "sleep" in triton else "60",
                               PYTHONPATH=str(folder), PYTHONDONTWRITEBYTECODE="1")
            result = subprocess.run([sys.executable, SCRIPT, "finish", text], env=environment, capture_output=True, text=True, timeout=120)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(sentence, result.stderr)
        self.assertEqual(list(self.folder.glob("*.finished.*")), [])

    def test_a_stderr_that_takes_nothing_stops_no_program(self):
        self.write("broken.ttgir", BROKEN)
        with open("/dev/full", "w") as full:
            result = use(self.folder, stderr=full)
        self.assertEqual((result.returncode, result.stdout), (0, "use: False\nwent on\n"))
        for program in ("sys.stderr = None", "sys.stderr.close()", "os.close(2)", "sys.stderr = io.StringIO()"):
            result = python(f"import no_triton, io, os, sys, heddle_triton\n{program}\nprint(heddle_triton.use(sys.argv[1]))", self.folder)
            self.assertEqual((result.returncode, result.stdout), (0, "False\n"), program)
        read, write = os.pipe()
        os.close(read)
        result = use(self.folder, stderr=write)
        os.close(write)
        self.assertEqual((result.returncode, result.stdout), (0, "use: False\nwent on\n"))

    def test_files_that_are_none_are_skipped_with_a_sentence(self):
        self.write("good.ttgir", GOOD.read_text())
        os.mkfifo(self.folder / "fifo.ttgir")
        (self.folder / "zero.ttgir").symlink_to("/dev/zero")
        (self.folder / "folder.ttgir").mkdir()
        (self.folder / "dangling.ttgir").symlink_to("/nowhere/x")
        began = time.monotonic()
        result = use(self.folder, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)))
        self.assertLess(time.monotonic() - began, 60)
        self.assertEqual(result.stdout, "use: True\nwent on\n")
        for name in ("fifo", "zero", "folder"):
            self.assertIn(f"heddle_triton: {name}.ttgir is not used: {name}.ttgir is no regular file\n", result.stderr)
        self.assertIn("heddle_triton: dangling.ttgir is not used: ", result.stderr)
        os.mkfifo(self.folder / "good.json")  # Triton's options lie beside a text
        result = use(self.folder)
        self.assertEqual(result.stdout, "use: False\nwent on\n")
        self.assertIn("good.ttgir is not used: ", result.stderr)

    def test_a_file_that_has_no_end_is_not_read_to_it(self):
        with open(self.write("long.ttgir", ""), "r+b") as file:
            file.truncate(1 << 40)
        result = use(self.folder)
        self.assertEqual(result.stdout, "use: False\nwent on\n")
        self.assertIn("long.ttgir has more than 64 MiB", result.stderr)

    def test_a_heddle_that_writes_without_end_is_ended(self):
        self.write("good.ttgir", GOOD.read_text())
        for words in ("exec yes", "exec yes >&2", "yes & yes >&2 & wait"):
            result = use(self.folder, heddle=str(self.write("flood", f"#!/bin/sh\n{words}\n", 0o755)))
            self.assertEqual(result.stdout, "use: False\nwent on\n")
            self.assertIn("flood writes without end", result.stderr)

    def test_a_heddle_that_hangs_behind_closed_streams_is_ended(self):
        self.write("good.ttgir", GOOD.read_text())
        program = self.write("hang", "#!/bin/sh\nexec >&- 2>&-\nsleep 300\n", 0o755)
        result = python("import no_triton, sys, heddle_triton\nheddle_triton.SECONDS = 1\nprint(heddle_triton.use(sys.argv[1]))", self.folder, heddle=str(program))
        self.assertEqual(result.stdout, "False\n")
        self.assertIn("gave no answer to 'check' in 1 s", result.stderr)

    def test_names_cannot_steer_the_terminal(self):
        hostile = [HOSTILE + "\nheddle_triton: FORGED", "\udc9b31m"]
        self.write(f"{HOSTILE}\nx.ttgir", BROKEN)
        os.mkdir(self.folder / "none")
        results = [use(self.folder), use(f"/nowhere/{HOSTILE}\nheddle_triton: FORGED"), use(self.folder / "none", heddle=HOSTILE)]
        main = f"import runpy, sys\nimport no_triton\nsys.argv = ['x', *sys.argv[1:]]\nrunpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
        for name in hostile:
            for words in ([name], ["dump", name], ["dump", "--" + name], ["dump", SCRIPT, "--target", name], ["finish", name], ["finish", GOOD, "-o", name],
                          ["finish", GOOD, "--num-warps", name], ["solve", name], ["dump", name, "-o", name], ["solve", SCRIPT, "--machine", name, "-o", GOOD / name]):
                results.append(python(main, *words, errors="surrogateescape"))
        for result in results:
            for text in (result.stdout, result.stderr):
                self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]", result.args)
                self.assertNotIn("\nheddle_triton: FORGED", text)

    def test_where_no_schedule_exists_that_is_what_is_said(self):
        text = self.write("kernel.sm90.scheduled.ttgir", GOOD.read_text())
        self.write("kernel.sm90.scheduled.json", "{}")
        program = self.write("heddle", """#!/bin/sh
case $1 in
compare) echo '{"sides": [{"period": 2}, {"schedule": null, "why_not": "no schedule exists, proved"}, {"period": 1}]}' ;;
audit) echo '{"memory": {"exact": true, "shared_bytes": 1}}' ;;
esac
""", 0o755)
        result = python("import pathlib, sys, heddle_triton\nprint(heddle_triton.solve_one(pathlib.Path(sys.argv[1]), [], pathlib.Path('.'), [''] * 6))", text,
                        heddle=str(program))
        self.assertEqual(result.stdout, "left to Triton: no schedule exists, proved\n", result.stderr)

    def test_the_reason_is_said_and_not_the_end_of_a_picture(self):
        picture = "at 12:8:\n    x = tl.dot(a, b)\n        ^"
        program = f"""import heddle_triton, types
class CompilationError(Exception):
    node, error_message = types.SimpleNamespace(lineno=12), None
    __str__ = lambda self: {picture!r}
inner, outer = CompilationError(), CompilationError()
inner.__cause__, outer.__cause__ = ValueError("shapes differ"), inner
print(heddle_triton.reason_of(outer, ""))
inner.__cause__ = None
inner.error_message = "B must be three"
print(heddle_triton.reason_of(outer, ""))
printed = "x.py:3:4: remark: fine\\nLLVM ERROR: unsupported load type for producer commit\\n"
print(heddle_triton.reason_of(RuntimeError("PassManager::run failed"), printed))
print(heddle_triton.reason_of(RuntimeError("PassManager::run failed"), "x.py:3:4: error: no such thing\\n"))
print(heddle_triton.reason_of(RuntimeError("PassManager::run failed"), ""))
"""
        self.assertEqual(python(program).stdout.splitlines(),
                         ["ValueError: shapes differ, in line 12 of its source", "B must be three, in line 12 of its source",
                          "LLVM ERROR: unsupported load type for producer commit", "x.py:3:4: error: no such thing", "PassManager::run failed"])

    def test_the_script_can_be_started_and_says_commands_that_can_be_typed(self):
        self.assertTrue(os.access(SCRIPT, os.X_OK))
        result = subprocess.run([SCRIPT, "--help"], capture_output=True, text=True, cwd=ROOT)
        command = re.search(r"^    (.*heddle_triton\.py) dump SCRIPT", result.stdout, re.M)[1]
        again = subprocess.run([*command.split(), "dump", "--help"], capture_output=True, text=True, cwd=ROOT)
        self.assertEqual((again.returncode, again.stdout.split()[:2]), (0, ["usage:", command.split()[0]]))
        result = python("import heddle_triton\nprint(heddle_triton.heddle_command())", path=f"{pathlib.Path(HEDDLE).parent}:{os.environ['PATH']}", heddle="")
        self.assertEqual(result.stdout, "heddle\n")
        result = python("import heddle_triton\nprint(heddle_triton.heddle_command())", cwd=pathlib.Path(HEDDLE).parent)
        self.assertEqual(result.stdout, "./heddle\n")


if __name__ == "__main__":
    program = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False)
    sys.exit(not program.result.wasSuccessful())

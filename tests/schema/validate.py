#!/usr/bin/env python3
"""Checks that the JSON Schemas are sound and that every file of ours validates against the schema it names.

    validate.py ROOT HEDDLE    asks the program HEDDLE for the schemas, and for an answer of every command that has one; prints one line per
                               fault and exits 1 if there is any; exits 77 without python3-jsonschema
"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("python3-jsonschema is not installed; nothing checked")
    sys.exit(77)

FOLDERS = ("kernels", "assets/machines", "assets/published", "tests/golden")
KINDS = ("kernel", "machine", "schedule", "constraints", "project", "pareto", "simulation", "traffic", "measurement", "job", "result",
         "request", "reply", "space", "published", "validation", "race")
LINES = {"tests/schema/example.jobs.jsonl": "heddle.job/1", "tests/schema/example.results.jsonl": "heddle.result/1",
         "tests/schema/example.requests.jsonl": "heddle.request/1", "tests/schema/example.replies.jsonl": "heddle.reply/1",
         "assets/published/measurements.jsonl": "heddle.published/1"}

TOY = ("toy_fig1", "toy")
BEST = (*TOY, "best.json")  # what the first answer saves
RING = ("{root}/tests/kernels/ring.json", "{root}/tests/kernels/ring_machine.json")  # its latencies are not always the same
GEMM = ("gemm_hopper", "h100", "gemm_hopper/cutlass-cooperative")
ANSWERS = {
    "solve": [(*TOY, "--out", "best.json"), (*TOY, "--ii", "1"), (*RING, "--within", "20%"), (*TOY, "--robust"),
              ("attention_backward_hopper", "h100", "--choose", "all", "--timeout", "5")],
    "alternatives": [TOY, (*TOY, "--count", "2"), ("gemm_hopper", "h100", "--count", "2")],
    "analyze": [TOY, ("gemm_hopper", "h100")],
    "check": [BEST, (*BEST, "--demand", "at most 1 stage")],
    "compare": [TOY, ("gemm_hopper", "h100", "--timeout", "5")],
    "compile": [GEMM],
    "diff": [(*BEST, "best.json"), (*GEMM, "best_gemm.json")],
    "eval": [("toy_fig1",)],
    "explain": [TOY, (*TOY, "--demand", "at most 1 stage")],
    "family": [(*TOY, "--vary", "groups=1..2")],
    "fit": [("h100", "--timeout", "1")],
    "latency": [(*TOY, "S")],
    "layout": [("(64,64):(64,1)",), ("attention_backward_hopper", "h100", "--value", "dqs0")],
    "paper": [TOY],
    "period": [TOY, (*GEMM, "--programs", "100", "--if", "MMA0.duration=+10%")],
    "pareto": [TOY, ("gemm_hopper", "h100", "--against", "stages")],
    "ptx_check": [("{root}/tests/ptx/texts/one_slot.json", "--sizes", "auto"), ("{root}/tests/ptx/texts/one_slot.json", "--limit", "20")],
    "ptx_show": [("{root}/tests/ptx/texts/gemm_blackwell.json",), ("{root}/assets/ptx/hanging_gemm.ptx",)],
    "price": [(*TOY, "--demand", "at most 1 stage"), ("gemm_hopper", "h100", "--max-stages", "2")],
    "sensitivity": [TOY],
    "simulate": [BEST, RING, GEMM, (*BEST, "--study", "jitter"), (*BEST, "--study", "numbers"), (*BEST, "--study", "depth"),
                 (*GEMM, "--study", "depth"), (*RING, "--study", "depth"), (*BEST, "--study", "balance")],
    "slack": [BEST, (*BEST, "--exact"), GEMM],
    "traffic": [BEST, GEMM],
    "validate": [("--timeout", "1")],
}
NO_COMPILER = 6  # kEnvironment
SCHEMAS_OF = {"simulate": "simulation"}  # others are called as their command
COMMANDS = {"ptx_check": "check", "ptx_show": "show"}
LAUNCHES = "tests/ptx/texts"  # whose files name their format by another word, as `heddle capture` writes them


def schema_of(heddle, kind):
    """The name of its format, and a judge of documents."""
    schema = json.loads(subprocess.run([heddle, "schema", kind], check=True, capture_output=True).stdout)
    Draft202012Validator.check_schema(schema)
    name, version = schema["$id"].split(":")[2:]
    return f"heddle.{name}/{version}", Draft202012Validator(schema)


def faults_of(where, judge, document):
    for error in judge.iter_errors(document):
        pointer = "".join(f"/{part}" for part in error.absolute_path)
        yield f"{where}: {pointer}: {error.message[:400]}"


def answer_faults(root, heddle, used):
    """Of what the commands answer."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([heddle, "solve", "gemm_hopper", "h100", "--timeout", "5", "--out", "best_gemm.json"], cwd=folder, capture_output=True)
        for command, calls in ANSWERS.items():
            name, judge = schema_of(heddle, SCHEMAS_OF.get(command, command))
            for call in calls:
                words = [COMMANDS.get(command, command), *(word.format(root=root) for word in call), "--json"]
                where = "heddle " + " ".join(words)
                run = subprocess.run([heddle, *words], cwd=folder, capture_output=True)
                try:
                    document = json.loads(run.stdout)
                except ValueError:
                    yield f"{where}: exit code {run.returncode}, no JSON: {run.stderr.decode()[:200]}"
                    continue
                if command == "compile" and run.returncode == NO_COMPILER:
                    continue
                if "error" in document:
                    yield f"{where}: {document}"
                    continue
                used[name] = used.get(name, 0) + 1
                yield from faults_of(where, judge, document)


def main(arguments):
    if len(arguments) != 3:
        print(__doc__)
        return 2
    root, heddle = pathlib.Path(arguments[1]).resolve(), str(pathlib.Path(arguments[2]).resolve())
    schemas = dict(schema_of(heddle, kind) for kind in KINDS)
    faults, used = [], {name: 0 for name in schemas}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.json")):
            document = json.loads(path.read_text())
            name = document.get("schema") if isinstance(document, dict) else None
            if name is None and folder == "tests/golden":
                continue  # other programs' formats have goldens too
            where = path.relative_to(root)
            if name not in schemas:
                faults.append(f"{where}: no schema for {name!r}")
                continue
            used[name] += 1
            faults += faults_of(where, schemas[name], document)
    for where, name in LINES.items():  # JSON Lines, which need not name their schema
        for number, line in enumerate((root / where).read_text().splitlines(), 1):
            if line.startswith("#"):
                continue
            used[name] += 1
            faults += faults_of(f"{where}:{number}", schemas[name], json.loads(line))
    name, judge = schema_of(heddle, "launch")
    for path in sorted((root / LAUNCHES).glob("*.json")):
        used[name] = used.get(name, 0) + 1
        faults += faults_of(path.relative_to(root), judge, json.loads(path.read_text()))
    faults += answer_faults(root, heddle, used)
    faults += [f"{name}: no file to try the schema on" for name, count in used.items() if count == 0]
    for fault in faults:
        print(fault)
    if not faults:
        print(", ".join(f"{name}: {count} valid" for name, count in used.items()))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

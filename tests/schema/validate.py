#!/usr/bin/env python3
"""Checks that the JSON Schemas are sound and that every file of ours validates against the schema it names.

    validate.py ROOT HEDDLE    asks the program HEDDLE for the schemas; prints one line per fault and exits 1 if there is any; exits 77
                               without python3-jsonschema
"""

import json
import pathlib
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("python3-jsonschema is not installed; nothing checked")
    sys.exit(77)

FOLDERS = ("kernels", "assets/machines", "assets/published", "tests/golden")
KINDS = ("kernel", "machine", "schedule", "constraints", "project", "pareto", "simulation", "traffic", "measurement", "job", "result",
         "request", "reply", "space", "published", "validation")
LINES = {"tests/schema/example.jobs.jsonl": "heddle.job/1", "tests/schema/example.results.jsonl": "heddle.result/1",
         "tests/schema/example.requests.jsonl": "heddle.request/1", "tests/schema/example.replies.jsonl": "heddle.reply/1",
         "assets/published/measurements.jsonl": "heddle.published/1"}


def schemas_of(heddle):
    schemas = {}
    for kind in KINDS:
        schema = json.loads(subprocess.run([heddle, "schema", kind], check=True, capture_output=True).stdout)
        Draft202012Validator.check_schema(schema)
        schemas[schema["properties"]["schema"]["const"]] = Draft202012Validator(schema)
    return schemas


def main(arguments):
    if len(arguments) != 3:
        print(__doc__)
        return 2
    root = pathlib.Path(arguments[1])
    schemas = schemas_of(arguments[2])
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
            for error in schemas[name].iter_errors(document):
                pointer = "".join(f"/{part}" for part in error.absolute_path)
                faults.append(f"{where}: {pointer}: {error.message}")
    for where, name in LINES.items():  # JSON Lines, which need not name their schema
        for number, line in enumerate((root / where).read_text().splitlines(), 1):
            if line.startswith("#"):
                continue
            used[name] += 1
            for error in schemas[name].iter_errors(json.loads(line)):
                pointer = "".join(f"/{part}" for part in error.absolute_path)
                faults.append(f"{where}:{number}: {pointer}: {error.message}")
    faults += [f"{name}: no file to try the schema on" for name, count in used.items() if count == 0]
    for fault in faults:
        print(fault)
    if not faults:
        print(", ".join(f"{name}: {count} valid" for name, count in used.items()))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

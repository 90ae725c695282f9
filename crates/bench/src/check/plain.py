"""The structural checks of the benchmark in plain Python, as one would write them: glob, re and `in`."""

import json
import re
import sys
from pathlib import Path


def matches(check, text):
    if "match_regex" in check:
        return re.search(check["match_regex"], text) is not None
    return any(word in text for word in check.get("match_any", [check.get("match")]))


def passes(check, outputs):
    files = [path for path in outputs.rglob(check["pattern"]) if path.is_file()]
    if check["type"] == "file_exists":
        return bool(files)
    if check["type"] == "file_count":
        return len(files) >= check["count"]
    found = any(matches(check, path.read_text(encoding="utf-8")) for path in files)
    return found if check["type"] == "file_contains" else not found


def main():
    iteration, suite = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
    checks = suite["evals"][0]["structural_expectations"]
    for run in sorted(iteration.glob("eval-*/*/run-*")):
        results = [{"id": check["id"], "passed": passes(check, run / "outputs")} for check in checks]
        (run / "plain.json").write_text(json.dumps({"expectations": results}))


main()

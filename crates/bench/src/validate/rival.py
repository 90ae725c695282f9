"""Runs the skills-ref validator as a library over a list of skills, in one process.

Arguments: a file with one skill folder per line, the step, and the first line to take.
Prints one JSON object. Only the loop is measured: neither the start of Python nor the imports count.
"""

import importlib.metadata
import json
import platform
import resource
import sys
import time
from pathlib import Path

from skills_ref.validator import validate


def main() -> None:
    listing, step, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(listing, encoding="utf-8") as lines:
        folders = [Path(line) for line in lines.read().splitlines()][first::step]
    valid = crashed = 0
    cpu, wall = time.process_time(), time.perf_counter()
    for folder in folders:
        try:
            if not validate(folder):
                valid += 1
        except Exception:
            crashed += 1
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    print(
        json.dumps(
            {
                "skills": len(folders),
                "valid": valid,
                "crashed": crashed,
                "cpu_seconds": cpu,
                "wall_seconds": wall,
                "peak_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
                "python": platform.python_version(),
                "skills_ref": importlib.metadata.version("skills-ref"),
                "strictyaml": importlib.metadata.version("strictyaml"),
            }
        )
    )


main()

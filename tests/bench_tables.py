#!/usr/bin/env python3
"""Checks that one record of all rows fills the tables of all pages: each has a case, and the overview is short.
The record is made from the rows' names. It needs no GPU.

usage: bench_tables.py PROGRAM ROOT
"""

import json
import pathlib
import subprocess
import sys
import tempfile

MOST_ROWS = 26  # in the overview

program, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "benchmarks/report"))
import record
import table


def row(name: str) -> dict:
    operation, dtype, *shape, implementation, hot = (name if name.endswith("/hot") else f"{name}/").split("/")
    library, _, rung = implementation.partition(":")
    return {"operation": operation, "type": dtype, "shape": "/".join(shape) or "-", "library": library,
            "rung": rung or None, "hot": bool(hot), "us": 1.0}


def main() -> int:
    names = subprocess.run([program, "list"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    content = {"schema": 1, "date": "2026-01-02", "complete": True, "gpu": {"name": "GPU"},
               "rows": [row(name) for name in names]}
    patterns = ("README.md", "docs/*.md", "docs/*/*.md", "kernels/*/README.md")
    pages = [page for pattern in patterns for page in root.glob(pattern)]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "record.json"
        file.write_text(json.dumps(content))
        of_all = record.read(file)
    found, tables = [], 0
    for page in sorted(pages):
        text = page.read_text()
        for match in table.MARKED.finditer(text):
            tables += 1
            try:
                rows = table.renewed(match[0], of_all).count("\n| ") - 2
            except table.NoTable as error:
                found.append(f"{page.relative_to(root)}: {error}")
                continue
            if match[2] == "overview" and rows > MOST_ROWS:
                found.append(f"{page.relative_to(root)}: the overview has {rows} rows, more than {MOST_ROWS}")
    print("\n".join(found) or f"one record fills {tables} tables")
    return 1 if found or tables == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Runs ctest and ends with a count of the tests passed, failed and skipped.

usage: scripts/ctest_report.py BUILD [ctest arguments]
"""

import dataclasses
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml


@dataclasses.dataclass
class Report:
    passed: list[str] = dataclasses.field(default_factory=list)
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)
    exit_code: int = 0

    @property
    def succeeded(self) -> bool:
        return self.exit_code == 0 and not self.failed

    def __str__(self) -> str:
        return f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def parse(junit: pathlib.Path) -> Report:
    report = Report()
    for case in xml.parse(junit).getroot().iter("testcase"):
        skip = case.find("skipped")
        if case.get("status") == "run":
            names = report.passed
        elif case.get("status") == "disabled" or (
                skip is not None and skip.get("message", "").startswith("SKIP_")):
            names = report.skipped
        else:  # failed, or never run: its program is missing
            names = report.failed
        names.append(case.get("name"))
    return report


def run(build: pathlib.Path, arguments: list[str]) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        junit = pathlib.Path(folder) / "ctest.xml"
        command = ["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error",
                   "--output-junit", str(junit), *arguments]
        exit_code = subprocess.run(command).returncode
        report = parse(junit) if junit.exists() else Report()
        report.exit_code = exit_code
        return report


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    result = run(pathlib.Path(sys.argv[1]), sys.argv[2:])
    print(f"\ntests: {result}", flush=True)
    sys.exit(0 if result.succeeded else 1)

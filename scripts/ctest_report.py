#!/usr/bin/env python3
"""Runs the tests of a build folder and ends with a count of those passed, failed and skipped.

usage: scripts/ctest_report.py BUILD [ctest arguments]
       scripts/ctest_report.py --by-program JOBS BUILD   runs each GoogleTest program in a few parts, not once for each
                                                         test as ctest does: most tests are shorter than a start
"""

import collections
import concurrent.futures
import dataclasses
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml


SLOWEST = 10  # how many of the slowest tests and programs are listed
MOST_SECONDS = 900  # the time limit of a part
TESTS_OF_A_PART = 8  # at least so many, as the driver needs long to set up a process
# Processes share the cores, so each has few OpenMP threads, and idle threads sleep.
BESIDE_OTHERS = {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"}


@dataclasses.dataclass
class Report:
    passed: list[str] = dataclasses.field(default_factory=list)
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)
    exit_code: int = 0
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)  # the time of each GoogleTest test

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
        else:  # it failed, or did not run because its program is missing
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


def tests_of_ctest(build: pathlib.Path) -> list[dict]:
    listed = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True, text=True,
                            stdout=subprocess.PIPE)
    return json.loads(listed.stdout)["tests"]


def test_programs(build: pathlib.Path) -> list[pathlib.Path]:
    """The GoogleTest programs."""
    commands = {pathlib.Path(test["command"][0]) for test in tests_of_ctest(build) if test.get("command")}
    return sorted(program for program in commands if program.name.startswith("test_"))


def last_begun(output: str) -> str:
    """The last test that a GoogleTest program began."""
    return (re.findall(r"^\[ RUN      \] (\S+)", output, re.MULTILINE) or ["no test"])[-1]


def run_part(program: pathlib.Path, part: int, parts: int, gpus: tuple[str, ...], deadline: float) -> Report:
    report = Report()
    name = f"{program.name}, part {part} of {parts}"
    first = part % len(gpus) if gpus else 0
    visible = {"CUDA_VISIBLE_DEVICES": ",".join(gpus[first:] + gpus[:first])} if gpus else {}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        try:
            done = subprocess.run(
                [program, f"--gtest_output=json:{file}"],
                env={**os.environ, **BESIDE_OTHERS, **visible, "GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(part)},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                timeout=min(MOST_SECONDS, max(0, deadline - time.monotonic())))
        except subprocess.TimeoutExpired as end:
            report.failed.append(f"{name}: not finished, in {last_begun((end.stdout or b'').decode(errors='replace'))}")
            return report
        if file.exists():
            for suite in json.loads(file.read_text())["testsuites"]:
                for case in suite["testsuite"]:
                    outcome = report.failed if "failures" in case else \
                        report.skipped if case["result"] == "SKIPPED" else report.passed
                    outcome.append(f"{suite['name']}.{case['name']}")
                    report.seconds[f"{program.name} {outcome[-1]}"] = float(case["time"].removesuffix("s"))
    if done.returncode != 0 and not report.failed:  # the program crashed
        report.failed.append(f"{name}: exit code {done.returncode}, in {last_begun(done.stdout)}")
    if report.failed:
        lines = re.sub(r"^\[ *(?:RUN|OK|SKIPPED|-+) *\].*\n|^\S+: Skipped\n.*\n", "", done.stdout, flags=re.MULTILINE)
        print(f"--- {program.name}\n{lines[-4000:]}", flush=True)
    return report


def run_programs(build: pathlib.Path, jobs: int, gpus: tuple[str, ...] = (), deadline: float = math.inf) -> Report:
    """Runs the GoogleTest programs in parts, `jobs` processes at a time. Parts of one program are far apart in the
    queue, as some of its tests take much device memory. Each process sees all GPUs, but begins with another one. A part
    that still runs at the deadline (of time.monotonic()) is ended and has failed."""
    counts = collections.Counter(pathlib.Path(test["command"][0]) for test in tests_of_ctest(build) if test.get("command"))
    programs = sorted(test_programs(build), key=lambda program: -counts[program])  # the last parts are short then
    parts = {program: min(jobs, -(-counts[program] // TESTS_OF_A_PART)) for program in programs}
    report = Report()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for each in [pool.submit(run_part, program, part, parts[program], gpus, deadline)
                     for part in range(jobs) for program in programs if part < parts[program]]:
            report.passed += each.result().passed
            report.failed += each.result().failed
            report.skipped += each.result().skipped
            report.seconds.update(each.result().seconds)
    of_programs = collections.Counter()
    for test, seconds in report.seconds.items():
        of_programs[test.split()[0]] += seconds
    for what, times in [("tests", collections.Counter(report.seconds)), ("programs, by the sum of their tests,", of_programs)]:
        print(f"\nthe {what} that took longest:", *(f"{seconds:7.1f} s  {name}" for name, seconds in times.most_common(SLOWEST)),
              sep="\n")
    return report


def run_by_program(build: pathlib.Path, jobs: int, gpus: tuple[str, ...] = (), deadline: float = math.inf) -> Report:
    """Runs all tests of CTest: GoogleTest programs by run_programs(), and the others at the same time by ctest."""
    programs = test_programs(build)
    others = [re.escape(test["name"]) for test in tests_of_ctest(build)
              if "command" not in test or pathlib.Path(test["command"][0]) not in programs]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        beside = ["--parallel", str(max(2, jobs // 2)), "--tests-regex", f"^({'|'.join(others)})$"]
        rest = pool.submit(run, build, beside)
        report = run_programs(build, jobs, gpus, deadline)
    report.passed += rest.result().passed
    report.failed += rest.result().failed
    report.skipped += rest.result().skipped
    report.exit_code = rest.result().exit_code
    return report


def main(arguments: list[str]) -> int:
    match arguments:
        case ["--by-program", jobs, build]:
            result = run_by_program(pathlib.Path(build), int(jobs))
        case [build, *rest] if not build.startswith("-"):
            result = run(pathlib.Path(build), rest)
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    for name in result.failed:
        print(f"failed: {name}")
    print(f"\ntests: {result}", flush=True)
    return 0 if result.succeeded else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

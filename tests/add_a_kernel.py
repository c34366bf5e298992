#!/usr/bin/env python3
"""Follows docs/add-a-kernel.md: applies its steps to a copy of the tree, compiles the files they touch, and runs the operation's
tests, linked before the built library. Tests that need a GPU skip where there is none.

A step is a block fenced as `~~~cuda file=PATH`, a new file, or `~~~diff file=PATH`, a unified diff of an existing one.
The lines that a hunk removes, with those around them, occur once in the file, at any line.

usage: add_a_kernel.py ROOT BUILD   BUILD is a Ninja folder with a static library and test_softmax, both built
       add_a_kernel.py --self-test  breaks the steps of a small page and fails unless each break is found
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import typing

PAGE = "docs/add-a-kernel.md"
OPERATION = "softmax"
HEADER = f"include/heddle/{OPERATION}.hpp"
LADDER = f"kernels/{OPERATION}/README.md"
FOLDERS = ("include", "kernels", "src", "tests")
PARTS = 4  # in which the tests run

LISTED = """#include <heddle/{operation}.hpp>

#include <gtest/gtest.h>

#include <algorithm>

TEST({operation}_algorithms, have_the_rung_of_the_page) {{
    const auto is_it = [](heddle::{operation}_algorithm rung) {{ return to_string(rung) == "{rung}"; }};
    EXPECT_TRUE(std::ranges::any_of(heddle::{operation}_algorithms(), is_it));
}}
"""


class Broken(Exception):
    """The step of the page that does not work, and the reason."""


@dataclasses.dataclass
class Step:
    line: int
    language: str
    file: str
    text: str

    def broken(self, why: str) -> Broken:
        return Broken(f"{PAGE}:{self.line}: {self.file} {why}")


# --- the steps ---

def steps_of(page: str) -> list[Step]:
    found = []
    lines = page.splitlines(keepends=True)
    number = 0
    while number < len(lines):
        number += 1
        if not lines[number - 1].startswith("~~~"):
            continue
        info = lines[number - 1][3:].strip()
        fence = re.fullmatch(r"(cuda|diff) file=(\S+)", info)
        if fence is None:
            raise Broken(f"{PAGE}:{number}: a step is fenced as {info!r}, not as 'cuda file=PATH' or 'diff file=PATH'")
        end = next((i for i in range(number, len(lines)) if lines[i].rstrip() == "~~~"), None)
        if end is None:
            raise Broken(f"{PAGE}:{number}: the block has no end")
        found.append(Step(number, fence[1], fence[2], "".join(lines[number:end])))
        number = end + 1
    return found


def hunks_of(step: Step) -> typing.Iterator[tuple[str, str]]:
    """The lines that each hunk removes, and those that it adds."""
    head, *hunks = re.split(r"^(?=@@)", step.text, flags=re.MULTILINE)
    if head != f"--- a/{step.file}\n+++ b/{step.file}\n" or not hunks:
        raise step.broken("is not what the diff's first two lines name, or the diff is empty")
    for hunk in hunks:
        first, *lines = hunk.splitlines(keepends=True)
        old = [line[1:] or "\n" for line in lines if line[0] in " -\n"]
        new = [line[1:] or "\n" for line in lines if line[0] in " +\n"]
        counts = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", first)
        if any(line[0] not in " +-\n" for line in lines) or counts is None or \
                [int(count or 1) for count in counts.groups()] != [len(old), len(new)]:
            raise step.broken(f"has a hunk that is not as its head says: {first.strip()}")
        yield "".join(old), "".join(new)


def apply(step: Step, root: pathlib.Path) -> None:
    """Changes nothing where a reader has already followed the page in the tree."""
    file = root / step.file
    if step.language == "cuda":
        if file.exists() and file.read_text() != step.text:
            raise step.broken("is not new, and has another text")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(step.text)
        return
    if not file.is_file():
        raise step.broken("is not there")
    text = "\n" + file.read_text()
    for old, new in hunks_of(step):
        places = text.count("\n" + old)
        if places == 0 and text.count("\n" + new) == 1:
            continue
        if places != 1:
            raise step.broken(f"has {places} places, not one, that read:\n{old}")
        text = text.replace("\n" + old, "\n" + new)
    file.write_text(text[1:])


def kernel_of(steps: list[Step]) -> str:
    """The new file. Beside it, a rung is a row and the ladder's line."""
    kernels = [step.file for step in steps if step.language == "cuda"]
    if len(kernels) != 1:
        raise Broken(f"{PAGE}: {len(kernels)} new files, expected one, a rung's")
    changed = {step.file for step in steps if step.language == "diff"}
    if changed != {HEADER, LADDER}:
        raise Broken(f"{PAGE} changes {', '.join(sorted(changed))}, not {HEADER} and {LADDER} alone")
    return kernels[0]


def missing(rung: str, root: pathlib.Path) -> list[str]:
    """Lists that no compiler checks."""
    return [] if f"{rung}.cu" in (root / LADDER).read_text() else [f"{PAGE}: {LADDER} does not name {rung}.cu"]


# --- the files that they touch ---

def run(what: str, command: list[str], folder: pathlib.Path, **variables: str) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env={**os.environ, **variables})
    if done.returncode != 0:
        raise Broken(f"{what}, exit status {done.returncode}:\n{done.stdout[-6000:]}")
    return done.stdout


def run_all(jobs: list[tuple[str, list[str]]], folder: pathlib.Path) -> None:
    """Compiles in parallel, and reports all failures."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(run, what, command, folder) for what, command in jobs]
    if failures := [str(job.exception()) for job in running if job.exception()]:
        raise Broken("\n".join(failures))


class Build:
    """The build's commands, for the sources of a copy of its tree."""

    def __init__(self, root: pathlib.Path, folder: pathlib.Path, copy: pathlib.Path):
        self.folder, self.copy, self.root = folder, copy, root
        entries = json.loads((folder / "compile_commands.json").read_text())
        self.commands = {entry["file"]: shlex.split(entry["command"]) for entry in entries}
        self.objects = copy / "objects"
        self.objects.mkdir()

    def object_of(self, file: str) -> str:
        return str(self.objects / (file.replace("/", ".") + ".o"))

    def compile(self, file: str, like: str | None = None) -> list[str]:
        """The command of a file. A new file has the flags of another one."""
        like = str(self.root / (like or file))
        if like not in self.commands:
            raise Broken(f"{self.folder}/compile_commands.json has no {like}")
        command = list(self.commands[like])
        if "-include" in command:  # headers of the tree itself, precompiled
            place = command.index("-include")
            del command[place:place + 2]
        command[command.index("-o") + 1] = self.object_of(file)
        command[command.index("-c") + 1] = str(self.copy / file)
        ours = re.compile(rf"{re.escape(str(self.root))}(?=$|/(?:{'|'.join(FOLDERS)})(?:$|/))")
        return [ours.sub(lambda _: str(self.copy), word) for word in command]

    def link(self, program: str, files: list[str], result: pathlib.Path) -> list[str]:
        """Links a program of the build from other objects."""
        edge = run(f"Ninja's command for {program}",
                   ["cmake", "--build", str(self.folder), "--", "-t", "commands", "-s", program], self.folder)
        command = shlex.split(edge)
        if "&&" in command:  # as in `: && c++ ... && what follows`
            first = command.index("&&") + 1
            command = command[first:command.index("&&", first)]
        objects = [word for word in command if word.endswith(".o")]
        if not objects or not any(word.endswith("libheddle.a") for word in command):
            raise Broken(f"{program} is not linked from objects and libheddle.a: {shlex.join(command)}")
        place = command.index(objects[0])
        command = [word for word in command if word not in objects]
        command[place:place] = [self.object_of(file) for file in files]  # the archive's older members are not needed then
        command[command.index("-o") + 1] = str(result)
        return command


def run_tests(program: pathlib.Path, folder: pathlib.Path) -> str:
    """Runs the tests in parts, in parallel."""
    def run_part(part: int) -> str:
        return run(f"the tests of {OPERATION} fail with the page's rung", [str(program), "--gtest_brief=1"], folder,
                   GTEST_TOTAL_SHARDS=str(PARTS), GTEST_SHARD_INDEX=str(part))

    with concurrent.futures.ThreadPoolExecutor(PARTS) as pool:
        return "".join(pool.map(run_part, range(PARTS)))


def follow(root: pathlib.Path, folder: pathlib.Path, copy: pathlib.Path) -> str:
    steps = steps_of((root / PAGE).read_text())
    kernel = kernel_of(steps)
    for part in FOLDERS:
        shutil.copytree(root / part, copy / part)
    for step in steps:
        if not (copy / step.file).exists() and (root / step.file).exists():
            (copy / step.file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / step.file, copy / step.file)
        apply(step, copy)
    rung = pathlib.Path(kernel).stem
    if lacking := missing(rung, copy):
        raise Broken("\n".join(lacking))

    build = Build(root, folder, copy)
    tests = sorted(file.relative_to(copy).as_posix() for file in (copy / "tests" / OPERATION).glob("*.cpp"))
    listed = f"tests/{OPERATION}/listed.cpp"
    (copy / listed).write_text(LISTED.format(operation=OPERATION, rung=rung))
    # They include the header with the rung's row.
    sources = sorted(file.relative_to(copy).as_posix() for file in (copy / "src" / OPERATION).glob("*.cpp"))
    objects = [*tests, listed, *sources, kernel]
    where = {step.file: f"{PAGE}:{step.line}: {step.file}" for step in steps}
    known_by = {kernel: f"kernels/{OPERATION}/naive.cu", listed: tests[0]}
    jobs = [(f"{where.get(file, file)} does not compile", build.compile(file, known_by.get(file)))
            for file in [kernel, *tests, *sources, listed]]
    for check in ("layering.py", "comments.py"):
        jobs.append((f"tests/{check} refuses the page's code", [sys.executable, str(root / "tests" / check), str(copy)]))
    run_all(jobs, folder)

    program = copy / f"test_{OPERATION}"
    run("the page's rung does not link", build.link(f"tests/test_{OPERATION}", objects, program), folder)
    output = run_tests(program, copy)
    passed, skipped = (sum(map(int, re.findall(rf"{word}.* (\d+) tests?", output))) for word in ("PASSED", "SKIPPED"))
    return (f"the {len(steps)} steps of {PAGE} add {rung}; of the tests of {OPERATION} "
            f"{passed} pass, {skipped or 'none'} skip")


def check(root: pathlib.Path, folder: pathlib.Path) -> int:
    with tempfile.TemporaryDirectory() as copy:
        try:
            print(follow(root, folder, pathlib.Path(copy)))
        except Broken as broken:
            print(broken)
            return 1
    return 0


# --- the check itself ---

TREE = {"a/list": "one\ntwo\n\nthree\n\nfour\n"}
RIGHT = """Text.

~~~cuda file=a/new.cu
kernel
~~~
~~~diff file=a/list
--- a/a/list
+++ b/a/list
@@ -1,2 +1,3 @@
 one
-two
+2
+2.5
@@ -70,2 +80,2 @@

-three
+3
~~~
```cpp
no step
```
"""
WRONG = [  # the text replaced in the right page, its replacement, and the error
    ("cuda file=a/new.cu", "cuda file=a/list", "a/list is not new"),
    ("cuda file=a/new.cu", "cuda", "fenced as 'cuda'"),
    ("cuda file=a/new.cu", "cpp file=a/new.cu", "fenced as 'cpp file"),
    ("diff file=a/list\n--- a/a/list\n+++ b/a/list", "diff file=a/none\n--- a/a/none\n+++ b/a/none", "a/none is not there"),
    ("--- a/a/list", "--- a/list", "first two lines"),
    (" one\n", " ones\n", "0 places, not one"),
    ("-two\n", "-two \n", "0 places, not one"),
    ("three", "3", "0 places, not one"),
    ("@@ -70,2 +80,2 @@\n\n-three\n", "@@ -70 +80,2 @@\n\n", "2 places, not one"),
    ("+2.5\n", "", "not as its head says"),
    ("+2.5\n", "2.5\n", "not as its head says"),
    ("~~~\n```", "```", "has no end"),
]
FILES = [  # of a page, and the error
    (["new.cu", HEADER], f"changes {HEADER}, not"),
    (["new.cu", HEADER, LADDER, "kernels/CMakeLists.txt"], "kernels/CMakeLists.txt, "),
    (["new.cu", "other.cu", HEADER, LADDER], "2 new files"),
    ([HEADER, LADDER], "0 new files"),
]


def self_test() -> int:
    def files_after(page: str, times: int = 1) -> dict[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in TREE.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            for step in steps_of(page) * times:
                apply(step, root)
            return {file.relative_to(root).as_posix(): file.read_text() for file in root.rglob("*") if file.is_file()}

    def said(call: typing.Callable[[], object]) -> str:
        try:
            call()
        except Broken as broken:
            return str(broken)
        return "nothing"

    failures = []
    for times in (1, 2):
        if (files := files_after(RIGHT, times)) != {"a/new.cu": "kernel\n", "a/list": "one\n2\n2.5\n\n3\n\nfour\n"}:
            failures.append(f"the right page, followed {times} times, makes {files}")
    for right, wrong, expected in WRONG:
        if RIGHT.count(right) != 1 or expected not in (heard := said(lambda: files_after(RIGHT.replace(right, wrong)))):
            failures.append(f"with {wrong!r} for {right!r} it says {heard}")
    def steps_in(*files: str) -> list[Step]:
        return [Step(1, "cuda" if file.endswith(".cu") else "diff", file, "") for file in files]

    if (heard := kernel_of(steps_in(HEADER, "new.cu", LADDER))) != "new.cu":
        failures.append(f"it takes {heard} for the rung's file")
    for files, expected in FILES:
        if expected not in (heard := said(lambda: kernel_of(steps_in(*files)))):
            failures.append(f"of a page with {', '.join(files)} it says {heard}")
    jobs = [("one fails", ["false"]), ("another works", ["true"]), ("a third fails", ["false"])]
    if "one fails" not in (heard := said(lambda: run_all(jobs, pathlib.Path()))) or "a third fails" not in heard:
        failures.append(f"of compilers that fail it says {heard}")
    print("\n".join(failures) or f"found {len(WRONG) + len(FILES) + 1} planted breaks")
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(check(pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()))

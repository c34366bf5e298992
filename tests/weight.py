#!/usr/bin/env python3
"""Tests scripts/weight: its budgets, the numbers that it reads from an object file, and that docs/weight.md has all folders.

usage: weight.py SOURCES
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import shared

sources = pathlib.Path(sys.argv.pop()) if len(sys.argv) == 2 else pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
weight = shared.script(sources / "scripts/weight")


class Budgets(unittest.TestCase):
    allowed = {"kernels/a": [10, 200, 50, 100, 1000], "tests": [0, 0, 0, 100, 2000]}

    def changed(self, folder: str, column: str, value: int) -> dict[str, list[int]]:
        figures = {name: list(row) for name, row in self.allowed.items()}
        figures[folder][weight.COLUMNS.index(column)] = value
        return figures

    def test_that_are_met_are_said_to_be(self):
        self.assertEqual(weight.above(self.allowed, self.allowed), [])

    def test_have_no_slack(self):
        for column, value in [("kernels", 11), ("code, kB", 201), ("lines", 1001)]:
            found = weight.above(self.changed("kernels/a", column, value), self.allowed)
            self.assertEqual(found, [f"kernels/a: {value} {column}, the budget is {value - 1}"])

    def test_of_packed_bytes_have_a_kilobyte(self):
        self.assertEqual(weight.above(self.changed("kernels/a", "packed, kB", 51), self.allowed), [])
        self.assertEqual(weight.above(self.changed("kernels/a", "packed, kB", 52), self.allowed),
                         ["kernels/a: 52 packed, kB, the budget is 50"])

    def test_of_time_are_of_all_folders_and_have_a_fifth(self):
        self.assertEqual(weight.above(self.changed("tests", "CPU-s", 140), self.allowed), [])
        self.assertEqual(weight.above(self.changed("tests", "CPU-s", 141), self.allowed),
                         ["all: 241 CPU-s, the budget is 200 and a fifth"])

    def test_of_a_new_folder_are_none(self):
        found = weight.above(self.allowed | {"kernels/b": [1, 0, 0, 0, 0]}, self.allowed)
        self.assertEqual(found, ["kernels/b: 1 kernels, the budget is 0"])

    def test_are_lowered_and_never_raised(self):
        figures = self.changed("kernels/a", "kernels", 7) | {"tests": [0, 0, 0, 70, 2001]}
        self.assertEqual(weight.lowered(figures, self.allowed),
                         {"kernels/a": [7, 200, 50, 100, 1000], "tests": [0, 0, 0, 70, 2000]})

    def test_are_read_as_they_are_written(self):
        page = f"<!-- weight -->\n{weight.table(self.allowed)}<!-- /weight -->\n"
        self.assertEqual(weight.budgets(page), self.allowed)

    @unittest.skipUnless((sources / ".git").exists(), "not a checkout of git")
    def test_of_the_page_name_all_folders(self):
        folders = set(weight.budgets(weight.PAGE.read_text()))
        self.assertEqual(set(weight.lines_by_folder()) - folders, set())


class Objects(unittest.TestCase):
    def test_have_the_sections_that_readelf_shows(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "object.o"
            subprocess.run(["g++", "-x", "c++", "-c", "-o", file, "-"], input="char room[1234];", text=True, check=True)
            self.assertIn((".bss", 1234), weight.sections(file.read_bytes()))

    def test_belong_to_the_folder_of_their_operation(self):
        for path, folder in [("kernels/conv/plan/wgmma.cpp", "kernels/conv"), ("kernels/CMakeLists.txt", "kernels"),
                             ("tests/conv/edges.cpp", "tests"), ("README.md", ".")]:
            self.assertEqual(weight.folder_of(pathlib.PurePath(path)), folder)


class Launcher(unittest.TestCase):
    def test_notes_the_seconds_of_an_output_and_passes_the_status_on(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log"
            launch = [sources / "scripts/compile-seconds", sys.executable, "-c"]
            environment = {"HEDDLE_COMPILE_SECONDS": str(log)}
            busy = "import time\nwhile time.process_time() < 0.2: pass"
            self.assertEqual(subprocess.run([*launch, busy, "-o", "out.o"], env=environment).returncode, 0)
            self.assertEqual(subprocess.run([*launch, "raise SystemExit(3)"], env=environment).returncode, 3)
            seconds, output = log.read_text().rstrip("\n").split("\t")
            self.assertEqual(output, "out.o")
            self.assertGreaterEqual(float(seconds), 0.2)


if __name__ == "__main__":
    unittest.main()

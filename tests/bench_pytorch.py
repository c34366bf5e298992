#!/usr/bin/env python3
"""Tests how scripts/bench-pytorch changes a record. It needs neither PyTorch nor a GPU: times are given.

usage: bench_pytorch.py ROOT
"""

import contextlib
import copy
import errno
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock

import shared


def row(name: str, **fields: object) -> dict:
    made = shared.row(name, **{"us": 10.0, "bytes": 65536.0, "limit": {"ceiling": "memory", "us": 8.0}} | fields)
    del made["calls"]  # a row of PyTorch has none
    return made


RECORD = {
    "schema": 1, "gpu": {"name": "GPU", "l2_bytes": 1}, "peers": {"cudnn": "9"}, "ceilings": [],
    "rows": [
        row("softmax/f32/64x128/heddle"),
        row("softmax/f32/64x128/cudnn"),
        row("softmax/f32/64x128/heddle:naive"),
        row("softmax/f32/32x32/heddle:naive"),
        row("transpose/f32/64x128-same-order/heddle"),
        row("exclusive_scan/f32/64/heddle"),
        row("softmax/f32/64x128/heddle/hot", us=5.0),
        row("softmax/f32/8x8/heddle", error="no"),
        row("sobel_x/u8c1/8x8/heddle"),
    ],
}


def run(file: pathlib.Path, torch: str, *options: str) -> subprocess.CompletedProcess:
    """Runs the script on a record, beside a torch.py with this text."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "torch.py").write_text(torch)
        return subprocess.run([sys.executable, root / "scripts/bench-pytorch", *options, file], text=True,
                              stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": folder})


class BenchPytorch(shared.InFolder):
    def added(self, record: dict, seconds: float = 20e-6) -> dict:
        return bench_pytorch.with_pytorch(record, "2.0", lambda case: seconds)

    def rows(self, record: dict) -> list[dict]:
        return [row for row in record["rows"] if row["library"] == "pytorch"]

    def test_adds_the_cases_that_both_have(self) -> None:
        before = copy.deepcopy(RECORD)
        record = self.added(RECORD)
        self.assertEqual(RECORD, before)
        self.assertEqual(record["rows"][:len(RECORD["rows"])], RECORD["rows"])
        expected = {"us": 20.0, "spread": 0.0}
        self.assertEqual(self.rows(record), [row("softmax/f32/64x128/pytorch", **expected),
                                             row("softmax/f32/64x128/pytorch/hot", **expected)])
        self.assertEqual(record["peers"], {"cudnn": "9", "pytorch": "2.0"})

    def test_adds_the_cases_of_a_row_or_a_column(self) -> None:
        names = ("add/f32/64x128-row", "multiply/f32/64x128-column", "add/f32/64x128-column", "relu/f32/64x128-stride130")
        record = self.added(RECORD | {"rows": [row(f"{name}/heddle") for name in names]})
        self.assertEqual([(row["operation"], row["shape"]) for row in self.rows(record)],
                         [("add", "64x128-row"), ("multiply", "64x128-column")])

    def test_replaces_former_rows(self) -> None:
        second = self.added(self.added(RECORD), 40e-6)
        self.assertEqual(len(second["rows"]), len(RECORD["rows"]) + 2)
        self.assertEqual({row["us"] for row in self.rows(second)}, {40.0})

    def test_resumes(self) -> None:
        before = self.added(RECORD)
        self.rows(before)[1] |= {"error": "out of memory"}
        after = bench_pytorch.with_pytorch(before, "2.0", lambda case: 40e-6, resume=True)
        self.assertEqual([row["us"] for row in self.rows(after)], [20.0, 40.0])
        self.assertEqual([row["error"] for row in self.rows(after)], [None, None])

    def test_resumes_no_rows_of_another_version(self) -> None:
        file = self.file(text := json.dumps(self.added(RECORD)))
        torch = ("__version__ = '2.1'\n"
                 "class cuda:\n    is_available = lambda: True\n    get_device_name = lambda: 'GPU'\n")
        done = run(file, torch, "--resume")
        self.assertEqual((done.returncode, file.read_text()), (2, text))
        self.assertEqual(done.stderr,
                         f"bench-pytorch: cannot resume {file}: its rows are of PyTorch 2.0, this is 2.1\n")

    def test_a_failing_call_fails_its_row_alone(self) -> None:
        def measure(case: dict) -> object:
            if case["hot"]:
                raise RuntimeError("out of memory")
            return 20e-6

        cold, hot = self.rows(bench_pytorch.with_pytorch(RECORD, "2.0", measure))
        self.assertEqual((cold["error"], hot["error"]), (None, "out of memory"))
        self.assertNotIn("us", hot)

    def test_writes_a_row_a_line(self) -> None:
        record = self.added(RECORD)
        text = bench_pytorch.text_of(record)
        self.assertEqual(bench_pytorch.with_defaults(json.loads(text)), bench_pytorch.with_defaults(record))
        self.assertNotIn("null", text)
        self.assertEqual(sum(line.startswith('  {"operation":') for line in text.splitlines()), len(record["rows"]))

    def test_bad_records_are_one_line(self) -> None:
        whole = json.dumps(RECORD)
        for text, message in ((None, "No such file"), ("", "not JSON"), (whole[:100], "cut off"), ("no", "not JSON"), (b"\xff", "not JSON"),
                              ("[]", "no record"), ('{"schema": 2}', "no record"), ('{"schema": 1}', "is damaged"),
                              (json.dumps(RECORD | {"gpu": None}), "is damaged"), (json.dumps(RECORD | {"rows": [1]}), "is damaged"),
                              (json.dumps(RECORD | {"peers": []}), "is damaged"),
                              (json.dumps(RECORD | {"rows": [row("softmax/f32/64x128/heddle", repetitions="5")]}), "is damaged")):
            with self.subTest(message):
                file = self.folder / f"{message}.json"
                if text is not None:
                    file.write_bytes(text if isinstance(text, bytes) else text.encode())
                done = run(file, "raise ImportError")
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                self.assertIn(message, done.stderr)

    def test_a_full_disk_leaves_the_record(self) -> None:
        def full(file: pathlib.Path, text: str) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")  # names no file

        file = self.file(text := json.dumps(RECORD))
        torch = types.SimpleNamespace(__version__="2.0", manual_seed=int, no_grad=contextlib.nullcontext)
        printed = io.StringIO()
        with unittest.mock.patch.multiple(bench_pytorch, torch=torch, missing=lambda record: "",
                                          Timer=lambda l2_bytes: self.measure), \
                unittest.mock.patch.object(pathlib.Path, "write_text", full), \
                unittest.mock.patch.object(sys, "argv", ["bench-pytorch", str(file)]), contextlib.redirect_stderr(printed):
            self.assertEqual(bench_pytorch.main(), 2)
        self.assertEqual(printed.getvalue(), f"bench-pytorch: {file}: No space left on device\n")
        self.assertEqual((file.read_text(), len(list(file.parent.iterdir()))), (text, 1))

    @staticmethod
    def measure(case: dict) -> object:
        return 20e-6

    def test_leaves_the_record_where_pytorch_cannot_run(self) -> None:
        cuda = "import types\n__version__ = '2.0'\ncuda = types.SimpleNamespace(is_available=lambda: {}, " \
               "get_device_name=lambda: 'another')"
        for torch, message in (("raise ImportError", "no PyTorch"), (cuda.format(False), "no GPU"),
                               (cuda.format(True), "this machine has another")):
            with self.subTest(message):
                file = self.file(RECORD)
                done = run(file, torch)
                self.assertEqual(done.returncode, 2)
                self.assertIn(message, done.stderr)
                self.assertEqual(json.loads(file.read_text()), RECORD)


if __name__ == "__main__":
    root = shared.argument(__doc__)
    with unittest.mock.patch.dict(sys.modules, torch=None):  # PyTorch itself takes seconds to load
        bench_pytorch = shared.script(root / "scripts/bench-pytorch")
    unittest.main()

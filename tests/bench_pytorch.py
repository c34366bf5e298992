#!/usr/bin/env python3
"""Tests what scripts/bench-pytorch does to a record. It needs neither PyTorch nor a GPU: times are given.

usage: bench_pytorch.py ROOT
"""

import copy
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

MEGABYTES = 1e12  # bytes a second at which a microsecond moves one


def script(name: str) -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(root / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # where dataclasses look for it
    loader.exec_module(module)
    return module


def row(name: str, family: int, **fields: object) -> dict:
    name += "/iterations:1/manual_time"
    return {"name": name, "run_name": name, "family_index": family, "run_type": "iteration", "repetitions": 5,
            "real_time": 10.0, "time_unit": "us", "bytes_per_second": 40 * MEGABYTES} | fields


# As a program leaves it: in the order of the run.
RECORD = {
    "context": {"date": "2026-01-01T00:00:00+00:00", "gpu_name": "GPU"},
    "benchmarks": [
        row("softmax/f32/64x128/heddle/hot", 7, real_time=5.0, bytes_per_second=80 * MEGABYTES),
        row("softmax/f32/64x128/heddle", 1),
        row("softmax/f32/64x128/heddle", 1),
        row("softmax/f32/64x128/heddle", 1, run_type="aggregate"),
        row("softmax/f32/64x128/cudnn", 2),
        row("softmax/f32/64x128/heddle:naive", 3),
        row("softmax/f32/32x32/heddle:naive", 4),
        row("transpose/f32/64x128-same-order/heddle", 5),
        row("exclusive_scan/f32/64/heddle", 6),
        row("softmax/f32/8x8/heddle", 8, error_occurred=True, error_message="no"),
        row("softmax/f32/8x8/heddle:naive", 9, error_occurred=True, error_message="no"),
        row("copy/u8/1073741824/cuda", 0),
    ],
}
COLD, HOT = "softmax/f32/64x128/pytorch", "softmax/f32/64x128/pytorch/hot"


class BenchPytorch(unittest.TestCase):
    def added(self, record: dict, seconds: float = 20e-6) -> dict:
        return bench_pytorch.with_pytorch(record, "2.0", lambda case: bench_pytorch.Measurement(seconds, 7))

    def rows(self, record: dict, name: str) -> list[dict]:
        return [row for row in record["benchmarks"] if row["run_name"] == name]

    def test_adds_the_cases_that_both_have(self) -> None:
        before = copy.deepcopy(RECORD)
        record = self.added(RECORD)
        self.assertEqual(RECORD, before)
        self.assertEqual(record["benchmarks"][:len(RECORD["benchmarks"])], RECORD["benchmarks"])
        self.assertEqual({row["run_name"] for row in record["benchmarks"][len(RECORD["benchmarks"]):]}, {COLD, HOT})
        for name, family in ((COLD, 10), (HOT, 11)):  # behind all others, in heddle's order
            rows = self.rows(record, name)
            self.assertEqual(sorted(row["repetition_index"] for row in rows), [0, 1, 2, 3, 4])
            self.assertEqual({row["family_index"] for row in rows}, {family})
        self.assertEqual(record["context"], RECORD["context"] | {"pytorch": "2.0"})

    def test_moves_the_bytes_of_heddles_row(self) -> None:
        record = self.added(RECORD)
        for name in (COLD, HOT):  # 400 MB, in 20 us
            self.assertAlmostEqual(self.rows(record, name)[0]["bytes_per_second"], 20 * MEGABYTES, delta=1)
            self.assertNotIn("flops_per_second", self.rows(record, name)[0])

    def test_replaces_former_rows(self) -> None:
        first = self.added(RECORD)
        second = self.added(first, 40e-6)
        self.assertEqual(len(second["benchmarks"]), len(first["benchmarks"]))
        self.assertEqual({row["real_time"] for row in self.rows(second, COLD)}, {40.0})
        self.assertEqual({row["family_index"] for row in self.rows(second, COLD)}, {10})

    def test_tables_show_it_as_a_peer(self) -> None:
        table = bench_table.table(self.added(RECORD), False, "64x128$")
        header, _, shown = table.splitlines()[:3]
        self.assertEqual(header.split(" | ")[-1], "pytorch |")
        self.assertIn("20.0 us (2.00x)", shown)

    def test_a_failing_call_fails_its_row_alone(self) -> None:
        def measure(case: object) -> object:
            if case.hot:
                raise RuntimeError("out of memory")
            return bench_pytorch.Measurement(20e-6, 7)

        record = bench_pytorch.with_pytorch(RECORD, "2.0", measure)
        self.assertEqual({row.get("error_message") for row in self.rows(record, HOT)}, {"out of memory"})
        self.assertEqual({row.get("error_message") for row in self.rows(record, COLD)}, {None})
        self.assertNotIn("pytorch", bench_table.read(record).cases["softmax f32 64x128 hot"])

    def test_leaves_the_record_where_pytorch_cannot_run(self) -> None:
        cuda = "import types\n__version__ = '2.0'\ncuda = types.SimpleNamespace(is_available=lambda: {}, " \
               "get_device_name=lambda: 'another')"
        for torch, message in (("raise ImportError", "no PyTorch"), (cuda.format(False), "no GPU"),
                               (cuda.format(True), "this machine has another")):
            with self.subTest(message), tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "torch.py").write_text(torch)
                file = pathlib.Path(folder) / "softmax.json"
                file.write_text(json.dumps(RECORD))
                run = subprocess.run([sys.executable, root / "scripts/bench-pytorch", file], text=True,
                                     stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": folder})
                self.assertEqual(run.returncode, 2)
                self.assertIn(message, run.stderr)
                self.assertEqual(json.loads(file.read_text()), RECORD)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.dont_write_bytecode = True
    root = pathlib.Path(sys.argv.pop()).resolve()
    bench_pytorch = script("bench-pytorch")
    bench_table = script("bench-table")
    unittest.main()

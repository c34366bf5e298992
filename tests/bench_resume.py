#!/usr/bin/env python3
"""Tests heddle-bench run --resume on rows of the host. It needs no GPU, and hides all GPUs.

usage: bench_resume.py PROGRAM
"""

import json
import os
import signal
import statistics
import subprocess
import time
import unittest

import shared

ROW = "sum/f32/1048576/host"


class Resume(shared.InFolder):
    def setUp(self) -> None:
        super().setUp()
        self.file = self.folder / "record.json"

    def start(self, *options: str) -> subprocess.Popen:
        environment = os.environ | {"CUDA_VISIBLE_DEVICES": "", "HEDDLE_COMMIT": "abc"}
        return subprocess.Popen([program, "run", "--output", self.file, *options], text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment)

    def run_row(self, *options: str, row: str = ROW) -> tuple[int, str]:
        process = self.start("--filter", f"^{row}$", *options)
        _, errors = process.communicate(timeout=300)
        return process.returncode, errors

    def record(self) -> dict:
        return json.loads(self.file.read_text())

    def stop_with(self, us: list[float], **head: object) -> str:
        """Makes a record that was stopped after its row had these times."""
        self.assertEqual(self.run_row(), (0, ""))
        stopped = {"complete": False, "seconds": 7, "rows": [], "watched": {"sm_mhz": [1, 2, 3]},
                   "taken": [{"row": ROW, "us": us, "calls": 9}]}
        text = json.dumps(self.record() | stopped | head)
        self.file.write_text(text)
        return text

    def test_runs_what_is_missing(self) -> None:
        self.stop_with([0.25, 0.5, 0.75])
        self.assertEqual(self.run_row("--resume", "--samples"), (0, ""))
        record = self.record()
        [row] = record["rows"]
        [samples] = row["processes"]
        self.assertEqual((samples[:3], len(samples), row["us"]), ([0.25, 0.5, 0.75], 5, 0.75))
        self.assertTrue(record["complete"])
        self.assertGreaterEqual(record["seconds"], 7)
        self.assertEqual(record["watched"]["sm_mhz"], [1, 2, 3])
        self.assertNotIn("taken", record)

    def test_keeps_what_is_whole(self) -> None:
        self.stop_with([1.0, 2.0, 3.0, 4.0, 5.0])
        self.assertEqual(self.run_row("--resume"), (0, ""))
        self.assertEqual([row["us"] for row in self.record()["rows"]], [3.0])

    def test_the_records_repetitions_hold(self) -> None:
        self.stop_with([1.0] * 6, repetitions=7)
        self.assertEqual(self.run_row("--resume", "--samples"), (0, ""))
        self.assertEqual([len(row["processes"][0]) for row in self.record()["rows"]], [7])

    def test_leaves_a_complete_record(self) -> None:
        self.assertEqual(self.run_row(), (0, ""))
        before = self.file.read_text()
        self.assertEqual(self.run_row("--resume"), (0, ""))
        self.assertEqual(self.file.read_text(), before)

    def test_refuses_another_card_commit_digest_or_driver(self) -> None:
        digest = "f" * 64
        for head, why in (({"gpu": {"name": "GPU"}}, "it is of another card: GPU, not no GPU"),
                          ({"commit": "def"}, "it is of another commit: def, not abc"),
                          ({"sources_sha256": digest},
                           f"it is of another digest of the sources: {digest}, not [0-9a-f]{{64}}"),
                          ({"driver": "1.2"}, "it is of another driver: 1.2, not unknown"),
                          ({"cpu": "CPU"}, "it is of another CPU: CPU, not .*"),
                          ({"peers": {"cub": "1"}}, r'it is of another set of peers: \{"cub":"1"\}, not \{.*\}')):
            for complete in (False, True):
                before = self.stop_with([1.0], complete=complete, **head)
                status, errors = self.run_row("--resume")
                self.assertEqual((status, self.file.read_text()), (2, before))
                self.assertRegex(errors, rf"\Aheddle-bench: cannot resume {self.file}: {why}\n\Z")

    def test_refuses_rows_that_are_not_asked_for(self) -> None:
        self.stop_with([1.0])
        self.assertEqual(self.run_row("--resume", row="add/f32/1048576/host"),
                         (2, f"heddle-bench: cannot resume {self.file}: this run has no row {ROW}\n"))

    def test_refuses_rows_that_a_complete_record_lacks(self) -> None:
        self.assertEqual(self.run_row(), (0, ""))
        row = "add/f32/1048576/host"
        self.assertEqual(self.run_row("--resume", row=row),
                         (2, f"heddle-bench: cannot resume {self.file}: it is complete, and has no row {row}\n"))

    def test_refuses_a_record_that_nothing_stopped(self) -> None:
        self.stop_with([1.0])
        record = self.record()
        del record["taken"]
        self.file.write_text(json.dumps(record))
        self.assertEqual(self.run_row("--resume"),
                         (2, f"heddle-bench: cannot resume {self.file}: no Ctrl-C ended it\n"))

    def test_excludes_the_headline_and_other_repetitions(self) -> None:
        for other in (["--headline"], ["--repetitions", "9"]):
            process = self.start("--resume", *other)
            _, errors = process.communicate()
            self.assertEqual(process.returncode, 2)
            self.assertRegex(errors, r"\Aheddle-bench: [^\n]*--\w+ excludes --\w+[^\n]*\n\Z")

    def test_refuses_what_is_no_record(self) -> None:
        for text, message in ((None, "cannot read"), ('{"schema": 1', "cut off"), ('{"schema": 1, "rows": []}', "gpu")):
            if text:
                self.file.write_text(text)
            status, errors = self.run_row("--resume")
            self.assertEqual((status, errors.count("\n")), (1, 1), errors)
            self.assertIn(message, errors)

    def test_goes_on_after_ctrl_c(self) -> None:
        process = self.start("--filter", f"^{ROW}$", "--repetitions", "1000")
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        [taken] = self.record()["taken"]
        self.assertEqual(taken["row"], ROW)
        self.assertAlmostEqual(self.record()["rows"][0]["us"] / statistics.median(taken["us"]), 1, places=3)
        text = json.dumps(self.record() | {"repetitions": len(taken["us"]) + 1})
        self.file.write_text(text)
        self.assertEqual(self.run_row("--resume")[0], 0)
        self.assertNotIn("repetitions", self.record()["rows"][0])


if __name__ == "__main__":
    program = shared.argument(__doc__)
    unittest.main()

#!/usr/bin/env python3
"""Tests heddle-bench as users call it: its output, files and exit status. It needs no GPU, and hides all GPUs.

usage: bench_program.py PROGRAM
"""

import json
import os
import re
import resource
import signal
import statistics
import subprocess
import time
import unittest

import shared

HOST_ROW = "sum/f32/1048576/host"
ENVIRONMENT = os.environ | {"CUDA_VISIBLE_DEVICES": ""}


def out_of_range(value: int, least: int, most: int) -> str:
    """The message, in the words of different releases of CLI11."""
    return rf"{value} not in range (\[{least} - {most}\]|{least} to {most})"


class Program(shared.InFolder):
    def run_program(self, *arguments: object, **options: object) -> subprocess.CompletedProcess:
        options.setdefault("env", ENVIRONMENT)
        return subprocess.run([program, *map(str, arguments)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              **options)

    def fails(self, status: int, *arguments: object, says: str, **options: object) -> None:
        done = self.run_program(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, rf"\A(heddle-bench|report): [^\n]*{says}[^\n]*\n\Z")

    def names(self, *filters: object) -> list[str]:
        done = self.run_program("list", *filters)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()


class List(Program):
    def test_names_every_row_once(self) -> None:
        names = self.names()
        self.assertEqual(len(names), len(set(names)))
        self.assertIn(HOST_ROW, names)
        self.assertIn("softmax/f32/4096x4096/heddle:naive", names)

    def test_filters(self) -> None:
        self.assertEqual(self.names("--operation", "matmul", "--rung", "tiled", "--size", "4096x4096x4096"),
                         ["matmul/f32/4096x4096x4096/heddle:tiled"])
        self.assertEqual(self.names("--filter", f"^{HOST_ROW}$"), [HOST_ROW])
        self.assertEqual({name.split("/")[1] for name in self.names("--operation", "sum", "--type", "f16", "--type", "f64")},
                         {"f16", "f64"})
        by_file = {name.split("/")[0] for name in self.names("--operation", "norm")}
        self.assertLessEqual({"layer_norm", "rms_norm"}, by_file)
        self.assertTrue(all("-r5/" in name for name in self.names("--size", "r5")))

    def test_filters_that_nothing_matches(self) -> None:
        self.fails(2, "list", "--operation", "matmull", says="did you mean matmul")
        self.fails(2, "list", "--library", "hedle", says="did you mean heddle")
        for what in ("operation", "type", "rung", "library"):
            self.fails(2, "list", f"--{what}", "nope", says=f"no row has the {what} nope; heddle-bench list prints")
        self.fails(2, "list", "--operation", "matmul", "--type", "f64", says="the type f64; heddle-bench list prints")
        self.fails(2, "list", "--size", "1234567", says="no row has the size 1234567")
        self.fails(2, "list", "--filter", "^none$", says="no row's name matches")
        self.fails(2, "list", "--filter", "(", says="no regular expression")

    def test_the_headline_without_the_libraries_that_were_not_built_in(self) -> None:
        done = self.run_program("list", "--headline")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows, peers = zip(*(line.split() for line in done.stdout.splitlines()))
        self.assertGreater(len(rows), 50)
        self.assertLessEqual({*rows, *peers} - {"-"}, set(self.names()))
        left_out = re.findall(r"^heddle-bench: built without (?:cuBLAS|cuDNN|cuDNN's frontend|NPP); left out: (.+)$",
                              done.stderr, re.M)
        self.assertEqual(len(left_out), len(done.stderr.splitlines()), done.stderr)
        self.assertEqual(sum(len(names.split(", ")) for names in left_out), peers.count("-"))


class Usage(Program):
    def test_what_does_not_exist(self) -> None:
        self.fails(2, says="what to do")
        self.fails(2, "none", says="none")
        self.fails(2, "run", "--none", says="--none")
        self.fails(2, "run", "--repetitions", "4", says=out_of_range(4, 5, 1000))
        self.fails(2, "run", "--processes", "3", says="--processes is for --headline")

    def test_help(self) -> None:
        for command in ([], ["list"], ["run"], ["rung"], ["report"]):
            done = self.run_program(*command, "--help")
            self.assertEqual(done.returncode, 0)
            self.assertIn("Options:", done.stdout)


class Run(Program):
    def run_host_row(self, *more: str, **options: object) -> subprocess.CompletedProcess:
        return self.run_program("run", "--filter", f"^{HOST_ROW}$", "--output", self.folder / "a/record.json", *more,
                                **options)

    def test_writes_a_record(self) -> None:
        done = self.run_host_row(env=ENVIRONMENT | {"HEDDLE_COMMIT": "abc"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        record = json.loads((self.folder / "a/record.json").read_text())
        self.assertEqual([record[key] for key in ("schema", "complete", "commit", "repetitions", "ceilings", "watched")],
                         [1, True, "abc", 5, [], {}])
        self.assertRegex(record["sources_sha256"], "^[0-9a-f]{64}$")
        [row] = record["rows"]
        expected = {"operation": "sum", "type": "f32", "shape": "1048576", "library": "host", "bytes": 4 * 2**20}
        self.assertEqual({key: row[key] for key in expected}, expected)
        for left_out in ("rung", "hot", "limit", "error", "repetitions", "calls", "processes"):  # null, false, the head's, and samples
            self.assertNotIn(left_out, row)
        self.assertGreater(row["us"], 0)
        self.assertEqual([file.name for file in (self.folder / "a").iterdir()], ["record.json"])

    def test_keeps_samples(self) -> None:
        self.assertEqual(self.run_host_row("--samples").returncode, 0)
        [row] = json.loads((self.folder / "a/record.json").read_text())["rows"]
        self.assertEqual([len(process) for process in row["processes"]], [5])
        self.assertEqual(row["us"], statistics.median(row["processes"][0]))

    def test_says_what_is_left_out(self) -> None:
        done = self.run_program("run", "--operation", "sum", "--size", "1048576", "--type", "f32", "--library", "host",
                                "--library", "heddle", "--output", self.folder / "record.json")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Aheddle-bench: no GPU; \d+ rows are left out\n\Z")
        done = self.run_program("run", "--filter", f"^({HOST_ROW}|ceiling/ffma/heddle)$", "--output",
                                self.folder / "record.json")
        self.assertEqual(done.stderr, "heddle-bench: no GPU; 1 row is left out\n")

    def test_without_anything_to_run(self) -> None:
        record = self.folder / "record.json"
        record.write_text("old")
        self.fails(1, "run", "--operation", "matmul", "--rung", "tiled", "--output", record, says="no GPU; no row is left")
        self.fails(1, "run", "--headline", "--output", record, says="no GPU")
        self.fails(1, "run", "--headline", "--processes", "3", "--output", record, says="no GPU")
        self.assertEqual(record.read_text(), "old")

    def test_what_cannot_be_written(self) -> None:
        (self.folder / "file").write_text("")
        for output, message in ((self.folder / "file/record.json", "cannot write"), (self.folder, "no regular file"),
                                ("/dev/full", "no regular file")):
            self.fails(1, "run", "--filter", HOST_ROW, "--output", output, says=message)

    def test_a_full_disk_leaves_the_old_record(self) -> None:
        def no_room() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond fails, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        record = self.folder / "a/record.json"
        record.parent.mkdir()
        record.write_text("old")
        done = self.run_host_row(preexec_fn=no_room)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Aheddle-bench: cannot write [^\n]*record.json.partial[^\n]*\n\Z")
        self.assertIn(HOST_ROW, done.stdout)
        self.assertEqual(record.read_text(), "old")
        self.assertEqual(list(record.parent.iterdir()), [record])

    def test_ctrl_c_keeps_what_is_done(self) -> None:
        record = self.folder / "record.json"
        running = subprocess.Popen([program, "run", "--library", "host", "--repetitions", "1000", "--output", record],
                                   env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(3)
        running.send_signal(signal.SIGINT)
        printed, _ = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 130)
        self.assertIn("incomplete", printed)
        content = json.loads(record.read_text())
        self.assertFalse(content["complete"])
        self.assertGreater(len(content["rows"]), 0)


class Rung(Program):
    def test_what_does_not_exist(self) -> None:
        self.fails(2, "rung", "matmul", "tild", "--size", "512", says="matmul has no rung tild; did you mean tiled")
        self.fails(2, "rung", "softmaxx", "naive", "--size", "512", says="did you mean softmax")
        self.fails(2, "rung", "matmul", "tiled", says="which shape")
        self.fails(2, "rung", "matmul", "tiled", "--shape", "1x2", says="MxNxK, not 1x2")
        for shape in ("4096x4096x4foo", "4096x4096x4096x", "4096x-1x4096", "4096x0x4096", "x4096x4096", "4096 4096 4096", " 1x1x1"):
            self.fails(2, "rung", "matmul", "tiled", "--shape", shape, says=f"MxNxK, not {shape}")
        self.fails(2, "rung", "gaussian_blur", "separable", "--shape", "64x64x5", says="WIDTHxHEIGHT-rRADIUS")
        for shape in ("99999999999999999999x4096x4096", "4000000000x4000000000x1"):
            self.fails(2, "rung", "matmul", "tiled", "--shape", shape, says="too large")
        for size in ("4000000000", "99999999999999999999"):
            self.fails(2, "rung", "matmul", "tiled", "--size", size, says="(too large|not in range)")
        for size in ("0", "-1", "x"):
            self.fails(2, "rung", "matmul", "tiled", "--size", size, says=out_of_range(size, 1, 2**58))
        for words in (("nope", "tiled"), ("matmul", "nope"), ("layer_norm", "nope"),
                      ("matmul", "tiled", "--type", "nope")):
            self.fails(2, "rung", *words, "--size", "8", says="nope[a-z ]*; heddle-bench list prints the names")
        self.fails(2, "rung", "matmul", "tiled", "--size", "8", "--type", "u8", says="no type u8")
        self.fails(2, "rung", "layer_norm", "naive", "--size", "77", says="only these cases: layer_norm/")

    def test_without_a_gpu(self) -> None:
        for operation, rung in (("matmul", "tiled"), ("sum", "single_pass"), ("reduce", "interleaved"),
                                ("sigmoid", "vectorized"), ("softmax", "online"), ("transpose", "naive"),
                                ("gaussian_blur", "separable")):
            self.fails(1, "rung", operation, rung, "--size", "512", says="no GPU")
        self.fails(1, "rung", "layer_norm", "naive", "--size", "4096", says="no GPU")


class ConvRoofline(Program):
    def table(self, *arguments: object) -> list[list[str]]:
        done = self.run_program("conv-roofline", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split() for line in done.stdout.splitlines()]

    def test_a_networks_layers(self) -> None:
        lines = {line[0]: line for line in self.table("--network", "vgg16", "--count", 1)}
        self.assertEqual(lines["conv1_2"][1:3], ["1x224x224x64-k64-3x3-p1", "3.70"])
        self.assertEqual(lines["pool5"][3:5], ["32", "212"])
        self.assertEqual(lines["all"][1], "30.69")

    def test_under_the_roof_of_a_record(self) -> None:
        record = self.folder / "record.json"
        ceilings = [{"name": name, "bytes": 2**30, "hot": False, "per_second": 1e12, "unit": "B/s"}
                    for name in ("dram_copy", "dram_read", "dram_write")]
        ceilings.append({"name": "tensor_bf16", "hot": False, "per_second": 1e15, "unit": "FLOP/s"})
        record.write_text(json.dumps({"schema": 1, "gpu": {"name": "a GPU"}, "ceilings": ceilings, "rows": []}))
        title, _, line = self.table("--record", record, "--kernel", "5x5", "--channels", 1024, "--dilation", 2)
        self.assertIn("a convolution, bf16, under the roof of a GPU, cold", " ".join(title))
        self.assertEqual(line[1], "32x56x56x1024-k1024-5x5-p4-d2")
        self.assertEqual(line[-1], "tensor_bf16")
        self.assertAlmostEqual(float(line[8]), float(line[2]) * 1e9 / 1e15 * 1e6, places=1)
        self.assertEqual(self.table("--record", record, "--kernel", "1x1")[-1][-1], "memory")

    def test_what_does_not_fit(self) -> None:
        self.fails(2, "conv-roofline", "--network", "vgg", says="there is no network vgg")
        self.fails(2, "conv-roofline", "--network", "vgg16", "--channels", 3, says="--channels")
        for kernel in ("3", "3x0", "3x2000000", f"{2**63}x3"):
            self.fails(2, "conv-roofline", "--kernel", kernel, says=f"RxS, each from 1 to {2**20}, not {kernel}")
        self.fails(2, "conv-roofline", "--channels", 0, says=out_of_range(0, 1, 2**20))
        most = 2**20
        self.fails(2, "conv-roofline", "--count", most, "--height", most, "--channels", most, says="too large")
        self.fails(2, "conv-roofline", "--groups", 3, says="do not divide")
        self.fails(2, "conv-roofline", "--height", 2, "--kernel", "5x5", "--padding", 0, says="no place")
        self.fails(2, "conv-roofline", "--type", "f64", says="one of bf16")
        self.fails(1, "conv-roofline", "--time", says="no GPU")
        for option in ("--picture", "-o"):
            self.fails(1, "conv-roofline", option, self.folder / "x.svg", says="no GPU")
        self.fails(1, "conv-roofline", "--record", self.folder / "none.json", says="none.json")


class Report(Program):
    def test_bad_records(self) -> None:
        for text, message in (("", ""), ('{"schema": 1, "rows": [', "cut off"), ('{"schema": 99, "rows": []}', "schema 99"),
                              ("[]", "record")):
            with self.subTest(text):
                record = self.folder / "record.json"
                record.write_text(text)
                for option in ("--output", "-o"):
                    self.fails(1, "report", record, option, self.folder / "page.html", says=message)
                self.assertEqual(list(self.folder.iterdir()), [record])
        self.fails(1, "report", self.folder / "none.json", says="none.json")


if __name__ == "__main__":
    program = shared.argument(__doc__)
    unittest.main()

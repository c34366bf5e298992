#!/usr/bin/env python3
"""Tests the headline's record and its comparison on synthetic times. It needs no GPU: a program and an nvidia-smi that
scripts/bench-headline finds are made up here.

usage: bench_headline.py ROOT
"""

import dataclasses
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest


def script(name: str) -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(root / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module  # where dataclasses look for it
    loader.exec_module(module)
    return module


@dataclasses.dataclass(frozen=True)
class Kind:
    """Rows that the device, or the host, times alike: standard deviations as shares of the time."""
    name: str
    count: int
    us: tuple[float, float]  # between which the rows' times are
    repetition: float
    process: float  # of a process's rows, each by itself


# As on an H200: a large row that memory limits repeats to less than 1 %, a small one or a hot one, or one
# whose clocks the power limits, to several.
LARGE = Kind("large", 18, (15, 1000), 0.004, 0.004)
SMALL = Kind("small", 8, (5, 12), 0.015, 0.015)
HOT = Kind("hot", 5, (3, 8), 0.06, 0.03)
PRODUCT = Kind("product", 15, (13, 1500), 0.04, 0.01)
KINDS = [LARGE, SMALL, HOT, PRODUCT]
PROCESSES, REPETITIONS = 5, 5
RUN = 0.005  # the standard deviation of what all rows of a run share
OUTLIERS, OUTLIER = 0.01, 1.3  # how many repetitions something else disturbs, and by how much


def names() -> list[tuple[Kind, str]]:
    return [(kind, f"{kind.name}/f32/{index}") for kind in KINDS for index in range(kind.count)]


def times(us: float, kind: Kind, rng: random.Random) -> list[list[float]]:
    result = []
    for _ in range(PROCESSES):
        of_process = us * rng.gauss(1, kind.process)
        result.append([of_process * rng.gauss(1, kind.repetition) * (OUTLIER if rng.random() < OUTLIERS else 1)
                       for _ in range(REPETITIONS)])
    return result


def record(seed: int, factors: dict[str, float] | None = None, machine: float = 1.0, **fields: object) -> dict:
    """Of a run: the same rows for all seeds, with other noise. `factors` multiply heddle's times, `machine` all."""
    rng = random.Random(seed)
    rows_rng = random.Random(0)
    of_run = machine * rng.gauss(1, RUN)
    rows, peers = [], []
    for kind, name in names():
        us = rows_rng.uniform(*kind.us)
        own = (factors or {}).get(name, 1.0)
        rows.append({"name": f"{name}/heddle", "peer": f"{name}/peer",
                     "samples_us": times(of_run * own * us, kind, rng)})
        peers.append({"name": f"{name}/peer", "samples_us": times(of_run * 1.2 * us, kind, rng)})
    return {"format": bench_compare.FORMAT, "gpu": "GPU", "commit": str(seed), "driver": "1", "cuda": "13.0",
            "libraries": {}, "gpu_states": [{"sm_mhz": [300, 1900, 1980], "throttle_reasons": ["sw_power_cap"]}],
            "processes": PROCESSES, "repetitions": REPETITIONS, "rows": rows + peers} | fields


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.files = 0

    def file(self, content: object) -> pathlib.Path:
        self.files += 1
        file = self.folder / f"{self.files}.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

    def run_compare(self, *arguments: object) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, root / "benchmarks/report/compare.py", *map(str, arguments)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Comparison(InFolder):
    def verdicts(self, old: dict, new: dict) -> dict[str, str]:
        rows, _ = bench_compare.compare(bench_compare.read(self.file(old)), bench_compare.read(self.file(new)))
        return {row.name.removesuffix("/heddle"): row.verdict for row in rows}

    def test_runs_of_the_same_code_are_the_same(self) -> None:
        verdicts = [verdict for seed in range(5)
                    for verdict in self.verdicts(record(2 * seed), record(2 * seed + 1)).values()]
        self.assertEqual(len(verdicts), 5 * len(names()))
        self.assertGreaterEqual(verdicts.count("same"), 0.9 * len(verdicts))

    def test_finds_kernels_that_take_5_percent_longer_or_shorter(self) -> None:
        large = [name for kind, name in names() if kind is LARGE]
        for factor, verdict in ((1.05, "slower"), (1 / 1.05, "faster")):
            for seed in range(5):
                changed = set(large[seed::5])
                verdicts = self.verdicts(record(2 * seed), record(2 * seed + 1, dict.fromkeys(changed, factor)))
                self.assertEqual({name for name in large if verdicts[name] == verdict}, changed)

    def test_finds_10_percent_where_power_limits_the_clocks(self) -> None:
        products = [name for kind, name in names() if kind is PRODUCT]
        found = [verdict for seed in range(3)
                 for name, verdict in self.verdicts(record(seed), record(seed + 10, dict.fromkeys(products, 1.1))).items()
                 if name in products]
        self.assertGreaterEqual(found.count("slower"), 0.9 * len(found))

    def test_a_slower_machine_is_no_slower_kernel(self) -> None:
        verdicts = list(self.verdicts(record(1), record(2, machine=1.06)).values())
        self.assertGreaterEqual(verdicts.count("same"), 0.9 * len(verdicts))
        _, peers = bench_compare.compare(bench_compare.read(self.file(record(1))),
                                         bench_compare.read(self.file(record(2, machine=1.06))))
        self.assertGreater(sum(row.verdict == "slower" for row in peers), len(peers) / 2)

    def test_a_difference_counts_from_300_ns_on(self) -> None:
        def exact(us: float) -> dict:
            samples = [[us] * REPETITIONS] * PROCESSES
            peer = [[10.0] * REPETITIONS] * PROCESSES
            return record(0, rows=[{"name": "a/heddle", "peer": "a/peer", "samples_us": samples},
                                   {"name": "a/peer", "samples_us": peer}])

        for old, new, verdict in ((2.0, 2.29, "same"), (2.0, 2.31, "slower"), (2.31, 2.0, "faster"),
                                  (100.0, 102.9, "same"), (100.0, 103.1, "slower"), (100.0, 96.9, "faster")):
            self.assertEqual(self.verdicts(exact(old), exact(new)), {"a": verdict}, (old, new))

    def test_the_interval_resamples_whole_processes(self) -> None:
        """Repetitions that agree within processes that do not: many of them know no more than the processes."""
        def of(processes: list[float]) -> dict:
            return record(0, processes=3, repetitions=50,
                          rows=[{"name": "a/heddle", "peer": "none", "samples_us": [[us] * 50 for us in processes]}])

        self.assertEqual(self.verdicts(of([100, 100, 110]), of([110, 100, 110])), {"a": "same"})
        self.assertEqual(self.verdicts(of([100, 100, 101]), of([110, 109, 110])), {"a": "slower"})

    def test_weights_of_a_median(self) -> None:
        for count in (3, 5, 8):
            weights = bench_compare.median_weights(count)
            self.assertAlmostEqual(sum(weights), 1)
            self.assertTrue(all(weight > 0 for weight in weights))
        for weight, of_27 in zip(bench_compare.median_weights(3), (7, 13, 7)):  # counted by hand
            self.assertAlmostEqual(weight, of_27 / 27)


class ExitStatus(InFolder):
    SLOWER = {"large/f32/3": 1.08}

    def test_tells_whether_a_row_is_slower(self) -> None:
        old, same = self.file(record(1)), self.file(record(1))
        slower, faster = self.file(record(1, self.SLOWER)), self.file(record(1, {"large/f32/3": 0.9}))
        for new, options, status in ((same, [], 0), (faster, [], 0), (slower, [], 1),
                                     (slower, ["--threshold", "7"], 1), (slower, ["--threshold", "9"], 0)):
            run = self.run_compare(old, new, *options)
            self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        shown = next(line for line in self.run_compare(old, slower).stdout.splitlines() if line.startswith("large/f32/3/"))
        self.assertIn("1.080", shown)
        self.assertTrue(shown.endswith("slower"))

    def test_a_row_that_is_gone_or_failed_counts(self) -> None:
        old, gone, failed = record(1), record(1), record(1)
        name = gone["rows"].pop(0)["name"]
        failed["rows"][0] = {"name": name, "peer": failed["rows"][0]["peer"], "error": "why not"}
        for new in (gone, failed):
            run = self.run_compare(self.file(old), self.file(new))
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            self.assertIn(name, run.stdout)
        self.assertEqual(self.run_compare(self.file(gone), self.file(old)).returncode, 0)

    def test_says_how_the_peers_changed(self) -> None:
        run = self.run_compare(self.file(record(1)), self.file(record(1, machine=1.04)))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn(f"{len(names())} peers as a whole: 1.040", run.stdout)
        self.assertIn("the machine changed", run.stdout)

    def test_refuses_bad_input(self) -> None:
        good = record(1)
        other_rows = record(1)
        other_rows["rows"] = [{**row, "name": f"other-{row['name']}"} for row in other_rows["rows"]]
        lacking = record(1)
        lacking["rows"][0]["samples_us"] = lacking["rows"][0]["samples_us"][:-1]
        short = record(1)
        short["rows"][0]["samples_us"][0].pop()
        not_a_time = record(1)
        not_a_time["rows"][0]["samples_us"][0][0] = float("nan")
        without_rows = {key: value for key, value in good.items() if key != "rows"}
        for new, message in ((record(1, format=bench_compare.FORMAT + 1), "format"), ({"benchmarks": []}, "not a record"),
                             ([], "not a record"), ("", "Expecting value"), (json.dumps(good)[:-100], "cut off"),
                             (lacking, "damaged"), (short, "damaged"), (not_a_time, "damaged"),
                             (without_rows, "damaged"), (record(1, rows=[{}]), "damaged"),
                             (record(1, gpu="another"), "different GPUs"), (other_rows, "no row in common")):
            for pair in ((self.file(good), self.file(new)), (self.file(new), self.file(good))):
                run = self.run_compare(*pair)
                self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
                self.assertIn(message, run.stderr)
        old = self.file(good)
        for arguments in ([old], [old, self.folder / "none.json"], [old, old, old], [old, old, "--threshold", "1"]):
            self.assertEqual(self.run_compare(*arguments).returncode, 2)
        self.assertEqual(self.run_compare(old, self.file(record(1, gpu="another")), "--force").returncode, 0)

    def test_checks_itself(self) -> None:
        alike = [self.file(record(seed)) for seed in range(2)]
        run = self.run_compare("--self-check", *alike)
        self.assertRegex(run.stdout, r"same: \d+ of 46 rows; slower by 5 %, and found: \d+ of \d+")
        changed = self.file(record(2, {name: 1.2 for _, name in names()}))
        self.assertEqual(self.run_compare("--self-check", alike[0], changed).returncode, 1)


# Rows of two cases, the second of which takes longer from process to process; the file of the count is beside it.
PROGRAM = """\
    #!{python}
    import json, pathlib, sys
    if sys.argv[1:] == ["--headline", "--list"]:
        print("a/heddle a/peer")
        print("b/heddle a/peer")
        sys.exit(0)
    options = dict(argument.split("=") for argument in sys.argv[1:] if "=" in argument)
    counter = pathlib.Path(__file__).with_name("count")
    process = int(counter.read_text()) if counter.exists() else 0
    counter.write_text(str(process + 1))
    failed = {failed}
    rows = []
    for name, us in (("a/heddle", 2.0), ("a/peer", 4.0), ("b/heddle", 10.0 + process), ("c/heddle", 1.0)):
        for repetition in reversed(range(int(options["--benchmark_repetitions"]))):
            row = {{"run_name": name + "/iterations:1/manual_time", "run_type": "iteration",
                    "repetition_index": repetition, "real_time": us + repetition / 10, "time_unit": "us", "calls": 7}}
            row["bytes_per_second"] = 1e6 / row["real_time"]
            if failed and name == "a/heddle":
                row |= {{"error_occurred": True, "error_message": "no memory"}}
            rows.append(row)
        rows.append({{"run_name": name + "/iterations:1/manual_time", "run_type": "aggregate"}})
    pathlib.Path(options["--benchmark_out"]).write_text(json.dumps(
        {{"context": {{"gpu_name": "GPU", "cuda_runtime": "13.0", "cublas": "1.2"}}, "benchmarks": rows}}))
    sys.exit(1 if failed else 0)
    """
# It lists four GPUs, knows the last, and that by the old name of the reasons for low clocks.
NVIDIA_SMI = """\
    #!{python}
    import sys, time
    if sys.argv[1:] == ["--list-gpus"]:
        print(*(f"GPU {{index}}: NVIDIA (UUID: GPU-{{index}}a)" for index in range(4)), sep="\\n")
        sys.exit(0)
    options = dict(argument.partition("=")[::2] for argument in sys.argv[1:])
    query = options["--query-gpu"].split(",")
    if options["--id"] != "3" or "clocks_event_reasons.active" in query:
        sys.exit(1)
    known = {{"name": "GPU", "driver_version": "580.1", "clocks.sm": "1900", "clocks.mem": "2619", "power.draw": "[N/A]",
              "temperature.gpu": "40", "clocks_throttle_reasons.active": "0x0000000000000005"}}
    print(", ".join(known[name] for name in query), flush=True)
    if "--loop" in options:
        time.sleep(60)
    """


class Recording(InFolder):
    def record(self, failed: bool = False, visible: str = "3,1", **environment: str) -> subprocess.CompletedProcess:
        for name, text in (("heddle_bench", PROGRAM), ("nvidia-smi", NVIDIA_SMI)):
            file = self.folder / name
            file.write_text(textwrap.dedent(text).format(python=sys.executable, failed=failed))
            file.chmod(0o755)
        environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": visible, **environment}
        return subprocess.run(
            [sys.executable, root / "scripts/bench-headline", "--program", self.folder / "heddle_bench", "--processes",
             "3", "--repetitions", "4", "--output", self.folder / "records/headline.json"],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment})

    def content(self) -> dict:
        return json.loads((self.folder / "records/headline.json").read_text())

    def test_keeps_the_samples_of_each_process(self) -> None:
        run = self.record(HEDDLE_COMMIT="abc")
        self.assertEqual(run.returncode, 0, run.stderr)
        content = self.content()
        self.assertEqual({key: content[key] for key in ("commit", "gpu", "driver", "cuda", "processes", "repetitions")},
                         {"commit": "abc", "gpu": "GPU", "driver": "580.1", "cuda": "13.0", "processes": 3,
                          "repetitions": 4})
        self.assertEqual(content["libraries"], {"cublas": "1.2"})
        self.assertRegex(content["sources_sha256"], "^[0-9a-f]{64}$")
        rows = {row["name"]: row for row in content["rows"]}
        self.assertEqual(list(rows), ["a/heddle", "a/peer", "b/heddle"])
        self.assertEqual(rows["b/heddle"]["samples_us"],
                         [[start, start + 0.1, start + 0.2, start + 0.3] for start in (10.0, 11.0, 12.0)])
        self.assertEqual(rows["b/heddle"]["peer"], "a/peer")
        self.assertNotIn("peer", rows["a/peer"])
        self.assertEqual((rows["a/peer"]["median_us"], rows["a/peer"]["calls"]), (4.15, 7))
        self.assertAlmostEqual(rows["a/peer"]["spread"], 0.15 / 4.15, places=3)
        self.assertAlmostEqual(rows["a/peer"]["bytes_per_second"], 1e6 / 4.15, delta=100)

    def test_says_how_the_gpu_was_doing(self) -> None:
        self.record()
        for state in self.content()["gpu_states"]:
            # A short process may end before nvidia-smi has written a line.
            self.assertIn(state, ({"sm_mhz": [1900, 1900, 1900], "memory_mhz": [2619, 2619, 2619],
                                   "temperature_c": [40, 40, 40], "throttle_reasons": ["sw_power_cap"]},
                                  {"throttle_reasons": []}))
        lines = "1500, 2619, 300.5, 40, 0x4\n1900, 2619, [N/A], 41, 0x1\n1700, 26"
        self.assertEqual(bench_headline.watched(lines),
                         {"sm_mhz": [1500, 1700, 1900], "memory_mhz": [26, 2619, 2619], "power_w": [300.5] * 3,
                          "temperature_c": [40, 40.5, 41], "throttle_reasons": ["sw_power_cap"]})

    def test_a_record_compares_with_itself(self) -> None:
        self.record()
        file = self.folder / "records/headline.json"
        run = self.run_compare(file, file)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("2 same", run.stdout)

    def test_a_failed_row_fails_the_run(self) -> None:
        self.assertEqual(self.record(failed=True).returncode, 1)
        rows = {row["name"]: row for row in self.content()["rows"]}
        self.assertEqual(rows["a/heddle"], {"name": "a/heddle", "peer": "a/peer", "error": "no memory"})
        self.assertIn("samples_us", rows["b/heddle"])

    def test_asks_the_first_visible_gpu(self) -> None:
        for visible in ("1,3", "-1", "", "GPU-7"):
            run = self.record(visible=visible)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertFalse((self.folder / "records").exists())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.dont_write_bytecode = True
    root = pathlib.Path(sys.argv.pop()).resolve()
    sys.path.insert(0, str(root / "benchmarks/report"))
    import compare as bench_compare
    bench_headline = script("bench-headline")
    unittest.main()

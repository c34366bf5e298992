#!/usr/bin/env python3
"""Tests the comparison of headlines on synthetic times. It needs no GPU.

usage: bench_headline.py ROOT
"""

import dataclasses
import json
import random
import statistics
import subprocess
import sys
import unittest

import shared
from shared import row


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of rows with equal noise: standard deviations as shares of the time."""
    name: str
    count: int
    us: tuple[float, float]  # the range of the rows' times
    repetition: float
    process: float  # of each row, from process to process


# As on an H200: a large row that memory limits repeats to less than 1 %. A small or a hot row, or one whose
# clocks the power limits, repeats to several per cent.
LARGE = Kind("large", 18, (15, 1000), 0.004, 0.004)
SMALL = Kind("small", 8, (5, 12), 0.015, 0.015)
HOT = Kind("hot", 5, (3, 8), 0.06, 0.03)
PRODUCT = Kind("product", 15, (13, 1500), 0.04, 0.01)
KINDS = [LARGE, SMALL, HOT, PRODUCT]
PROCESSES, REPETITIONS = 5, 5
RUN = 0.005  # the standard deviation of the common error of a run
OUTLIERS, OUTLIER = 0.01, 1.3  # the share of disturbed repetitions, and their factor


def names() -> list[tuple[Kind, str]]:
    return [(kind, f"{kind.name}/f32/{index}") for kind in KINDS for index in range(kind.count)]


def times(us: float, kind: Kind, rng: random.Random) -> list[list[float]]:
    result = []
    for _ in range(PROCESSES):
        of_process = us * rng.gauss(1, kind.process)
        result.append([of_process * rng.gauss(1, kind.repetition) * (OUTLIER if rng.random() < OUTLIERS else 1)
                       for _ in range(REPETITIONS)])
    return result


def timed(name: str, samples: list[list[float]], **fields: object) -> dict:
    """A row with the us of each process's repetitions."""
    return row(name, statistics.median(us for process in samples for us in process), processes=samples, **fields)


def record(seed: int, factors: dict[str, float] | None = None, machine: float = 1.0, **fields: object) -> dict:
    """The rows of a run: the same for all seeds, with other noise. `factors` multiply heddle's times, `machine` all."""
    rng = random.Random(seed)
    rows_rng = random.Random(0)
    of_run = machine * rng.gauss(1, RUN)
    rows, peers = [], []
    for kind, name in names():
        us = rows_rng.uniform(*kind.us)
        own = (factors or {}).get(name, 1.0)
        rows.append(timed(f"{name}/heddle", times(of_run * own * us, kind, rng), peer=f"{name}/peer"))
        peers.append(timed(f"{name}/peer", times(of_run * 1.2 * us, kind, rng)))
    return {"schema": 1, "gpu": {"name": "GPU"}, "date": "2000-01-01", "commit": str(seed), "driver": "1", "cuda": "13.0",
            "peers": {}, "watched": {"sm_mhz": [300, 1900, 1980], "throttled": ["sw_power_cap"]}, "complete": True,
            "repetitions": REPETITIONS, "rows": rows + peers} | fields


class InFolder(shared.InFolder):
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
            return record(0, rows=[timed("a/f32/1/heddle", samples, peer="a/f32/1/peer"), timed("a/f32/1/peer", peer)])

        for old, new, verdict in ((2.0, 2.29, "same"), (2.0, 2.31, "slower"), (2.31, 2.0, "faster"),
                                  (100.0, 102.9, "same"), (100.0, 103.1, "slower"), (100.0, 96.9, "faster")):
            self.assertEqual(self.verdicts(exact(old), exact(new)), {"a/f32/1": verdict}, (old, new))

    def test_the_interval_resamples_whole_processes(self) -> None:
        """Repetitions that agree within processes, which differ: more repetitions give no more information."""
        def of(processes: list[float]) -> dict:
            return record(0, repetitions=50,
                          rows=[timed("a/f32/1/heddle", [[us] * 50 for us in processes], peer="none")])

        self.assertEqual(self.verdicts(of([100, 100, 110]), of([110, 100, 110])), {"a/f32/1": "same"})
        self.assertEqual(self.verdicts(of([100, 100, 101]), of([110, 109, 110])), {"a/f32/1": "slower"})

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
        name = f"{names()[0][1]}/heddle"
        del gone["rows"][0]
        failed["rows"][0] = row(name, None, peer=failed["rows"][0]["peer"], error="why not")
        for new in (gone, failed):
            run = self.run_compare(self.file(old), self.file(new))
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            self.assertIn(name, run.stdout)
        self.assertEqual(self.run_compare(self.file(gone), self.file(old)).returncode, 0)

    def test_counts_the_rows_that_only_one_record_has(self) -> None:
        def lines(*arguments: object) -> list[str]:
            return [line for line in self.run_compare(*arguments).stdout.splitlines() if line.startswith("only in")]

        old, new = record(1), record(1)
        new["rows"] = [of for of in new["rows"] if of["operation"] != "large"]
        with_more = record(1)
        with_more["rows"].append({**with_more["rows"][0], "operation": "more"})
        files = self.file(old), self.file(new)
        self.assertEqual(lines(*files), [
            "only in old, or failed in new: 18 rows, such as large/f32/0/heddle, large/f32/1/heddle, "
            "large/f32/10/heddle; --all shows all"])
        self.assertEqual(len(lines(*files, "--all")), 18)
        self.assertEqual(lines(files[0], self.file(with_more)), ["only in new: more/f32/0/heddle"])

    def test_says_how_the_peers_changed(self) -> None:
        run = self.run_compare(self.file(record(1)), self.file(record(1, machine=1.04)))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn(f"{len(names())} peers as a whole: 1.040", run.stdout)
        self.assertIn("the machine changed", run.stdout)

    def test_refuses_bad_input(self) -> None:
        good = record(1)
        other_rows = record(1)
        other_rows["rows"] = [{**of, "operation": f"other-{of['operation']}"} for of in other_rows["rows"]]
        lacking = record(1)
        lacking["rows"][0]["processes"] = lacking["rows"][0]["processes"][:-1]
        short = record(1)
        short["rows"][0]["processes"][0].pop()
        not_a_time = record(1)
        not_a_time["rows"][0]["processes"][0][0] = float("nan")
        without_rows = {key: value for key, value in good.items() if key != "rows"}
        for new, message in ((record(1, schema=2), "schema 2"), ({"benchmarks": []}, "not a record"),
                             ([], "not a record"), ("", "Expecting value"), (json.dumps(good)[:-100], "cut off"),
                             (lacking, "damaged"), (short, "damaged"), (not_a_time, "damaged"),
                             (without_rows, "damaged"), (record(1, rows=[{}]), "damaged"),
                             (record(1, gpu={"name": "another"}), "different GPUs"), (other_rows, "no row in common")):
            for pair in ((self.file(good), self.file(new)), (self.file(new), self.file(good))):
                run = self.run_compare(*pair)
                self.assertEqual(run.returncode, 2, run.stdout + run.stderr)
                self.assertIn(message, run.stderr)
        old = self.file(good)
        for arguments in ([old], [old, self.folder / "none.json"], [old, old, old], [old, old, "--threshold", "1"],
                          [old, old, "--threshold", "nan"]):
            self.assertEqual(self.run_compare(*arguments).returncode, 2)
        self.assertEqual(self.run_compare(old, self.file(record(1, gpu={"name": "another"})), "--force").returncode, 0)

    def test_checks_itself(self) -> None:
        alike = [self.file(record(seed)) for seed in range(2)]
        run = self.run_compare("--self-check", *alike)
        self.assertRegex(run.stdout, r"same: \d+ of 46 rows; slower by 5 %, and found: \d+ of \d+")
        changed = self.file(record(2, {name: 1.2 for _, name in names()}))
        self.assertEqual(self.run_compare("--self-check", alike[0], changed).returncode, 1)


if __name__ == "__main__":
    root = shared.argument(__doc__)
    sys.path.insert(0, str(root / "benchmarks/report"))
    import compare as bench_compare
    unittest.main()

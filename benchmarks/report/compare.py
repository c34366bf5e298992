#!/usr/bin/env python3
"""Compares two records of heddle-bench run: which of heddle's rows became faster or slower. Needs no GPU.

A difference counts from 3 % or 0.3 us on, whichever is larger, where the interval of new / old excludes 1. Of the headline,
which runs in several processes, a row's time is the median over processes of each process's median, and the interval is of
95 %, by resampling whole processes, and repetitions within each. Of other records it is the two rows' spreads together.
The row must also have changed by 3 % beside its peer, which ran in the same processes: where the peer changed as much, the
machine did. A row without a peer stands beside its limit, which was measured in the same run. A machine that became faster
can so hide a slower kernel; how the peers changed as a whole is printed. Rows of the CPU count where it is the same.

Exits with 0; with 1 where a row is slower by more than the threshold, or is missing; with 2 where the records cannot be compared.
"""

import argparse
import dataclasses
import functools
import itertools
import math
import operator
import pathlib
import random
import statistics
import sys

import program
import record as records_of_runs
from record import BadRecord

LEAST_PROCESSES = 3
LEAST_SHARE = 0.03
LEAST_US = 0.3
CONFIDENCE = 0.95
RESAMPLES = 2000
# The self-check plants this change in rows that are long enough for it to exceed LEAST_US, and asks for these shares.
PLANTED, PLANTED_FROM_US = 1.05, 10.0
WANTED_SHARE = 0.9
SHOWN_WHOLE = 80  # rows; of more than these only what changed is shown
FEW = 3  # names of the rows that only one record has

Samples = list[list[float]]  # us, of each process the repetitions


# --- the records ---

@dataclasses.dataclass(frozen=True)
class Times:
    samples: Samples  # empty where a record has no more than the next two
    us: float
    spread: float

    def slowed(self, factor: float) -> "Times":
        return Times([[factor * us for us in process] for process in self.samples], factor * self.us, self.spread)


@dataclasses.dataclass(frozen=True)
class Record:
    gpu: str
    cpu: str
    about: dict
    watched: dict  # least, median and greatest of each quantity, and why clocks were low
    times: dict[str, Times]
    peers: dict[str, str | None]  # of heddle's rows
    limits: dict[str, tuple[float, float | None, float | None]]  # us, and the bytes and operations that it is of
    on_cpu: set[str]

    def slowed(self, factor: float) -> "Record":
        """As if heddle's kernels took so much longer."""
        times = {name: row.slowed(factor) if name in self.peers else row for name, row in self.times.items()}
        return dataclasses.replace(self, times=times)


def read(file: pathlib.Path) -> Record:
    record = records_of_runs.read(file)
    rows = [row for row in record.rows if not row.error]
    with_samples = [row.processes for row in rows if row.processes]
    processes = max((len(samples) for samples in with_samples), default=LEAST_PROCESSES)
    if processes < LEAST_PROCESSES:
        raise BadRecord(f"{file} has {processes} process{'' if processes == 1 else 'es'}: "
                        f"less than {LEAST_PROCESSES} tell nothing of the noise")
    if any(len(samples) != processes or len({len(process) for process in samples}) != 1 or not samples[0]
           for samples in with_samples):
        raise BadRecord(f"{file} is damaged: a row has not all of its samples")
    vendors = {case_row.name: case.vendor.name for case in record.cases if case.vendor for case_row in case.rows}
    ours = [row for row in rows if row.library in ("heddle", "host")]
    return Record(
        record.gpu, str(record.content.get("cpu")),
        {key: record.content.get(key, "unknown") for key in ("commit", "driver", "cuda", "peers")},
        record.content.get("watched") or {},
        {row.name: Times([list(process) for process in row.processes], row.us, row.spread) for row in rows},
        {row.name: row.peer or (None if row.on_cpu else vendors.get(row.name)) for row in ours},
        {row.name: (row.limit.us, row.bytes, row.operations) for row in ours if row.limit},
        {row.name for row in rows if row.on_cpu})


# --- the ratio of a row's times, and its interval ---

def median_weights(count: int) -> list[float]:
    """How probable each of `count` sorted values is to be the median of as many that are drawn from them anew."""
    middle = count // 2

    def at_most(index: int) -> float:
        share = (index + 1) / count
        return sum(math.comb(count, below) * share**below * (1 - share) ** (count - below)
                   for below in range(middle + 1, count + 1))

    return [at_most(index) - (at_most(index - 1) if index else 0.0) for index in range(count)]


def level(times: Times) -> float:
    """The logarithm of the row's time."""
    return level_of(times.samples) if times.samples else math.log(times.us)


def level_of(samples: Samples) -> float:
    return statistics.median(math.log(sorted(process)[len(process) // 2]) for process in samples)


@functools.cache
def draws(*shapes: tuple[int, int]) -> list[operator.itemgetter]:
    """Draws, of so many processes and repetitions each, as many processes anew, each with a median that it can have."""
    rng = random.Random(1)
    result = []
    for count, repetitions in shapes:
        weights = median_weights(repetitions) * count
        result.append(operator.itemgetter(*rng.choices(range(len(weights)), weights, k=RESAMPLES * count)))
    return result


def resampled(samples: Samples, drawn: operator.itemgetter) -> list[float]:
    """The level of each draw."""
    count = len(samples)
    medians = drawn([math.log(time) for process in samples for time in sorted(process)])
    ordered = map(sorted, zip(*[iter(medians)] * count))
    if count % 2 == 1:
        return [levels[count // 2] for levels in ordered]
    return [(levels[count // 2 - 1] + levels[count // 2]) / 2 for levels in ordered]


def spread_of(times: Times) -> float:
    """Half the range over the median."""
    if not times.samples:
        return times.spread
    all_us = [us for process in times.samples for us in process]
    return (max(all_us) - min(all_us)) / 2 / statistics.median(all_us)


@dataclasses.dataclass(frozen=True)
class Ratio:
    old: Times
    new: Times

    @functools.cached_property
    def value(self) -> float:
        return math.exp(self._level)

    @property
    def low(self) -> float:
        return self._interval[0]

    @property
    def high(self) -> float:
        return self._interval[1]

    @functools.cached_property
    def _level(self) -> float:
        return level(self.new) - level(self.old)

    @functools.cached_property
    def _interval(self) -> tuple[float, float]:  # which takes long, and of most rows nobody asks
        old, new = self.old.samples, self.new.samples
        if not old or not new:
            spread = math.hypot(spread_of(self.old), spread_of(self.new))
            return math.exp(self._level - spread), math.exp(self._level + spread)
        of_old, of_new = draws(*((len(samples), len(samples[0])) for samples in (old, new)))
        differences = sorted(map(operator.sub, resampled(new, of_new), resampled(old, of_old)))
        # What is drawn from n values varies less than n new ones would, by this factor.
        few = min(len(old), len(new))
        widened = math.sqrt(few / (few - 1))
        tail = round((1 - CONFIDENCE) / 2 * len(differences))
        low, high = (math.exp(self._level + widened * (differences[index] - self._level))
                     for index in (tail, -1 - tail))
        return low, high


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    old_us: float
    new_us: float
    ratio: Ratio
    beside_peer: float | None  # the ratio over the peer's

    @property
    def verdict(self) -> str:
        if abs(self.new_us - self.old_us) < max(LEAST_SHARE * self.old_us, LEAST_US):
            return "same"
        beside_peer = self.ratio.value if self.beside_peer is None else self.beside_peer
        if self.ratio.low > 1 and beside_peer >= 1 + LEAST_SHARE:
            return "slower"
        if self.ratio.high < 1 and beside_peer <= 1 / (1 + LEAST_SHARE):
            return "faster"
        return "same"


def compared(name: str, old: Record, new: Record, peer: str | None) -> Row:
    at, to = level(old.times[name]), level(new.times[name])
    beside_peer = None
    if peer in old.times and peer in new.times:
        beside_peer = math.exp(to - at - level(new.times[peer]) + level(old.times[peer]))
    elif name in old.limits and name in new.limits and old.limits[name][1:] == new.limits[name][1:]:
        beside_peer = math.exp(to - at) * old.limits[name][0] / new.limits[name][0]
    return Row(name, math.exp(at), math.exp(to), Ratio(old.times[name], new.times[name]), beside_peer)


def comparable(record: Record, other: Record) -> list[str]:
    """heddle's rows that can be compared."""
    return [name for name in record.peers if name not in record.on_cpu or record.cpu == other.cpu]


def compare(old: Record, new: Record) -> tuple[list[Row], list[Row]]:
    """heddle's rows, and the peers'."""
    names = [name for name in comparable(old, new) if name in new.peers]
    if not names:
        raise BadRecord("the records have no row in common")
    peers = [peer for peer in dict.fromkeys(old.peers[name] for name in names)
             if peer in old.times and peer in new.times]
    return ([compared(name, old, new, old.peers[name]) for name in names],
            [compared(name, old, new, None) for name in peers])


# --- what is printed ---

def state(record: Record) -> str:
    """What the GPU's clocks were while the rows ran."""
    clocks = record.watched.get("sm_mhz")
    return ", ".join([f"median SM clock {clocks[1]:.0f} MHz" if clocks else "clocks unknown",
                      *sorted(record.watched.get("throttled") or [])])


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def show_lone(where: str, names: list[str], whole: bool) -> None:
    """The rows that only one record has."""
    if len(names) > FEW and not whole:
        print(f"{where}: {len(names)} rows, such as {', '.join(names[:FEW])}; --all shows all")
        return
    for name in names:
        print(f"{where}: {name}")


def show(rows: list[Row], peers: list[Row], whole: bool) -> None:
    shown = rows if whole or len(rows) <= SHOWN_WHOLE else [row for row in rows if row.verdict != "same"]
    print(f"{'row':48} {'old, us':>10} {'new, us':>10} {'new / old':>9} {'interval':>13} {'beside peer':>11}")
    for row in shown:
        beside_peer = f"{row.beside_peer:.3f}" if row.beside_peer else ""
        print(f"{row.name:48} {row.old_us:10.2f} {row.new_us:10.2f} {row.ratio.value:9.3f} "
              f"{row.ratio.low:6.3f}-{row.ratio.high:.3f} {beside_peer:>11}  {row.verdict}")
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in ("faster", "slower", "same")}
    print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
          + ("; --all shows all" if len(shown) < len(rows) else ""))
    if not peers:
        return
    together = math.exp(statistics.fmean(math.log(row.ratio.value) for row in peers))
    changed = [f"{row.name} {row.ratio.value:.3f}" for row in peers if row.verdict != "same"]
    print(f"the {counted(len(peers), 'peer')} as a whole: {together:.3f} of the old time, each from "
          f"{min(row.ratio.value for row in peers):.3f} to {max(row.ratio.value for row in peers):.3f}"
          + (f"; changed: {', '.join(changed)}" if changed else ""))
    if abs(together - 1) >= LEAST_SHARE / 2:
        print("the machine changed between the runs: measure both again, one right after the other")


def self_check(records: list[Record]) -> bool:
    """Tells of records of the same code whether their rows count as the same, and a planted change is found."""
    same: list[bool] = []
    found: list[bool] = []
    for old, new in itertools.pairwise(records):
        same += [row.verdict == "same" for row in compare(old, new)[0]]
        for row in compare(old, new.slowed(PLANTED))[0]:
            if row.old_us < PLANTED_FROM_US:
                continue
            found.append(row.verdict == "slower")
            if not found[-1]:
                print(f"not found: {row.name} {row.ratio.value:.3f} ({row.ratio.low:.3f}-{row.ratio.high:.3f})")
    print(f"same: {sum(same)} of {counted(len(same), 'row')}; slower by {100 * (PLANTED - 1):.0f} %, and found: "
          f"{sum(found)} of {counted(len(found), 'row')} from {PLANTED_FROM_US:.0f} us on")
    return sum(same) >= WANTED_SHARE * len(same) and len(found) > 0 and sum(found) >= WANTED_SHARE * len(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     prog="compare")
    parser.add_argument("records", nargs="+", type=pathlib.Path, metavar="RECORD", help="OLD and NEW")
    parser.add_argument("--threshold", type=float, default=100 * LEAST_SHARE, metavar="PERCENT",
                        help=f"how much slower a row may be (default, and least, {100 * LEAST_SHARE:.0f})")
    parser.add_argument("--all", action="store_true",
                        help=f"show every row, also of more than {SHOWN_WHOLE}, and name all that only one record has")
    parser.add_argument("--force", action="store_true", help="compare records of different GPUs")
    parser.add_argument("--self-check", action="store_true",
                        help="of two or more records of the same code, each with the next: whether at least "
                             f"{100 * WANTED_SHARE:.0f} %% of the rows are the same, and of those with a planted "
                             f"slow-down of {100 * (PLANTED - 1):.0f} %% slower; exits with 1 where not")
    arguments = parser.parse_args()
    if not arguments.threshold >= 100 * LEAST_SHARE:  # nor is a number
        parser.error(f"--threshold: a number from {100 * LEAST_SHARE:.0f} on: less does not count as a difference")
    if len(arguments.records) < 2 or (len(arguments.records) > 2 and not arguments.self_check):
        parser.error("two records are compared")
    try:
        records = [read(file) for file in arguments.records]
        if len({record.gpu for record in records}) > 1 and not arguments.force:
            raise BadRecord(f"the records are of different GPUs: {', '.join(record.gpu for record in records)}; "
                            "--force compares them all the same")
        if arguments.self_check:
            return 0 if self_check(records) else 1
        old, new = records
        rows, peers = compare(old, new)
    except BadRecord as error:
        print(f"compare: {error}", file=sys.stderr)
        return 2

    for name, record in (("old", old), ("new", new)):
        print(f"{name}: commit {record.about['commit']}, {record.gpu}, {state(record)}")
    for key in ("driver", "cuda", "peers"):
        if old.about[key] != new.about[key]:
            print(f"{key} differs: {old.about[key]} and {new.about[key]}")
    missing = sorted(set(comparable(old, new)) - set(new.peers))
    show_lone("only in old, or failed in new", missing, arguments.all)
    show_lone("only in new", sorted(set(comparable(new, old)) - set(old.peers)), arguments.all)
    print()
    show(rows, peers, arguments.all)
    too_slow = [row for row in rows if row.verdict == "slower" and row.ratio.value > 1 + arguments.threshold / 100]
    return 1 if too_slow or missing else 0


if __name__ == "__main__":
    sys.exit(program.run("compare", main, failed=2))

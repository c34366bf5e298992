#!/usr/bin/env python3
"""Prints Markdown tables of records, or renews those in Markdown files by one record. Needs no GPU.

A table in a file stands between two lines:

    <!-- bench:softmax -->  or  <!-- bench:softmax:ladder 4096x4096 -->  or  <!-- bench:overview -->
    <!-- /bench -->

The name is an operation, or a folder of kernels/ with all of its operations. The first is a row per case: heddle
beside the best of its peers. The ladder is a row per implementation. What follows the name is a regular expression that
chooses cases by their label. The overview is a row per folder, or per kind of its cases where these differ much.

Pages show one record: of those that are given, or of docs/measurements/*/record.json, the newest by its date.

With --check nothing is changed. It fails where a page does not show its record, and where git's history contradicts
what a record says of its sources. Else it says which kernels have changed since the record's commit.
"""

import argparse
import pathlib
import re
import statistics
import sys

import history
import program
import record as records_of_runs
from record import BadRecord, Case, Record, as_rate, as_share, as_time, family_of, geometric_mean

root = pathlib.Path(__file__).resolve().parent.parent.parent

LEVEL = 0.95  # of the best peer's speed: what counts as level
MARKED = re.compile(r"(<!-- bench:(\w+)(:ladder)?(?: +(\S+))? -->\n).*?(<!-- /bench -->)", re.DOTALL)


class NoTable(Exception):
    """In one line."""


def label(case: Case) -> str:
    return f"{case.operation} {case.label}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["-"] * len(header), *rows]
    cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def rate_of(row: records_of_runs.Row) -> str:
    return as_rate(*row.rate) if row.rate else ""


def share_of_limit(row: records_of_runs.Row) -> str:
    return as_share(row.share_of_limit) + (" (!)" if row.beyond_limit else "")


def implementation_of(row: records_of_runs.Row) -> str:
    return row.implementation + (" (apart)" if row.library in records_of_runs.APART else "")


def comparison(cases: list[Case]) -> str:
    """A row per case that heddle has. Columns that would be empty are left out."""
    columns = ["case", "heddle", "rate", "share of the limit", "best peer", "share of the vendor", "on the CPU"]
    rows = []
    for case in cases:
        if not case.plain:
            continue
        vendor = case.vendor
        cpu = min((row for row in case.rows if row.on_cpu), key=lambda row: row.us, default=None)
        rows.append([label(case), as_time(case.plain.us), rate_of(case.plain), share_of_limit(case.plain),
                     f"{implementation_of(vendor)} {as_time(vendor.us)}" if vendor else "",
                     as_share(case.ratio), f"{cpu.library} {as_time(cpu.us)}" if cpu else ""])
    filled = [index for index in range(len(columns)) if index < 2 or any(row[index] for row in rows)]
    return markdown([columns[index] for index in filled], [[row[index] for index in filled] for row in rows])


def ladder(cases: list[Case]) -> str:
    """A row per implementation, the slowest first."""
    rows = []
    for case in cases:
        for row in sorted(case.rows, key=lambda row: -row.us):
            vendor = case.vendor if not row.on_cpu else None
            rows.append([label(case), implementation_of(row), as_time(row.us), f"{100 * row.spread:.1f}%", rate_of(row),
                         as_share(vendor.us / row.us) if vendor else "", share_of_limit(row)])
    return markdown(["case", "implementation", "time", "+-", "rate", "share of the vendor", "share of the limit"], rows)


def overview(record: Record) -> str:
    rows = []
    for kind, cases in record.kinds.items():
        compared = [case for case in cases if case.ratio]
        if not compared:
            continue
        worst = min(compared, key=lambda case: case.ratio)
        shares = [case.plain.share_of_limit for case in cases if case.plain and case.plain.limit]
        peers = dict.fromkeys(case.vendor.library + (" (apart)" if case.vendor.library in records_of_runs.APART else "")
                              for case in compared)
        rows.append([kind, str(len(compared)), ", ".join(peers),
                     f"{geometric_mean([case.ratio for case in compared]):.2f}",
                     f"{worst.ratio:.2f}: {label(worst)}",
                     as_share(sum(case.ratio >= LEVEL for case in compared) / len(compared)),
                     as_share(statistics.median(shares)) if shares else ""])
    if not rows:
        raise NoTable("the record has no peer on the GPU")
    table = markdown(["", "cases", "best peers", "mean ratio", "worst", f"at {LEVEL} or better", "share of the limit"], rows)
    return f"{table}\n{caption(record.source, OVERVIEW, record.cases, table)}\n"


def caption(source: str, explanation: str, cases: list[Case], table: str) -> str:
    repetitions = max((row.repetitions for case in cases for row in case.rows), default=0)
    text = f"{source}; medians of {repetitions} repetitions. {explanation}"
    beyond = f"{100 * (1 / records_of_runs.BEYOND - 1):.0f}%"
    if "(!)" in table:
        text += f" (!): beyond the limit by more than {beyond}, a bug of the row or of the limit."
    if "(apart)" in table:
        text += " (apart): timed in a second process, right after."
    return re.sub(r"(?<=\.) (?=[A-Z(])", "\n", text)  # a sentence a line


LIMIT = "Share of the limit: of what the same run measured of the memory and of the arithmetic units."
EXPLANATIONS = {
    False: f"Share of the vendor: the best peer's time over heddle's. {LIMIT}",
    True: f"+-: half the range of the repetitions. Share of the vendor: the best peer's time over the row's. {LIMIT}",
}
OVERVIEW = ("Ratio: the best peer's time over that of heddle's plain call, above 1 where heddle is faster; the mean is geometric. "
            "Share of the limit: the median of heddle's plain calls.")


def table(record: Record, as_ladder: bool, pattern: str, name: str = "") -> str:
    """A table of the cases of an operation or a folder, or of all."""
    try:
        cases = [case for case in record.cases if re.search(pattern, label(case))
                 and (not name or name in (case.operation, family_of(case.operation)))]
    except re.error as error:
        raise NoTable(f"'{pattern}' is not a regular expression: {error}") from error
    if not as_ladder:
        cases = [case for case in cases if case.plain]
    if not cases:
        raise NoTable(f"no case of {name or 'the record'} matches '{pattern}'")
    rows = (ladder if as_ladder else comparison)(cases)
    return f"{rows}\n{caption(record.source, EXPLANATIONS[as_ladder], cases, rows)}\n"


def renewed(text: str, record: Record) -> str:
    def fill(match: re.Match) -> str:
        opening, name, as_ladder, pattern, closing = match.groups()
        body = overview(record) if name == "overview" else table(record, bool(as_ladder), pattern or "", name)
        return f"{opening}{body}{closing}"

    return MARKED.sub(fill, text)


def check(record: Record) -> int:
    """Prints what is to be said of its sources, and returns how much of it is wrong."""
    try:
        found = history.contradictions(record, root)
    except history.Unknown as error:
        print(f"{record.file}: not checked against its commit: {error}")
        return 0
    for line in found:
        print(f"table: {record.file}: {line}")
    if not found:
        changed = ", ".join(history.kernels_changed_since(record, root))
        print(f"{record.file}: kernels changed since {record.content['commit'][:10]}: {changed or 'none'}")
    return len(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, prog="table")
    parser.add_argument("records", nargs="*", type=pathlib.Path,
                        help="JSON files; without any, docs/measurements/*/record.json")
    parser.add_argument("--ladder", action="store_true", help="a row per implementation")
    parser.add_argument("--overview", action="store_true", help="a row per folder of kernels/, or kind")
    parser.add_argument("--cases", default="", metavar="REGEX", help="only the cases whose label matches")
    parser.add_argument("--update", nargs="+", default=[], type=pathlib.Path, metavar="PAGE",
                        help="renew the marked tables in these files")
    parser.add_argument("--check", action="store_true",
                        help="change nothing; fail where --update would, and where a record is not of its commit")
    arguments = parser.parse_args()

    files = arguments.records or sorted((root / "docs/measurements").glob("*/record.json"))
    if not files:
        return program.fail("table", "docs/measurements has no records")
    wrong = 0
    try:
        records = [records_of_runs.read(file) for file in files]
        if not arguments.update and not arguments.check:
            for record in records:
                body = overview(record) if arguments.overview else table(record, arguments.ladder, arguments.cases)
                print(f"## {record.file}\n\n{body}")
        shown = max(records, key=lambda record: record.content["date"])
        for page in arguments.update:
            try:
                text = page.read_text()
            except UnicodeDecodeError:
                raise NoTable(f"{page} is not text") from None
            new = renewed(text, shown)
            if new != text and arguments.check:
                print(f"table: {page} does not show its record; run: scripts/bench-table --update {page}")
                wrong += 1
            elif new != text:
                program.write(page, new)
    except (BadRecord, NoTable) as error:
        return program.fail("table", error)
    if arguments.check:
        for record in records:
            wrong += check(record)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(program.run("table", main, failed=1))

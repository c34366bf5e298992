#!/usr/bin/env python3
"""Tests the readers of records of schema 1: the page, the tables and the comparison, on made-up records. It needs no GPU;
only the page needs matplotlib.

usage: bench_report.py ROOT
"""

from __future__ import annotations

import copy
import html
import html.parser
import importlib.util
import itertools
import json
import math
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import shared
from shared import row

HAS_MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
NAMES = ["plain", "<script>alert(1)</script>", "a&b", 'q"uote\'s', "$x^2$", "under_score"]
VOID = {"meta", "br", "hr", "img", "input", "link"}


def small() -> dict:
    """A record of each kind of row."""
    rows = []
    for n, scale in ((256, 1.0), (1024, 10.0), (4096, 640.0)):
        shape = f"{n}x{n}x{n}"
        work = {"bytes": 12.0 * n * n, "bytes_written": 4.0 * n * n, "operations": 2.0 * n**3,
                "limit": {"ceiling": "ffma", "us": 0.8 * scale}}
        rows += [row(f"matmul/f32/{shape}/heddle:naive", 20 * scale, **work), row(f"matmul/f32/{shape}/heddle:tiled", 2 * scale, **work),
                 row(f"matmul/f32/{shape}/heddle", 1.0 * scale, **work), row(f"matmul/f32/{shape}/cublas", 1.2 * scale, **work),
                 row(f"matmul/f32/{shape}/host", 90 * scale, **work | {"limit": None})]
    memory = {"bytes": 2.0**27, "bytes_written": 2.0**26, "limit": {"ceiling": "memory", "us": 30.0}}
    rows += [row("transpose/f32/4096x4096/heddle", 40.0, **memory), row("transpose/f32/4096x4096/cublas", 30.0, **memory),
             row("transpose/f32/4096x4096/copy", 20.0, **memory), row("transpose/f32/4096x4096/heddle:naive", 28.0, **memory),
             row("transpose/f32/4096x4096/heddle:padded", 41.0, **memory), row("transpose/f32/4096x4096/heddle/hot", 35.0, **memory),
             row("sum/f32/1024/heddle:naive", None, error="naive needs a <GPU>"),
             row("call/f32/add-1024/heddle", 3.0), row("call/f32/add-1024/launch", 2.5)]
    return {"schema": 1, "heddle": "0.1.0", "commit": "0123456789abcdef", "sources_sha256": "f" * 64,
            "date": "2026-01-02T03:04:05Z", "seconds": 12, "complete": True,
            "gpu": {"name": "GPU <1>", "sms": 2, "l2_bytes": 1024, "memory_bytes": 2048, "compute_capability": "9.0"},
            "cpu": "CPU & co", "driver": "1.2", "cuda": "13.0", "peers": {"cublas": "13.1"},
            "watched": {"sm_mhz": [1000, 1500, 2000], "throttled": ["sw_power_cap"]},
            "ceilings": [{"name": "dram_copy", "bytes": 2**16, "hot": False, "per_second": 1e12, "unit": "B/s"},
                         {"name": "dram_copy", "bytes": 2**30, "hot": False, "per_second": 4e12, "unit": "B/s"},
                         {"name": "ffma", "hot": False, "per_second": 6e13, "unit": "FLOP/s"},
                         {"name": "launch", "hot": False, "us": 2.0},
                         {"name": "pinned_to_device", "hot": False, "per_second": 5e10, "unit": "B/s"},
                         {"name": "pinned_to_host", "hot": False, "per_second": 2.5e10, "unit": "B/s"}],
            "rows": rows}


def without(key: str) -> dict:
    return {name: value for name, value in small().items() if name != key}


def with_row(**fields: object) -> dict:
    content = small()
    content["rows"][0] |= fields
    return content


class InFolder(shared.InFolder):
    def read(self, content: dict) -> "record.Record":
        return record.read(self.file(content))

    def run_program(self, name: str, *arguments: object, **options: object) -> subprocess.CompletedProcess:
        options.setdefault("stdout", subprocess.PIPE)
        return subprocess.run([sys.executable, root / f"benchmarks/report/{name}.py", *map(str, arguments)], text=True,
                              stderr=subprocess.PIPE, **options)

    def case(self, content: dict, label: str) -> "record.Case":
        return next(case for case in self.read(content).cases if f"{case.operation} {case.label}" == label)


class Arithmetic(InFolder):
    def test_interpolates_between_logarithms(self) -> None:
        points = [(1.0, 2.0), (4.0, 8.0), (16.0, 128.0)]
        for x, y in ((1, 2), (2, 4), (4, 8), (8, 32), (16, 128), (0.5, 1), (32, 256)):
            self.assertAlmostEqual(record.interpolated(points, x), y)

    def test_geometric_mean(self) -> None:
        self.assertAlmostEqual(record.geometric_mean([0.5, 2.0]), 1.0)
        self.assertAlmostEqual(record.geometric_mean([1.0, 8.0, 1.0]), 2.0)

    def test_ceilings(self) -> None:
        of_run = self.read(small())
        for options, rate in (({}, 4e12), ({"at": 2**30}, 4e12), ({"at": 2**10}, 1e12)):
            self.assertAlmostEqual(of_run.ceiling("dram_copy", **options) / rate, 1.0)
        # Halfway between the logarithms of bytes is halfway between those of times, and here of rates.
        self.assertAlmostEqual(of_run.ceiling("dram_copy", at=2**23) / 2e12, 1.0)
        self.assertEqual(of_run.ceiling("ffma"), 6e13)
        self.assertEqual(of_run.ceiling("ffma", hot=True), 6e13)
        self.assertIsNone(of_run.ceiling("launch"))
        self.assertIsNone(of_run.ceiling("tensor_bf16"))

    def test_ratio_is_to_the_best_that_computes_the_same(self) -> None:
        content = small()
        content["rows"] += [row("transpose/f32/4096x4096/cudnn:a", 29.0), row("transpose/f32/4096x4096/cudnn:b", 50.0),
                            row("transpose/f32/4096x4096/openblas", 1.0), row("transpose/f32/4096x4096/cuda", 1.0)]
        case = self.case(content, "transpose f32 4096x4096")
        self.assertEqual([(peer.implementation, peer.us) for peer in case.peers], [("cudnn:a", 29.0), ("cublas", 30.0)])
        self.assertAlmostEqual(case.ratio, 29 / 40)
        self.assertIsNone(self.case(content, "transpose f32 4096x4096 hot").ratio)
        self.assertIsNone(self.case(content, "call f32 add-1024").ratio)

    def test_limits(self) -> None:
        of_run = self.read(small())
        naive = next(row for row in of_run.rows if row.name == "transpose/f32/4096x4096/heddle:naive")
        self.assertAlmostEqual(naive.share_of_limit, 30 / 28)
        self.assertEqual([row.name for row in of_run.beyond_limits], ["transpose/f32/4096x4096/copy", naive.name])
        for us, beyond in ((28.5, False), (28.49, True)):
            self.assertEqual(bool(self.read(with_row(us=us, limit={"ceiling": "memory", "us": 30.0})).beyond_limits[2:]), beyond)

    def test_rates(self) -> None:
        self.assertEqual(self.case(small(), "transpose f32 4096x4096").plain.rate, (2**27 / 40 * 1e6, "B/s"))
        self.assertEqual(self.case(small(), "matmul f32 256x256x256").plain.rate, (2 * 256**3 * 1e6, "FLOP/s"))
        self.assertIsNone(self.case(small(), "call f32 add-1024").plain.rate)
        by_memory = with_row(limit={"ceiling": "memory", "us": 1.0})
        rates = [row.rate[1] for row in self.case(by_memory, "matmul f32 256x256x256").rows]
        self.assertEqual(rates, ["FLOP/s"] * 5)

    def test_transfers(self) -> None:
        plain = self.case(small(), "transpose f32 4096x4096").plain
        self.assertAlmostEqual(self.read(small()).transfer_us(plain), (2**26 / 5e10 + 2**26 / 2.5e10) * 1e6)
        self.assertIsNone(self.read(small() | {"ceilings": []}).transfer_us(plain))

    def test_transfers_at_their_bytes(self) -> None:
        """Times of 2^20 and 2^24 bytes are 2^6 us and 2^8 us, or half of that: halfway between them the time is halfway too."""
        pinned = [{"name": name, "bytes": count, "hot": False, "per_second": count / us * 1e6 * speed, "unit": "B/s"}
                  for name, speed in (("pinned_to_device", 1), ("pinned_to_host", 2)) for count, us in ((2**20, 2**6), (2**24, 2**8))]
        for to_device, written, us in ((2**22, 2**22, 2**7 * 1.5), (2**20, 2**24, 2**6 + 2**7), (2**26, 0, 2**10)):
            rows = [row("add/f32/8/heddle", 1.0, bytes=to_device + written, bytes_written=written)]
            of_run = self.read(small() | {"rows": rows, "ceilings": pinned})
            self.assertAlmostEqual(of_run.transfer_us(of_run.rows[0]), us)

    def test_numbers_as_text(self) -> None:
        self.assertEqual([record.as_share(share) for share in (None, 0.012, 0.5, 1.234, 12.34)], ["", "1.2%", "50%", "123%", "12x"])
        self.assertEqual([record.as_time(us) for us in (0.5, 12.34, 1234.0, 2e6)], ["0.50 us", "12.3 us", "1.23 ms", "2.00 s"])
        self.assertEqual([record.as_time(us) for us in (9.996, 99.96, 100.0, 999.7)],
                         ["10.0 us", "100 us", "100 us", "1.00 ms"])
        self.assertEqual([record.as_bytes(count) for count in (12, 2048, 3 * 2**20, 2**32)], ["12 B", "2 KiB", "3 MiB", "4 GiB"])
        self.assertEqual([record.as_bytes(1023 * 2**10), record.as_bytes(1e6)], ["1023 KiB", "977 KiB"])

    def test_families(self) -> None:
        for operation, family in (("add", "elementwise"), ("gelu_derivative", "elementwise"), ("row_sum", "matrix_reduce"),
                                  ("argmax", "reduce"), ("layer_norm", "norm"), ("linear_relu", "matmul"), ("matmul", "matmul"),
                                  ("sobel_x", "image_filter"), ("box_blur", "separable_filter"),
                                  ("inclusive_scan", "scan"), ("new", "new")):
            self.assertEqual(record.family_of(operation), family)


class Errors(InFolder):
    def test_are_one_line(self) -> None:
        whole = json.dumps(small())
        ceilings = small() | {"rows": [row("ceiling/u8/1/heddle", 1.0)]}
        for content, message in (
                ("", "is not JSON"), ("no", "is not JSON"), (whole[:len(whole) // 2], "is cut off"), ([1], "is not a record"),
                ({"benchmarks": []}, "is not a record"), (small() | {"schema": 2}, "schema 2"), (without("rows"), "'rows'"),
                (without("gpu"), "'gpu'"), (without("date"), "'date'"), (small() | {"rows": []}, "has no rows"), (ceilings, "has no rows"),
                (small() | {"complete": False}, "is incomplete"), (without("complete"), "is incomplete"),
                (with_row(us=-1.0), "us is -1.0"), (with_row(us="1"), "us is '1'"), (with_row(us=math.nan), "us is nan"),
                (with_row(operation=None), "operation is None"), (with_row(limit={"ceiling": "memory", "us": 0}), "limit.us is 0"),
                (small() | {"rows": [1]}, "row 0"), (small() | {"rows": small()["rows"] * 2}, "twice"),
                (small() | {"ceilings": [{"name": "ffma", "per_second": 0}]}, "ceiling ffma"), (small() | {"ceilings": [{"name": "launch", "us": math.nan}]}, "us is nan"),
                (small() | {"ceilings": [{"name": "launch", "us": "2"}]}, "us is '2'"),
                (small() | {"ceilings": [{"name": "ffma", "per_second": math.nan}]}, "per_second is nan"),
                (small() | {"ceilings": [{"name": "dram_copy", "bytes": math.nan, "per_second": 1}]}, "bytes is nan"),
                (small() | {"ceilings": [1]}, "is damaged"), (small() | {"watched": {"sm_mhz": "fast"}}, "watched.sm_mhz is 'fast'"),
                (small() | {"watched": {"sm_mhz": [1, "2", 3]}}, "watched.sm_mhz is '2'"),
                (small() | {"watched": {"throttled": [1]}}, "watched.throttled is 1"), (small() | {"watched": [1]}, "watched is [1]"),
                (small() | {"peers": ["cublas"]}, "peers is ['cublas']"), (small() | {"commit": 1}, "commit is 1"),
                (small() | {"seconds": math.nan}, "seconds is nan"), ("\udcff", None)):
            file = self.file(content if message else "x")
            if message is None:
                file.write_bytes(b"\xff\xfe")
                message = "is not text"
            for program, arguments, status in (("report", [file], 1), ("table", [file], 1), ("compare", [file, file], 2)):
                run = self.run_program(program, *arguments)
                self.assertEqual(run.returncode, status, (program, message, run.stdout, run.stderr))
                self.assertIn(message, run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            self.assertFalse(file.with_suffix(".html").exists())

    def test_no_such_file(self) -> None:
        none = self.folder / "none.json"
        for program, arguments in (("report", [none]), ("table", [none]), ("compare", [none, none]), ("report", [self.folder])):
            run = self.run_program(program, *arguments)
            self.assertNotEqual(run.returncode, 0)
            self.assertRegex(run.stderr, rf"^{program}: .*(no such file|Is a directory)\n$")

    def test_a_full_disk(self) -> None:
        def no_room() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond fails, as on a full disk
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

        of_run, page = self.file(small()), self.folder / "page.md"
        page.write_text(text := "<!-- bench:matmul -->\n<!-- /bench -->\n")
        commands = [("table", [of_run, "--update", page], page)]
        if HAS_MATPLOTLIB:
            commands.append(("report", [of_run, "--output", self.folder / "page.html"], self.folder / "page.html"))
        for name, arguments, file in commands:
            run = self.run_program(name, *arguments, preexec_fn=no_room)
            # Before that, matplotlib may say that it found no room for its list of fonts.
            self.assertEqual((run.returncode, run.stderr.splitlines()[-1]), (1, f"{name}: {file}: File too large"))
        self.assertEqual(page.read_text(), text)
        self.assertEqual({file.suffix for file in self.folder.iterdir()}, {".json", ".md"})

    def test_nowhere_to_print(self) -> None:
        of_run = self.file(small())
        for name, arguments, status in (("table", [of_run], 1), ("compare", [of_run, of_run], 2)):
            with open("/dev/full", "w") as full:
                run = self.run_program(name, *arguments, stdout=full)
            self.assertEqual((run.returncode, run.stderr), (status, f"{name}: what it prints: No space left on device\n"))

    @unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
    def test_a_page_that_cannot_be_written(self) -> None:
        run = self.run_program("report", self.file(small()), "--output", self.folder / "none/page.html")
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1), run.stderr)

    @unittest.skipIf(HAS_MATPLOTLIB, "has matplotlib")
    def test_says_what_to_install(self) -> None:
        run = self.run_program("report", self.file(small()))
        self.assertEqual(run.returncode, 1)
        self.assertIn("-m pip install matplotlib", run.stderr)


class Reader(html.parser.HTMLParser):
    """Collects open elements, ids, references and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.named: set[str] = set()
        self.attributes: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.attributes.append((tag, dict(attributes)))
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "xlink:href") and value.startswith("#"):
                self.named.add(value[1:])
            self.named.update(re.findall(r"url\(#([^)]*)\)", value or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        self.text += data


@unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
class Page(InFolder):
    def page(self, content: dict, *options: str) -> str:
        run = self.run_program("report", self.file(content), "--output", self.folder / "page.html", *options)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return (self.folder / "page.html").read_text()

    def check(self, text: str) -> Reader:
        """Checks for every page."""
        reader = Reader(text)
        self.assertEqual(reader.open, [])
        self.assertEqual(len(reader.ids), len(set(reader.ids)))
        self.assertLessEqual(reader.named, set(reader.ids))
        self.assertNotRegex(re.sub(r'xmlns(:xlink)?="[^"]*"', "", text), r"https?://")
        body = text[text.index("</style>"):]
        self.assertNotRegex(re.sub(r"<text.*?</text>|<title>.*?</title>", "", body), r"[:=] ?\"?#[0-9a-f]{6}\b")  # for the dark style
        self.assertNotRegex(body, r"(?i)\bblack\b")  # black in the light style is white in the dark one
        for style in re.findall(r'<text style="([^"]*)"', body):
            self.assertRegex(style, r"fill: var\(--")
        self.assertNotIn("DejaVu", body)  # a font that few readers have
        variables = set(re.findall(r"var\((--\w+)\)", text))
        for scheme in (text[:text.index("@media")], text[text.index("@media"):]):
            self.assertLessEqual(variables, set(re.findall(r"(--\w+):", scheme)))
        pictures = [attributes for tag, attributes in reader.attributes if tag == "svg"]
        self.assertGreater(len(pictures), 0)
        for attributes in pictures:
            self.assertEqual(attributes["role"], "img")
            self.assertGreater(len(attributes["aria-label"]), 20)
        for svg in re.findall(r"<svg.*?</svg>", body, re.DOTALL):
            xml.etree.ElementTree.fromstring(svg)
        return reader

    def test_has_what_the_record_has(self) -> None:
        text = self.page(small())
        reader = self.check(text)
        for said in ("heddle on GPU <1>", "commit 0123456789", "driver 1.2", "2026-01-02", "medians of 5 repetitions",
                     "2 rows are more than 5% faster than the limit", "transpose/f32/4096x4096/heddle:naive",
                     "1 row has no time", "naive needs a <GPU>", "0.50 us more than the bare launch", "Roofline",
                     "Speed over size", "CPU & co, from its warm caches", "Rows on the CPU run from the caches", "clocks held back by sw_power_cap", "worst 0.75", "tiled", "cublas"):
            self.assertIn(said, reader.text)
        self.assertLess(len(text), 3_000_000)

    def test_escapes_names(self) -> None:
        content = small()
        for index, name in enumerate(NAMES):
            for us, library in ((10.0 + index, "heddle"), (20.0, "heddle:" + name.replace("/", "-")), (15.0, "peer" + name.replace("/", "")),
                                (30.0, "heddle:other")):
                content["rows"].append(row("/".join(["op" + name.replace("/", "-"), "f32", "64x64", library]), us, bytes=4096.0,
                                           operations=100.0, limit={"ceiling": name, "us": 5.0}))
        for key in ("commit", "driver", "cuda", "cpu", "date"):
            content[key] = NAMES[1]
        content["gpu"]["name"] = content["watched"]["throttled"][0] = NAMES[1]
        content["peers"] = {NAMES[1]: NAMES[1]}
        content["ceilings"].append({"name": NAMES[1], "per_second": 1e12, "unit": NAMES[1]})
        content["rows"].append(row("op/f32/1/heddle", 1.0, error=NAMES[1]))
        text = self.page(content)
        self.assertNotIn("<script", text)
        reader = self.check(text)
        for name in NAMES:
            self.assertIn("op" + name.replace("/", "-"), reader.text)

    def test_records_that_lack_parts(self) -> None:
        for change in ({"ceilings": []}, {"watched": {}}, {"peers": {}}, {"gpu": None}, {"driver": None},
                       {"rows": [row("add/f32/8/heddle", 1.0)]}, {"rows": [row("add/f32/8/cub", 1.0), row("add/f32/8/heddle", 1.0)]},
                       {"rows": [row("add/f32/8/heddle:a", 1.0), row("add/f32/8/heddle:b", 2.0), row("add/f32/odd/host", 2.0)]}):
            text = self.page(small() | change)
            if "<svg" in text:
                self.check(text)

    def test_fits_a_narrow_page(self) -> None:
        """A wide picture is replaced by a narrow one; a wide table wraps or scrolls in its own box."""
        text = self.page(small())
        self.assertNotRegex(text, r"min-width: \d{3,}px; max-width")
        figures = re.findall(r'<figure class="?([^>]*?)"?><svg viewBox="0 0 (\d+) \d+"', text)
        self.assertGreater(len(figures), 5)
        for (kind, width), (following, narrower) in zip(figures, [*figures[1:], ("", "0")]):
            self.assertIn(kind.split()[0], ("wide", "narrow", "panel"))
            if kind.startswith("wide"):
                self.assertEqual((following, narrower), ("narrow", "372"))
            else:
                self.assertLessEqual(int(width), 400)
        self.assertRegex(text, r"<div class=facts><div class=scroll[^>]*><table>")
        self.assertRegex(text, r"\.facts td {[^}]*white-space: normal")
        self.assertRegex(text, r"\.scroll {[^}]*overflow-x: auto")

    def test_an_incomplete_record_only_where_asked_for(self) -> None:
        text = self.page(small() | {"complete": False}, "--incomplete")
        self.assertIn("The run was stopped", text)
        self.assertIn("an incomplete run", text)

    def test_pictures(self) -> None:
        run = self.run_program("report", self.file(small()), "--pictures", self.folder / "pictures")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        files = sorted(file.name for file in (self.folder / "pictures").iterdir())
        self.assertEqual(files, ["ladder-matmul.svg", "ladder-transpose.svg", "overview.svg"])
        for file in files:
            text = (self.folder / "pictures" / file).read_text()
            xml.etree.ElementTree.fromstring(text)
            self.assertNotIn("var(", text)
            self.assertIn("commit 0123456789", text)

    def test_pictures_of_several_records(self) -> None:
        """Each operation has its ladder once, from the record that has it, for any other rows that the records share."""
        def of(commit: str, *names: str) -> dict:
            rungs = (("", 1.0), (":naive", 3.0), (":tiled", 2.0))
            rows = [row(f"{name}/heddle{rung}", us) for name in names for rung, us in rungs]
            return small() | {"commit": commit, "rows": rows}
        first = of("1" * 10, "layer_norm/f32/8", "softmax/f32/8")
        second = of("2" * 10, "layer_norm_gradient/f32/8", "softmax/f32/8")
        first["rows"] += [row("sgd/f32/8/heddle", 1.0), row("copy/f32/8/heddle", 1.0)]  # it has no ladder of sgd
        second["rows"] += of("", "sgd/f32/8")["rows"]
        folder = self.folder / "pictures"
        run = self.run_program("report", self.file(second), self.file(first), "--pictures", folder)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual({file.name for file in folder.iterdir()},
                         {"ladder-norm.svg", "ladder-softmax.svg", "ladder-optimizer.svg"})
        for family, operations, commits in (("norm", ["layer_norm f32 8", "layer_norm_gradient f32 8"], "12"),
                                            ("softmax", ["softmax f32 8"], "1"), ("optimizer", ["sgd f32 8"], "2")):
            texts = [text for text, *_ in texts_of((folder / f"ladder-{family}.svg").read_text())]
            self.assertEqual(sorted(text for text in texts if text.endswith(" f32 8")), operations)
            self.assertEqual("".join(commit for commit in "12" if any(commit * 10 in text for text in texts)), commits)


def texts_of(svg: str) -> list[tuple[str, float, float, float, float]]:
    """The texts of a picture, each with its box: left, top, right and bottom. Rotated text has an empty box."""
    import matplotlib.font_manager
    import matplotlib.textpath
    found = []
    for attributes, text in re.findall(r"<text ([^>]*)>(.*?)</text>", svg):
        text = html.unescape(text)
        size, weight, anchor = (re.search(pattern, attributes) for pattern in
                                (r"([\d.]+)px", r"font-weight: (\w+)|font: (\d+)", r"text-anchor: (\w+)"))
        font = matplotlib.font_manager.FontProperties(size=float(size[1]), weight="bold" if weight else "normal")
        width = matplotlib.textpath.TextPath((0, 0), text, prop=font).get_extents().width if text.strip() else 0
        place = re.search(r'translate\(([-\d.]+) ([-\d.]+)\)|x="([-\d.]+)" y="([-\d.]+)"', attributes)
        x, y = (float(number) for number in place.groups() if number)
        x -= {"middle": width / 2, "end": width}.get(anchor[1] if anchor else "", 0)
        turned = re.search(r"rotate\(-?[1-9]", attributes)
        found.append((text, x, y, x, y) if turned else (text, x, y - 0.75 * float(size[1]), x + width, y))
    return found


def colliding(texts: list[tuple]) -> list[tuple]:
    return [(one, other) for one, other in itertools.combinations(texts, 2)
            if max(one[1] - other[3], other[1] - one[3]) < 3 and max(one[2] - other[4], other[2] - one[4]) < 0]


@unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
class Pictures(InFolder):
    UNITS = {"ffma": 6e13, "fp64": 3e13, "tensor_tf32": 4.3e14, "tensor_f16": 8.4e14, "tensor_bf16": 8.6e14}

    def legible(self, picture: "pictures.Picture") -> list[str]:
        """No text overlaps another or is cut."""
        texts = texts_of(picture.inline())
        width, height = picture.size
        for text, left, top, right, bottom in texts:
            inside = 0 <= left <= right <= width and 0 <= top <= bottom <= height
            self.assertTrue(inside, (text, left, right, top, bottom))
        self.assertEqual(colliding(texts), [])
        return [text for text, *_ in texts]

    def products(self, ceiling: str = "tensor_f16") -> "record.Record":
        """Float products whose small sizes are limited by memory, and which tensor cores may do."""
        content = small()
        content["ceilings"] += [{"name": name, "per_second": rate} for name, rate in [*self.UNITS.items()][1:]]
        for made in content["rows"]:
            if made["operation"] == "matmul" and made["limit"]:
                n = int(made["shape"].split("x")[0])
                made["limit"] = {"ceiling": "memory", "us": 0.9} if n < 4096 else {"ceiling": ceiling, "us": 500.0}
        return self.read(content)

    def test_speed_of_products_is_in_operations(self) -> None:
        import pictures
        of_run = self.products()
        groups = pictures.sized([case for case in of_run.cases if case.operation == "matmul"])
        self.assertEqual(len(groups), 1)
        texts = self.legible(pictures.speed(groups[0]))
        self.assertTrue(any("FLOP/s" in text for text in texts))
        self.assertFalse(any("B/s" in text for text in texts))

    def test_a_ladder_shows_the_roof_of_ffma_too(self) -> None:
        import page
        import pictures
        case = next(case for case in self.products().cases if case.shape == "4096x4096x4096")
        picture = pictures.ladder([case])
        ffma = 2 * 4096**3 / 6e13 * 1e6
        texts = self.legible(picture)
        self.assertIn("share of the limit: 500 us by FP16 tensor cores", texts)
        self.assertIn("dotted: the limit of FFMA alone, 2.29 ms", texts)
        at = [line.get_xdata()[0] for line in picture.figure.axes[0].lines if line.get_linestyle() != "-"]
        self.assertAlmostEqual(min(at, key=lambda x: abs(x - 500 / ffma)), 500 / ffma)
        slow = next(case for case in self.read(small()).cases if case.operation == "transpose")
        self.assertFalse(any("FFMA" in text for text in self.legible(pictures.ladder([slow]))))
        pages = [page.section(of_run, "family", of_run.families[family]) for of_run, family in
                 ((self.products(), "matmul"), (self.products(), "transpose"))]
        self.assertEqual(["A dotted line" in text for text in pages], [True, False])

    def test_a_ladder_of_rows_with_limits_of_their_own(self) -> None:
        import pictures
        content = small()
        peers = [made for made in content["rows"] if made["operation"] == "transpose" and made["library"] == "cublas"]
        peers[0]["limit"] = {"ceiling": "memory", "us": 15.0}
        case = self.case(content, "transpose f32 4096x4096")
        self.assertIn("shares of limits: 15.0 us to 30.0 us by memory", self.legible(pictures.ladder([case])))

    def test_every_roof_has_a_label(self) -> None:
        import pictures
        of_run = self.products()
        cases = [case for case in of_run.cases if case.operation == "matmul"]
        for width, unit in ((660, "FLOP/s"), (372, "")):
            picture = pictures.roofline(of_run, cases, width)
            texts = self.legible(picture)
            for label in ("memory 4.00 TB/s", f"FFMA 60.0 T{unit}", f"FP64 30.0 T{unit}", f"TF32 tensor 430 T{unit}",
                          f"FP16 tensor 840 T{unit}", f"BF16 tensor 860 T{unit}"):
                self.assertIn(label, texts)
            flat = {line.get_ydata()[0] for line in picture.figure.axes[0].lines
                    if len(line.get_ydata()) == 2 and len(set(line.get_ydata())) == 1}
            self.assertEqual(flat, set(self.UNITS.values()))

    def test_no_label_lies_on_another(self) -> None:
        import pictures
        content = small()
        times = {"heddle": 1.0, "heddle:a": 0.9, "heddle:b": 20.0, "cudnn": 20.0, "cub": 30.0}
        content["rows"] = [row(f"{name}/{implementation}", us) for name in ("layer_norm_gradient/bf16/8", "add/f32/8")
                           for implementation, us in times.items()]
        cases = self.read(content).cases
        for width in (372, 700, 1060):
            self.legible(pictures.ratios({f"{case.operation} {case.type}": [case] for case in cases}, width))
        for made in content["rows"]:
            made["limit"] = {"ceiling": "memory", "us": 3.0}
        for case in [*cases, *self.read(content).cases]:
            self.legible(pictures.ladder([case]))


@unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
class ConvRoofline(unittest.TestCase):
    def test_draws_layers_under_the_roof(self) -> None:
        layer = {"shape": "1x8x8x8-k8-3x3-p1", "operations": 2e9, "bytes": 1e7, "field": [3.0, 3.0], "effective_field": [3.0, 3.0]}
        layers = [layer | {"name": "first", "input": -1, "roof": {"ceiling": "memory", "us": 10.0}, "us": 12.5},
                  layer | {"name": "pool", "input": 0, "operations": 0.0, "roof": None},
                  layer | {"name": "last", "input": 1, "bytes": 1e5, "roof": {"ceiling": "tensor_bf16", "us": 2.5}}]
        content = {"kind": "conv-roofline", "title": "a <network>", "count": 2, "type": "bf16", "gpu": "a GPU", "hot": False,
                   "memory": 1e12, "units": {"tensor_bf16": 8e14}, "layers": layers}
        with tempfile.TemporaryDirectory() as folder:
            data, picture = pathlib.Path(folder) / "x.json", pathlib.Path(folder) / "x.svg"
            data.write_text(json.dumps(content))
            script = root / "benchmarks/report/conv_roofline.py"
            subprocess.run([sys.executable, script, data, "--output", picture], check=True, stdout=subprocess.DEVNULL)
            text = picture.read_text()
        for part in ("a &lt;network&gt;", "first 1x8x8x8-k8-3x3-p1: heddle 12.5 us",
                     "last 1x8x8x8-k8-3x3-p1: roof 2.50 us",
                     "memory 1.00 TB/s", "BF16 tensor 800 TFLOP/s"):
            self.assertIn(part, text)
        self.assertEqual(colliding(texts_of(text)), [])


@unittest.skipUnless(HAS_MATPLOTLIB, "no matplotlib")
class Sizes(InFolder):
    def test_what_differs_in_size_alone(self) -> None:
        import pictures
        names = ["a/f32/64x64/heddle", "a/f32/128x128/heddle", "a/f32/256x256/heddle", "a/f32/256x64/heddle", "a/f32/256x128/heddle",
                 "a/f32/256x512/heddle", "a/f32/512x512-bt/heddle", "b/f16/8/heddle", "b/f16/16/heddle"]
        content = small() | {"rows": [row(name, 1.0, bytes=1.0) for name in names]}
        cases = self.read(content).cases
        found = [[case.shape for case in group] for group in pictures.sized(cases)]
        self.assertEqual(found, [["64x64", "128x128", "256x256"], ["256x64", "256x128", "256x512"]])
        self.assertEqual([["8", "16"]], [[case.shape for case in group] for group in pictures.sized(cases, least=2)][2:])
        self.assertEqual(pictures.title_of(pictures.sized(cases)[1]), "a f32 256xn")


class Tables(InFolder):
    def test_a_row_per_case(self) -> None:
        run = self.run_program("table", self.file(small()), "--cases", "^(matmul f32 256x|transpose)")
        self.assertIn("| matmul f32 256x256x256 | 1.00 us | 33.6 TFLOP/s | 80% | cublas 1.20 us | 120% | host 90.0 us |\n", run.stdout)
        self.assertIn("| transpose f32 4096x4096 | 40.0 us | 3.36 TB/s | 75% | cublas 30.0 us | 75% |  |\n", run.stdout)
        self.assertIn("GPU <1>, commit 0123456789; medians of 5 repetitions.", run.stdout)

    def test_a_ladder(self) -> None:
        run = self.run_program("table", self.file(small()), "--ladder", "--cases", "transpose f32 4096x4096$")
        lines = [line.split(" | ")[1:] for line in run.stdout.splitlines() if line.startswith("| transpose")]
        self.assertEqual([line[0] for line in lines], ["heddle:padded", "heddle", "cublas", "heddle:naive", "copy"])
        self.assertEqual(lines[1], ["heddle", "40.0 us", "1.0%", "3.36 TB/s", "75%", "75% |"])
        self.assertEqual(lines[3][-2:], ["107%", "107% (!) |"])
        self.assertIn("a bug of the row or of the limit", run.stdout)

    def test_an_overview(self) -> None:
        run = self.run_program("table", self.file(small()), "--overview")
        self.assertIn("| matmul, float | 3 | cublas | 1.20 | 1.20: matmul f32 256x256x256 | 100% | 80% |\n", run.stdout)
        self.assertIn("| transpose, of 4 and 8 bytes | 1 | cublas | 0.75 | 0.75: transpose f32 4096x4096 | 0.0% | 80% |\n",
                      run.stdout)

    def test_pages(self) -> None:
        of_run, page = self.file(small()), self.folder / "page.md"
        page.write_text("Text\n<!-- bench:matmul -->\n<!-- /bench -->\n\n<!-- bench:transpose:ladder x4096$ -->\nold\n<!-- /bench -->\n"
                        "<!-- bench:overview -->\n<!-- /bench -->\nend\n")
        before = page.read_text()
        check = self.run_program("table", of_run, "--check", "--update", page)
        self.assertEqual((check.returncode, page.read_text()), (1, before), check.stderr)
        self.assertIn("does not show its record;", check.stdout)
        self.assertEqual(self.run_program("table", of_run, "--update", page).returncode, 0)
        text = page.read_text()
        self.assertEqual((text.count("commit 0123456789"), text.count("old"), text[-4:]), (3, 0, "end\n"))

    def test_pages_show_the_newest_record(self) -> None:
        page = self.folder / "page.md"
        page.write_text("<!-- bench:transpose -->\n<!-- /bench -->\n")
        older = self.file(small() | {"commit": "fedcba98765432", "date": "2025-12-31T00:00:00Z"})
        self.assertEqual(self.run_program("table", older, self.file(small()), "--update", page).returncode, 0)
        self.assertIn("commit 0123456789;", page.read_text())

    def test_an_overview_tells_kinds_apart(self) -> None:
        kinds = {"conv, depthwise": "conv/bf16/32x7x7x32-k32-3x3-p1-g32",
                 "conv, grouped": "conv/f32/32x7x7x64-k64-3x3-p1-g32",
                 "conv, dense float": "conv/f32/32x7x7x64-k64-1x1", "conv, dense TF32": "conv/tf32/32x7x7x64-k64-1x1",
                 "conv, dense 16-bit": "conv/f16/32x7x7x64-k64-1x1", "matmul, float": "matmul/f32/8x8x8",
                 "matmul, TF32 and 16-bit": "linear_relu/tf32/8x8x8", "matmul, batched": "batched_matmul/f32/2x8x8x8",
                 "histogram, up to 256 bins": "histogram/u8/1024x256-equal",
                 "histogram, more bins": "histogram/f32/1024x1024",
                 "transpose, of 4 and 8 bytes": "transpose/f64/8x8", "transpose, of 1 and 2 bytes": "transpose/u8/8x8",
                 "image_filter, float": "sobel_x/f32c1/8x8", "image_filter, bytes": "laplacian/u8c3/8x8",
                 "separable_filter, radius 1 and 2": "box_blur/f32c1/64x64-r1",
                 "separable_filter, wider": "gaussian_blur/u8c1/64x64-r15",
                 "reduce": "sum/f32/8"}
        rows = [row(f"{case}/{library}", 1.0) for case in kinds.values() for library in ("heddle", "pytorch")]
        text = self.run_program("table", self.file(small() | {"rows": rows}), "--overview").stdout
        shown = re.findall(r"^\| ([a-z][^|]*) \| 1 \| pytorch \(apart\) \|", text, re.M)
        self.assertEqual(shown, list(kinds))
        self.assertIn("(apart): timed in a second process", text)

    def test_bad_pages_stay(self) -> None:
        for marker, message in (("none", "no case of none matches ''"),
                                ("matmul none", "no case of matmul matches 'none'"),
                                ("matmul (", "not a regular expression")):
            page = self.folder / "page.md"
            page.write_text(text := f"<!-- bench:{marker} -->\n<!-- /bench -->\n")
            run = self.run_program("table", self.file(small()), "--update", page)
            self.assertEqual((run.returncode, run.stderr.count("\n"), page.read_text()), (1, 1, text))
            self.assertIn(message, run.stderr)
        self.assertIn("no such file", self.run_program("table", self.file(small()), "--update", "none.md").stderr.lower())

@unittest.skipUnless(shutil.which("git"), "no git")
class History(InFolder):
    """--check, in a repository of one commit: a record is of its commit or is refused."""

    def setUp(self) -> None:
        super().setUp()
        self.tree = self.folder / "tree"
        shutil.copytree(root / "benchmarks/report", self.tree / "benchmarks/report",
                        ignore=shutil.ignore_patterns("__pycache__"))
        for name, text in {"CMakeLists.txt": "", "cmake/a": "", "kernels/a": "", "tests/a": "",
                           "include/heddle/a.hpp": "enum class a_algorithm {\n    naive,  // the first\n    padded\n};",
                           "include/heddle/b.hpp": "#define HEDDLE_B_RUNGS(RUNG) \\\n    RUNG(listed, never) \\\n"
                                                   "    RUNG(listed_last, always, word)\n\nRUNG(other)\n",
                           "include/heddle/c.hpp": "#define HEDDLE_C_RUNGS(RUNG, KERNELS, KERNEL) \\\n    KERNELS(listed_too) \\\n"
                                                   "    KERNEL(listed_too, its_kernel, always)\n",
                           "src/a/rungs.cpp": 'std::to_array<rung>({\n    {padded, "padded", launch, "words"},\n});\n',
                           "benchmarks/a.cpp": 'row("heddle:exact")',
                           "scripts/source-digest": (root / "scripts/source-digest").read_text()}.items():
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).write_text(text)
        self.git("init", "--quiet")
        self.commit = self.committed()
        done = subprocess.run(["bash", self.tree / "scripts/source-digest"], check=True, stdout=subprocess.PIPE,
                              text=True)
        self.head = {"commit": self.commit, "sources_sha256": done.stdout.strip()}

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", self.tree, "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def committed(self) -> str:
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a")
        return self.git("rev-parse", "HEAD")

    def check(self, rungs: list[str], tree: pathlib.Path | None = None, **head: object) -> tuple[int, str]:
        file = (tree or self.tree) / "docs/measurements/card/record.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        rows = [row(f"transpose/f32/8x8/heddle:{rung}", 1.0) for rung in rungs]
        file.write_text(json.dumps(small() | self.head | {"rows": rows} | head))
        done = subprocess.run([sys.executable, (tree or self.tree) / "benchmarks/report/table.py", "--check"],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout.replace(f"{file}: ", "")

    def test_takes_what_is_of_its_commit(self) -> None:
        said = (0, f"kernels changed since {self.commit[:10]}: none\n")
        self.assertEqual(self.check(["naive", "padded-words", "exact", "listed", "listed_last",
                                     "listed_too-its_kernel"]), said)
        (self.tree / "src/a/rungs.cpp").write_text("")
        self.committed()
        self.assertEqual(self.check(["naive", "padded-words"], commit=self.commit[:12] + "-dirty"),
                         said)

    def test_refuses_a_rung_that_its_commit_lacks(self) -> None:
        self.assertEqual(self.check(["naive", "renamed", "other", "padded-bytes"]),
                         (1, f"table: its commit {self.commit[:10]} has no rung renamed\n"
                             f"table: its commit {self.commit[:10]} has no rung other\n"
                             f"table: its commit {self.commit[:10]} has no rung padded-bytes\n"))

    def test_refuses_another_digest(self) -> None:
        self.assertEqual(self.check(["naive"], sources_sha256="f" * 64),
                         (1, f"table: its digest of the sources is not that of its commit {self.commit[:10]}\n"))

    def test_refuses_a_commit_that_is_not_in_the_history(self) -> None:
        for commit in ("0123456789abcdef", "unknown", None):
            self.assertEqual(self.check(["naive"], commit=commit),
                             (1, f"table: the history here has no commit {(commit or 'unknown')[:10]}\n"))

    def test_says_where_it_cannot_tell(self) -> None:
        shallow, bare = self.folder / "shallow", self.folder / "bare"
        (self.tree / "a").write_text("")
        self.committed()
        subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{self.tree}", shallow], check=True)
        self.assertEqual(self.check(["naive"], shallow),
                         (0, "not checked against its commit: "
                             f"the clone is shallow and has no commit {self.commit[:10]}\n"))
        shutil.copytree(self.tree, bare, ignore=shutil.ignore_patterns(".git"))
        self.assertEqual(self.check(["naive"], bare),
                         (0, "not checked against its commit: there is no git repository\n"))


def noisy(seed: int, factors: dict[str, float], processes: int = 0, machine: float = 1.0, noise: float = 0.005) -> dict:
    """Rows beside a peer. One process has the median and the spread of five repetitions, several have all."""
    rng, content, rows = random.Random(seed), small(), []
    for index in range(40):
        name = f"op{index}/f32/64x64"
        for library, factor in (("heddle", factors.get(name, 1.0)), ("peer", 1.2)):
            samples = [[machine * factor * (20 + 7 * index) * rng.gauss(1, noise) for _ in range(5)] for _ in range(max(1, processes))]
            flat = sorted(us for process in samples for us in process)
            us = flat[len(flat) // 2]
            made = row(f"{name}/{library}", us, spread=(flat[-1] - flat[0]) / 2 / us)
            if processes:
                made["processes"] = samples
                if library == "heddle":
                    made["peer"] = f"{name}/peer"
            rows.append(made)
    return content | {"rows": rows}


class Comparison(InFolder):
    def verdicts(self, old: dict, new: dict) -> dict[str, str]:
        rows, _ = compare.compare(compare.read(self.file(old)), compare.read(self.file(new)))
        return {row.name.removesuffix("/heddle"): row.verdict for row in rows}

    def test_finds_what_is_slower(self) -> None:
        for processes in (0, 3, 5):
            slower = {f"op{index}/f32/64x64": 1.06 for index in range(0, 40, 4)}
            same = faster = found = 0
            for seed in range(2):
                verdicts = self.verdicts(noisy(2 * seed, {}, processes), noisy(2 * seed + 1, slower, processes))
                found += sum(verdicts[name] == "slower" for name in slower)
                same += sum(verdict == "same" for name, verdict in verdicts.items() if name not in slower)
                faster += sum(verdict == "faster" for verdict in verdicts.values())
            self.assertGreaterEqual(found, 0.95 * 20, processes)
            self.assertGreaterEqual(same, 0.97 * 60, processes)
            self.assertLessEqual(faster, 1, processes)

    def test_a_change_within_the_spread_is_none(self) -> None:
        old, new = with_row(us=100.0, spread=0.04), with_row(us=105.0, spread=0.04)
        self.assertEqual(self.verdicts(old, new)["matmul/f32/256x256x256/heddle:naive"], "same")
        new = with_row(us=105.0, spread=0.01)
        old = with_row(us=100.0, spread=0.01)
        self.assertEqual(self.verdicts(old, new)["matmul/f32/256x256x256/heddle:naive"], "slower")

    def test_a_slower_machine_is_no_slower_kernel(self) -> None:
        verdicts = self.verdicts(noisy(1, {}), noisy(2, {}, machine=1.06))
        self.assertGreaterEqual(sum(verdict == "same" for verdict in verdicts.values()), 38)

    def test_a_row_without_a_peer_stands_beside_its_limit(self) -> None:
        def of(us: float, limit: float, count: float = 64.0) -> dict:
            return small() | {"rows": [row("add/f32/8/heddle", us, bytes=count, limit={"ceiling": "memory", "us": limit})]}
        for old, new, verdict in ((of(100, 90), of(106, 90), "slower"), (of(100, 90), of(106, 95.4), "same"),
                                  (of(100, 90), of(106, 95.4, count=128.0), "slower"), (of(106, 90), of(100, 90), "faster")):
            self.assertEqual(self.verdicts(old, new), {"add/f32/8": verdict})

    def test_rows_of_the_cpu_count_where_it_is_the_same(self) -> None:
        old, new = small(), small()
        for made in new["rows"]:
            if made["library"] == "host":
                made["us"] *= 2
        self.assertEqual(self.run_program("compare", self.file(old), self.file(new)).returncode, 1)
        run = self.run_program("compare", self.file(old), self.file(new | {"cpu": "another"}))
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_exit_status(self) -> None:
        old = self.file(small())
        gone = small()
        gone["rows"] = [made for made in gone["rows"] if made["library"] != "heddle" or made["operation"] != "call"]
        run = self.run_program("compare", old, self.file(gone))
        self.assertEqual(run.returncode, 1)
        self.assertIn("only in old, or failed in new: call/f32/add-1024/heddle", run.stdout)
        another = small()
        another["gpu"]["name"] = "another"
        run = self.run_program("compare", old, self.file(another))
        self.assertEqual((run.returncode, run.stderr.count("\n")), (2, 1))
        self.assertEqual(self.run_program("compare", "--force", old, self.file(another)).returncode, 0)
        few = copy.deepcopy(noisy(1, {}, 3))
        for made in few["rows"]:
            made["processes"] = made["processes"][:2]
        self.assertIn("2 processes", self.run_program("compare", self.file(few), self.file(few)).stderr)
        ragged = noisy(1, {}, 3)
        ragged["rows"][0]["processes"][0] = []
        self.assertIn("damaged", self.run_program("compare", self.file(ragged), self.file(ragged)).stderr)

    def test_checks_itself(self) -> None:
        for processes in (0, 5):
            run = self.run_program("compare", "--self-check", *(self.file(noisy(seed, {}, processes)) for seed in range(3)))
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            self.assertRegex(run.stdout, r"same: \d+ of 80 rows; slower by 5 %, and found: \d+ of 80")


if __name__ == "__main__":
    root = shared.argument(__doc__)
    sys.path.insert(0, str(root / "benchmarks/report"))
    import compare
    import record
    unittest.main()

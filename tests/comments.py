#!/usr/bin/env python3
"""Checks that no comment of the library states a measured figure: those stand in tables that scripts/bench-table fills.

usage: comments.py ROOT         names every comment with a figure; exits 1 if there is one
       comments.py --self-test  plants figures in comments and fails unless each is found
"""

import pathlib
import re

import shared

FOLDERS = ["kernels", "src", "include"]
SUFFIXES = {".cu", ".cuh", ".hpp", ".cpp"}

GAP = r"(?:[ \t]|\n[ \t]*//[/!<]*)*"  # a sentence may continue in the next line
PEER = r"(?:(?:cu(?:blas|BLAS|DNN|dnn)\w*|CUB|NPP|OpenCV|PyTorch)\b|a copy\b)"
FIGURE = re.compile(
    rf"//[^\n]*?(?P<figure>"
    rf"\b\d[\d.]*{GAP}(?:[mun]s\b|[kMGT]?B/s|[kMGT]?FLOP/s|%|per{GAP}cent\b)"  # a time, a rate, a share
    rf"|\b\d[\d.]*{GAP}(?:of|times){GAP}{PEER}|{PEER}{GAP}\d[\d.]*\b"  # a ratio to a peer
    rf"|\bdriver{GAP}\d|\b20\d\d-\d\d-\d\d\b"  # the run of a figure
    rf")")


def figures(text: str) -> list[tuple[int, str]]:
    """The line of each comment with a figure, and the figure."""
    return [(text.count("\n", 0, match.start("figure")) + 1, " ".join(match["figure"].split()))
            for match in FIGURE.finditer(text)]


def self_test() -> int:
    allowed = [
        "// 16 bytes a load, 128 x 128 of C, 2^28 floats, 32 KB in flight, 1024 clocks for 64 along k",
        "// packet p of row r lies at p ^ r % 8, thread i of 256 takes i % 32",
        "// as fast as a copy of 16 bytes; cublasSgemm and CUB 's kernels; from 2.5 times as many on",
        "/// Measured on an H200. The driver refuses more than 8 blocks",
        "constexpr double around_us = 2.0;  // of a launch",
        'print("12 us, 4.5 TB/s");',
        "int rest = 100 % us;",
    ]
    forbidden = [
        "// takes 12 us",
        "int i;  // takes 1.08 ms",
        "/// 3 ns",
        "// reaches 4.4 TB/s",
        "// reaches 890 GB/s",
        "// reaches 48 TFLOP/s",
        "// costs 3 %",
        "// costs 3% more",
        "// costs 10 per cent",
        "// which takes 31\n// us",
        "    // which takes 31\n    /// us",
        "// 0.95 of cuBLAS",
        "// 1.015 of CUB's rate",
        "// 2.43 times cublasSgemm's rate",
        "// of cuBLAS 1.01",
        "// 1.2 times a copy",
        "// driver 580.159",
        "// of 2026-11-22",
    ]
    failures = [f"refused what is allowed: {text}" for text in allowed if figures(text)]
    failures += [f"overlooked: {text}" for text in forbidden if not figures(text)]
    failures += [f"wrong line: {text}" for text in forbidden if figures("\n" + text) and figures("\n" + text)[0][0] != 2]
    print("\n".join(failures) or f"found all {len(forbidden)} planted figures")
    return 1 if failures else 0


def found_in(root: pathlib.Path) -> list[str]:
    return [f"{file}:{line}: a measured figure in a comment: {figure}"
            for file, text in shared.sources(root, FOLDERS, SUFFIXES) for line, figure in figures(text)]


if __name__ == "__main__":
    shared.check(__doc__, self_test, found_in, "no comment states a measured figure")

#!/usr/bin/env python3
"""Makes a page of a record that heddle-bench run wrote: one HTML file that needs no other. Needs matplotlib, and no GPU."""

import argparse
import pathlib
import sys

import program
import record


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="report")
    parser.add_argument("records", nargs="+", type=pathlib.Path, metavar="RECORD", help="one, or for pictures several")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="PAGE", help="without it RECORD with the suffix .html")
    parser.add_argument("--pictures", type=pathlib.Path, metavar="DIR",
                        help="instead of the page write overview.svg and a ladder-<family>.svg for each folder of kernels")
    parser.add_argument("--incomplete", action="store_true", help="take a record of a run that was stopped")
    arguments = parser.parse_args()
    if len(arguments.records) > 1 and not arguments.pictures:
        parser.error("a page is of one record")
    try:
        runs = [record.read(file, arguments.incomplete) for file in arguments.records]
    except record.BadRecord as error:
        return program.fail("report", error)
    try:
        import page
        import pictures
    except ImportError as error:
        return program.lacking("report", error)
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
        for name, picture in pictures.files(runs).items():
            program.write(arguments.pictures / name, picture.file())
            print(arguments.pictures / name)
    else:
        output = arguments.output or arguments.records[0].with_suffix(".html")
        program.write(output, page.page(runs[0]))
        print(output)
    return 0


if __name__ == "__main__":
    sys.exit(program.run("report", main, failed=1))

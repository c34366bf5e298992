#!/usr/bin/env python3
"""Draws what heddle-bench conv-roofline wrote: each layer under the roof, and how its receptive field grows. Needs matplotlib."""

import argparse
import json
import pathlib
import sys

import program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="conv-roofline")
    parser.add_argument("data", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE.svg", required=True)
    arguments = parser.parse_args()
    try:
        content = json.loads(arguments.data.read_text())
        if content["kind"] != "conv-roofline":
            return program.fail("conv-roofline", f"{arguments.data} is not what heddle-bench conv-roofline writes")
    except (OSError, ValueError, LookupError, TypeError) as error:
        return program.fail("conv-roofline", f"cannot read {arguments.data}: {error}")
    if not any(layer["operations"] and layer.get("roof") for layer in content["layers"]):
        return program.fail("conv-roofline", f"{arguments.data} has no layer under a roof: ceilings are missing")
    try:
        import conv_pictures
    except ImportError as error:
        return program.lacking("conv-roofline", error)
    program.write(arguments.output, conv_pictures.picture_of(content).file())
    print(arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(program.run("conv-roofline", main, failed=1))

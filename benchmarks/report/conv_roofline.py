#!/usr/bin/env python3
"""Draws what heddle-bench conv-roofline wrote: each layer under the roof, and how its receptive field grows. Needs matplotlib."""

from __future__ import annotations

import argparse
import json
import math
import pathlib
import sys
import typing

import program

WIDTH, HEIGHT = 760, 400
SIDE = 280  # of the panel of receptive fields


def fail(message: str) -> int:
    print(f"conv-roofline: {message}", file=sys.stderr)
    return 1


def draw_roof(picture: typing.Any, content: dict, right: float) -> None:
    """Operations a second over operations a byte."""
    from pictures import LIGHT, FixedLocator, FuncFormatter, NullLocator, compact, decades
    from record import UNITS, as_time

    layers = [layer for layer in content["layers"] if layer["operations"] and layer["roof"]]
    memory, units = content["memory"], content["units"]
    axes = picture.axes(84, 62, right, 46)
    axes.set_xscale("log")
    axes.set_yscale("log")
    marks = []
    for layer in layers:
        intensity = layer["operations"] / layer["bytes"]
        marks.append((layer, intensity, layer["operations"] / layer["roof"]["us"] * 1e6,
                      layer["operations"] / layer["us"] * 1e6 if layer["us"] else None))
    low = min(x for _, x, _, _ in marks) / 2
    high = max(x for _, x, _, _ in marks) * 2
    rates = [rate for _, _, roof, timed in marks for rate in (roof, timed) if rate] + list(units.values())
    bottom, top = min(rates) / 2, max(rates) * 2
    line = {"color": LIGHT["limit"], "linewidth": 1.4, "zorder": 1}
    peak = max(units.values(), default=top)
    if memory:
        knee = min(peak / memory, high)
        axes.plot([low, knee], [low * memory, knee * memory], **line)
    for unit, rate in units.items():
        axes.plot([min(rate / memory, high) if memory else low, high], [rate, rate], **line)
        axes.text(high / 1.1, rate * 1.08, f"{UNITS.get(unit, unit)} {compact(rate, 'FLOP/s')}", ha="right", va="bottom",
                  fontsize=11, color=LIGHT["muted"])
    style = {"linestyle": "none", "markersize": 6}
    labels = set()

    def mark(label: str, layer: dict, x: float, rate: float, us: float, **how: object) -> None:
        dot, = axes.plot([x], [rate], label=None if label in labels else label, **style, **how)
        labels.add(label)
        picture.titled(dot, f"{layer['name']} {layer['shape']}: {label} {as_time(us)}, {compact(rate, 'FLOP/s')}, "
                            f"{x:.3g} operations a byte")

    for layer, x, roof, timed in marks:
        mark("roof", layer, x, roof, layer["roof"]["us"], marker="_", color=LIGHT["ink"])
        if timed:
            mark("heddle", layer, x, timed, layer["us"], marker="o", color=LIGHT["heddle"], alpha=0.8)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    ticks = decades(low, high)
    axes.xaxis.set_major_locator(FixedLocator(ticks if len(ticks) > 3 else
                                              [multiple * tick for tick in ticks for multiple in (1, 2, 5)]))
    axes.yaxis.set_major_locator(FixedLocator(decades(bottom, top)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: compact(value, "FLOP/s")))
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, top)
    axes.grid(True)
    axes.set_xlabel("operations a byte (log scale)")
    picture.figure.legend(*axes.get_legend_handles_labels(), loc="upper left", ncols=2, handlelength=1, borderaxespad=0.3,
                          bbox_to_anchor=(6 / picture.size[0], 1 - 34 / HEIGHT))


def draw_fields(picture: typing.Any, content: dict) -> None:
    """The receptive field over the layers, whole and effective."""
    from pictures import LIGHT

    layers = content["layers"]
    axes = picture.axes(picture.size[0] - SIDE + 52, 62, 14, 46)
    for key, label, colour in (("field", "whole", "limit"), ("effective_field", "effective", "heddle")):
        sizes = [math.sqrt(layer[key][0] * layer[key][1]) for layer in layers]
        line, = axes.plot(range(1, len(layers) + 1), sizes, color=LIGHT[colour], marker="o", markersize=3.5, linewidth=1.6)
        picture.titled(line, f"{label} receptive field: " + ", ".join(
            f"{layer['name']} {size:.0f}" for layer, size in zip(layers, sizes)))
        axes.annotate(label, (len(layers), sizes[-1]), textcoords="offset points", xytext=(-4, 6), ha="right", fontsize=11,
                      color=LIGHT[colour])
    axes.grid(True)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("layer")
    picture.figure.text((picture.size[0] - SIDE + 12) / picture.size[0], 1 - 44 / HEIGHT, "receptive field, pixels of the image",
                        fontsize=11, color=LIGHT["muted"], va="center")


def picture_of(content: dict) -> typing.Any:
    from pictures import LIGHT, Picture

    several = len(content["layers"]) > 1
    picture = Picture(WIDTH + (SIDE if several else 0), HEIGHT)
    title = f"{content['title']}, {content['type']}, {content['count']} images"
    caption = f"{content['gpu']}, {'hot' if content['hot'] else 'cold'}"
    picture.figure.text(12 / picture.size[0], 1 - 16 / HEIGHT, title, fontsize=13, weight="bold", va="center")
    picture.figure.text(1 - 14 / picture.size[0], 1 - 16 / HEIGHT, caption, fontsize=11, ha="right", va="center",
                        color=LIGHT["muted"])
    draw_roof(picture, content, SIDE + 20 if several else 20)
    if several:
        draw_fields(picture, content)
    last = content["layers"][-1]
    picture.alt = (f"Layers under the roof: {title}, {caption}. The receptive field of the last is {last['field'][0]:.0f} "
                   f"pixels high, the effective one {last['effective_field'][0]:.0f}.")
    return picture


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, prog="conv-roofline")
    parser.add_argument("data", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE.svg", required=True)
    arguments = parser.parse_args()
    try:
        content = json.loads(arguments.data.read_text())
        if content["kind"] != "conv-roofline":
            return fail(f"{arguments.data} is not what heddle-bench conv-roofline writes")
    except (OSError, ValueError, LookupError, TypeError) as error:
        return fail(f"cannot read {arguments.data}: {error}")
    if not any(layer["operations"] and layer["roof"] for layer in content["layers"]):
        return fail(f"{arguments.data} has no layer under a roof: ceilings are missing")
    try:
        import pictures  # noqa: F401
    except ImportError as error:
        return fail(f"{sys.executable} has no {error.name}; to install it: {sys.executable} -m pip install matplotlib, "
                    "or on Debian and Ubuntu: apt-get install python3-matplotlib")
    program.write(arguments.output, picture_of(content).file())
    print(arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(program.run("conv-roofline", main, failed=1))

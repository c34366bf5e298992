"""The picture of heddle-bench conv-roofline: each layer under the roof, and how its receptive field grows."""

from __future__ import annotations

import math

from matplotlib.ticker import MaxNLocator

from pictures import LIGHT, Picture, compact, roof_axes
from record import as_time

WIDTH, HEIGHT = 760, 400
SIDE = 280  # of the panel of receptive fields


def draw_roof(picture: Picture, content: dict, right: float) -> None:
    """Operations a second over operations a byte."""
    layers = [layer for layer in content["layers"] if layer["operations"] and layer.get("roof")]
    memory, units = content.get("memory"), content["units"]
    axes = picture.axes(84, 62, right, 46)
    marks = []
    for layer in layers:
        intensity = layer["operations"] / layer["bytes"]
        marks.append((layer, intensity, layer["operations"] / layer["roof"]["us"] * 1e6,
                      layer["operations"] / layer["us"] * 1e6 if layer.get("us") else None))
    rates = [rate for _, _, roof, timed in marks for rate in (roof, timed) if rate] + list(units.values())
    bottom, top = min(rates) / 1.8, max(rates) * 2
    knees = [max(units.values(), default=top) / memory / 20] if memory else []
    low = min([x for _, x, _, _ in marks] + knees) / 2
    high = max(x for _, x, _, _ in marks) * 2
    roof_axes(axes, low, high, bottom, top, memory, units)
    style = {"linestyle": "none", "markersize": 6}
    labels = set()

    def mark(label: str, layer: dict, x: float, rate: float, us: float, **how: object) -> None:
        dot, = axes.plot([x], [rate], label=None if label in labels else label, **style, **how)
        labels.add(label)
        picture.titled(dot, f"{layer['name']} {layer['shape']}: {label} {as_time(us)}, {compact(rate, 'FLOP/s')}, "
                            f"{x:.3g} operations a byte")

    for layer, x, roof, timed in marks:
        mark("roof", layer, x, roof, layer["roof"]["us"], marker="o", color=LIGHT["limit"], markerfacecolor="none")
        if timed:
            mark("heddle", layer, x, timed, layer["us"], marker="o", color=LIGHT["heddle"], alpha=0.8)
    axes.set_xlabel("operations a byte (log scale)")
    picture.legend(axes, 2, 34, handlelength=1)


def draw_fields(picture: Picture, content: dict) -> None:
    """The receptive field over the layers, whole and effective."""
    every = content["layers"]
    read = {layer["input"] for layer in every} | {len(every) - 1}
    layers = [layer for index, layer in enumerate(every) if index in read]  # no side branches
    axes = picture.axes(picture.size[0] - SIDE + 52, 62, 14, 46)
    for key, label, colour, side in (("field", "whole", "limit", 1), ("effective_field", "effective", "heddle", -1)):
        sizes = [math.sqrt(layer[key][0] * layer[key][1]) for layer in layers]
        line, = axes.plot(range(1, len(layers) + 1), sizes, color=LIGHT[colour], marker="o", markersize=3.5, linewidth=1.6)
        picture.titled(line, f"{label} receptive field: " + ", ".join(
            f"{layer['name']} {size:.0f}" for layer, size in zip(layers, sizes)))
        axes.annotate(label, (len(layers), sizes[-1]), textcoords="offset points", xytext=(0, 6 * side), ha="right",
                      va="bottom" if side > 0 else "top", fontsize=11, color=LIGHT[colour])
    axes.grid(True)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("layer, one after the other")
    picture.text(picture.size[0] - SIDE + 12, 44, "receptive field, pixels of the image")


def picture_of(content: dict) -> Picture:
    several = len(content["layers"]) > 1
    picture = Picture(WIDTH + (SIDE if several else 0), HEIGHT)
    title = f"{content['title']}, {content['type']}, {content['count']} images"
    caption = f"{content['gpu']}, {'hot' if content['hot'] else 'cold'}"
    picture.heading(12, 16, title, 13)
    picture.text(-14, 16, caption, ha="right")
    draw_roof(picture, content, SIDE + 160 if several else 160)
    if several:
        draw_fields(picture, content)
    last = content["layers"][-1]
    picture.alt = (f"Layers under the roof: {title}, {caption}. The receptive field of the last is {last['field'][0]:.0f} "
                   f"pixels high, the effective one {last['effective_field'][0]:.0f}.")
    return picture

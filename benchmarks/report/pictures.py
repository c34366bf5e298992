"""Pictures of a record, as SVG by matplotlib. Inside a page their colours are its CSS variables; alone they are light."""

from __future__ import annotations

import html
import io
import math
import re
import typing

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from record import (NOT_PEERS, UNITS, Case, Record, Row, as_bytes, as_rate, as_share, as_time, extents_of, families_of,
                    geometric_mean, rounded)

# Each light colour is its own name: what stands in a picture is replaced by the page's variable of that name. Of Okabe
# and Ito's colours, which the colour-blind tell apart, darker or lighter as the ground needs it.
LIGHT = {"ink": "#1b1f25", "muted": "#5a6370", "grid": "#dadfe5", "paper": "#fefefe",
         "heddle": "#0063a8", "rung": "#7fb2da", "vendor": "#c24e00", "second": "#a3497f", "third": "#00795a",
         "fourth": "#806000", "cpu": "#4b4f56", "cpu2": "#8a8f98", "bug": "#c00020", "limit": "#7b828c"}
DARK = {"ink": "#e8eaed", "muted": "#a2abb8", "grid": "#353c46", "paper": "#14181d",
        "heddle": "#5db4f2", "rung": "#2f6691", "vendor": "#f28a3c", "second": "#dd8dbd", "third": "#35c99b",
        "fourth": "#d9b330", "cpu": "#c3c8d0", "cpu2": "#8b929d", "bug": "#ff7080", "limit": "#8b929d"}
COLOURS = {"heddle": "heddle", "cublas": "vendor", "cublaslt": "second", "cublaslt+cudnn": "third", "cudnn": "third",
           "cub": "fourth", "npp": "vendor", "pytorch": "second", "copy": "limit", "launch": "limit", "host": "cpu",
           "openblas": "cpu2", "opencv": "cpu2"}
MARKERS = {"heddle": "o", "cublas": "s", "cublaslt": "D", "cublaslt+cudnn": "^", "cudnn": "^", "cub": "P", "npp": "s",
           "pytorch": "v", "copy": "_", "launch": "_", "host": "X", "openblas": "d", "opencv": "d"}
FONT = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"
WIDTH = 400  # of a panel, in pixels
LADDERS_A_FILE = 2
LEAST_RANGE = 4  # of the bytes of cases that are drawn over them

matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "heddle", "font.family": "DejaVu Sans", "font.size": 12, "figure.dpi": 72,
    "text.parse_math": False, "text.color": LIGHT["ink"], "axes.labelcolor": LIGHT["muted"], "axes.edgecolor": LIGHT["grid"],
    "axes.linewidth": 1, "xtick.color": LIGHT["muted"], "ytick.color": LIGHT["ink"], "xtick.labelsize": 11,
    "ytick.labelsize": 11.5, "axes.labelsize": 11, "axes.grid": False, "grid.color": LIGHT["grid"], "grid.linewidth": 0.8,
    "legend.frameon": False, "legend.fontsize": 11, "figure.facecolor": "none", "axes.facecolor": "none",
    "xtick.major.size": 0, "ytick.major.size": 0, "xtick.minor.size": 0, "ytick.minor.size": 0, "axes.axisbelow": True})


def colour(row: Row) -> str:
    if row.library == "heddle":
        return LIGHT["heddle" if row.plain else "rung"]
    return LIGHT[COLOURS.get(row.library, "fourth")]


class Picture:
    """A figure, the text that stands for it, and what its marks say under the pointer."""
    count = 0

    def __init__(self, width: float, height: float, alt: str = "") -> None:
        self.figure = Figure(figsize=(width / 72, height / 72))
        self.size = round(width), round(height)
        self.alt = alt
        self.titles: list[str] = []

    def axes(self, left: float, top: float, right: float, bottom: float) -> "matplotlib.axes.Axes":
        """With margins in pixels."""
        width, height = self.size
        axes = self.figure.add_axes((left / width, bottom / height, (width - left - right) / width,
                                     (height - top - bottom) / height))
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        return axes

    def text(self, left: float, top: float, text: str, **how: object) -> None:
        """So many pixels from the left and from the top; from the right and the bottom where they are negative."""
        width, height = self.size
        how = {"fontsize": 11, "color": LIGHT["muted"], "va": "center"} | how
        self.figure.text((left < 0) + left / width, (top >= 0) - top / height, text, **how)

    def heading(self, left: float, top: float, text: str, size: float = 12.5) -> None:
        self.text(left, top, text, fontsize=size, weight="bold", color=LIGHT["ink"])

    def legend(self, axes: "matplotlib.axes.Axes", columns: int, top: float, **how: object) -> None:
        width, height = self.size
        self.figure.legend(*axes.get_legend_handles_labels(), loc="upper left", ncols=columns, borderaxespad=0.3,
                           labelspacing=0.25, bbox_to_anchor=(6 / width, 1 - top / height), **how)

    def titled(self, artist: "matplotlib.artist.Artist", title: str) -> None:
        artist.set_gid(f"titled-{len(self.titles)}")
        self.titles.append(title)

    def _drawn(self) -> str:
        buffer = io.StringIO()
        self.figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        text = buffer.getvalue()
        body = text[text.index(">", text.index("<svg")) + 1:text.rindex("</svg>")]
        body = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", body, flags=re.DOTALL)
        body = re.sub(r"\s*\n\s*", " ", re.sub(r">\s+<", "><", body))

        def tidy(tag: re.Match) -> str:
            tag = re.sub(r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), tag[0])
            return re.sub(r"'DejaVu Sans'[^;\"]*", FONT, tag)

        body = re.sub(r"<[^>]*>", tidy, body)
        # Ids that nothing names go; the others have to differ from those of the page's other pictures.
        used = set(re.findall(r"(?:url\(|href=\")#([\w-]+)", body))
        Picture.count += 1
        prefix = f"p{Picture.count}"
        names = {name: f"{prefix}{index}" for index, name in enumerate(sorted(used))}

        def identified(match: re.Match) -> str:
            if match[1] in names:
                return f' id="{names[match[1]]}"'
            return f' id="{match[1]}"' if match[1].startswith("titled-") else ""

        body = re.sub(r' id="([^"]*)"', identified, body)
        body = re.sub(r"(url\(|href=\")#([\w-]+)", lambda match: f"{match[1]}#{names[match[2]]}", body)
        return re.sub(r'<g id="titled-(\d+)">',
                      lambda match: f"<g><title>{html.escape(self.titles[int(match[1])])}</title>", body)

    def inline(self) -> str:
        """For a page that has the variables."""
        of_colour = {value: name for name, value in LIGHT.items()}
        body = re.sub(r"#[0-9a-f]{6}(?=[;\"])", lambda match: f"var(--{of_colour[match[0]]})"
                      if match[0] in of_colour else match[0], self._drawn())
        width, height = self.size
        return (f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
                f'aria-label="{html.escape(self.alt)}" xmlns:xlink="http://www.w3.org/1999/xlink">{body}</svg>')

    def file(self) -> str:
        width, height = self.size
        return (f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
                f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
                f"<title>{html.escape(self.alt)}</title>"
                f'<rect width="100%" height="100%" rx="6" fill="{LIGHT["paper"]}"/>{self._drawn()}</svg>\n')


def set_ticks(axis: "matplotlib.axis.Axis", places: list[float], text: typing.Callable[[float], str]) -> None:
    axis.set_major_locator(FixedLocator(places))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


# --- ratios ---

RATIO_TICKS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.75, 1, 1.5, 2, 4, 8, 16]
LEAST_RATIO, GREATEST_RATIO = 1 / 4, 16


def apart(ticks: list[float], least: float, place: typing.Callable[[float], float]) -> list[float]:
    """Those, from the first on, whose places are far enough from all before."""
    taken: list[float] = []
    for tick in ticks:
        if all(abs(place(tick) - place(other)) >= least for other in taken):
            taken.append(tick)
    return taken


def ratios(groups: dict[str, list[Case]], width: float, step: float = 26, heading: str = "", caption: str = "") -> Picture:
    """A row per group: a dot for each of its cases, the geometric mean as a line. The best group comes first."""
    groups = {name: [case for case in cases if case.ratio] for name, cases in groups.items()}
    groups = {name: cases for name, cases in groups.items() if cases}
    ordered = sorted(groups, key=lambda name: -geometric_mean([case.ratio for case in groups[name]]))
    top, bottom = 34 + (26 if heading else 0), 46 + (20 if caption else 0)
    picture = Picture(width, top + step * len(ordered) + bottom)
    left = 12 + 7 * max(len(name) for name in ordered)
    axes = picture.axes(left, top, 112, bottom)
    every = [case.ratio for cases in groups.values() for case in cases]
    low = max(LEAST_RATIO, min(0.7, min(every) * 0.92))
    high = min(GREATEST_RATIO, max(1.5, max(every) * 1.08))
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(len(ordered) - 0.5, -0.5)
    pixels = width - left - 112
    by_rank = sorted(RATIO_TICKS, key=lambda tick: (not math.log2(tick).is_integer(), abs(math.log(tick))))
    set_ticks(axes.xaxis, apart([tick for tick in by_rank if low <= tick <= high], 30 / pixels,
                                lambda tick: math.log(tick / low) / math.log(high / low)), "{:g}".format)
    axes.xaxis.grid(True)
    axes.axvline(1, color=LIGHT["ink"], linewidth=1.2)
    axes.set_yticks(range(len(ordered)), ordered)
    axes.set_xlabel("best peer's time / heddle's  (log scale)")
    small = {"transform": axes.transAxes, "va": "bottom", "fontsize": 11, "color": LIGHT["muted"]}
    axes.text(1 + 54 / pixels, 1.0, "mean", ha="right", **small)
    axes.text(1 + 104 / pixels, 1.0, "worst", ha="right", **small)
    at_one = math.log(1 / low) / math.log(high / low)
    axes.text(at_one + 6 / pixels, 1.0, "faster \N{RIGHTWARDS ARROW}", ha="left", **small)
    axes.text(at_one - 6 / pixels, 1.0, "\N{LEFTWARDS ARROW} slower", ha="right", **small)
    for index, name in enumerate(ordered):
        cases = sorted(groups[name], key=lambda case: case.ratio)
        for case in cases:
            shown = min(max(case.ratio, low), high)
            beyond = shown != case.ratio
            marker = "o" if not beyond else ">" if case.ratio > high else "<"
            slower = case.ratio < 0.95
            dot, = axes.plot([shown], [index], marker, markersize=6.5, alpha=0.8, clip_on=False, linestyle="none",
                             color=LIGHT["vendor" if slower else "heddle"],
                             markerfacecolor="none" if case.hot else LIGHT["vendor" if slower else "heddle"])
            picture.titled(dot, f"{case.operation} {case.label}: {case.ratio:.2f} of {case.vendor.implementation}'s speed; "
                                f"{as_time(case.plain.us)} and {as_time(case.vendor.us)}")
        mean = geometric_mean([case.ratio for case in cases])
        worst = cases[0].ratio
        axes.plot([min(max(mean, low), high)] * 2, [index - 0.34, index + 0.34], color=LIGHT["ink"], linewidth=2.4,
                  solid_capstyle="butt")
        columns = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 11.5}
        axes.text(1 + 54 / pixels, index, f"{mean:.2f}", ha="right", weight="bold", **columns)
        axes.text(1 + 104 / pixels, index, f"{worst:.2f}", ha="right", **columns,
                  color=LIGHT["vendor"] if worst < 0.95 else LIGHT["ink"])
    if heading:
        picture.heading(14, 20, heading, 13)
    if caption:
        picture.text(14, -14, caption, fontsize=10.5)
    means = "; ".join(f"{name} {geometric_mean([case.ratio for case in groups[name]]):.2f}, worst "
                      f"{min(case.ratio for case in groups[name]):.2f}" for name in ordered)
    picture.alt = f"Dots: the best peer's time over heddle's per case, above 1 where heddle is faster. Geometric means: {means}."
    return picture


# --- ladders ---

def in_order(case: Case) -> list[Row]:
    """heddle's rungs, its plain call and the peers: the slowest first."""
    return sorted((row for row in case.rows if not row.on_cpu and row.library != "launch"), key=lambda row: -row.us)


def short(row: Row) -> str:
    return row.rung if row.library == "heddle" and row.rung else row.implementation


def ffma_us(case: Case) -> float | None:
    """What its operations take on the FFMA units, which some rungs use, where the limit is less."""
    rate = case.record.ceiling("ffma", case.hot)
    row = next((row for row in case.rows if row.operations and row.limit), None)
    us = row.operations / rate * 1e6 if row and rate else 0.0
    return us if row and us > row.limit.us else None


def measure(case: Case, rows: list[Row]) -> str:
    """Of what a ladder's bars are shares."""
    limits = sorted({row.limit for row in rows if row.limit}, key=lambda limit: limit.us)
    if not limits:
        return f"share of {case.vendor.implementation}'s speed" if case.vendor else "share of the fastest"
    units = ", ".join(dict.fromkeys(UNITS.get(limit.ceiling, limit.ceiling or "what it declares") for limit in limits))
    times = list(dict.fromkeys(as_time(limit.us) for limit in limits))
    if len(times) > 1:
        return f"shares of limits: {times[0]} to {times[-1]} by {units}"
    return f"share of the limit: {times[0]} by {units}"


def ladder(cases: list[Case], sourced: bool = False) -> Picture:
    """Bars, one below the other: how much of the limit each rung and peer reaches; of the vendor where there is no limit."""
    step, between = 19, 34
    panels = [(case, in_order(case), ffma_us(case)) for case in cases]
    captions = list(dict.fromkeys(case.record.provenance for case in cases)) if sourced else []
    height = sum((60 if ffma else 44) + step * len(rows) + between for _, rows, ffma in panels) + 18 * len(captions)
    width = WIDTH + (90 if sourced else 0)
    picture = Picture(width, height)
    left = 10 + 6.9 * max(len(short(row)) for _, rows, _ in panels for row in rows)
    right = 118
    top = 0
    alts = []
    for case, rows, ffma in panels:
        titles = 60 if ffma else 44
        vendor = case.vendor
        by_limit = any(row.limit for row in rows)
        share = {row: (row.share_of_limit if by_limit else vendor.us / row.us if vendor else rows[-1].us / row.us) or 0.0
                 for row in rows}
        top += titles
        axes = picture.axes(left, top, right, height - top - step * len(rows))
        top += step * len(rows) + between
        most = max(1.0, *share.values())
        axes.set_xlim(0, most)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        ticks = [0, 1, most // 1, 0.5, 1.5, 2] if most >= 1.1 else [0, 1, 0.5, 0.25, 0.75]
        ticks = apart([tick for tick in ticks if tick <= most], 44 / (width - left - right), lambda tick: tick / most)
        set_ticks(axes.xaxis, ticks, lambda value: f"{100 * value:.0f} %")
        axes.xaxis.grid(True)
        axes.set_yticks(range(len(rows)), [short(row) for row in rows])
        for label, row in zip(axes.get_yticklabels(), rows):
            label.set_weight("bold" if row.plain else "normal")
            if row.library != "heddle":
                label.set_color(colour(row))
        for index, (row, length) in enumerate(share.items()):
            bug = row.beyond_limit
            bar = axes.barh(index, min(length, most), height=0.62, color=LIGHT["bug"] if bug else colour(row))[0]
            beside = f" \N{MIDDLE DOT} {as_share(vendor.us / row.us)}" if vendor and row != vendor else ""
            axes.text(1 + 6 / (width - left - right), index, f"{as_time(row.us)}{beside}{' !' if bug else ''}",
                      transform=axes.get_yaxis_transform(), va="center", fontsize=11,
                      color=LIGHT["bug"] if bug else LIGHT["ink"])
            picture.titled(bar, described(case, row) + (": faster than its limit, a bug of the row or of the limit"
                                                            if bug else ""))
        axes.axvline(1, color=LIGHT["limit"], linewidth=1.2)
        if vendor and by_limit:
            axes.axvline(share[vendor], color=colour(vendor), linewidth=1, linestyle=(0, (3, 2)))
        if ffma and by_limit:
            reached = next(row.limit.us for row in rows if row.limit) / ffma
            axes.axvline(reached, color=LIGHT["ink"], linewidth=1.2, linestyle=(0, (1, 2)))
        axes.spines["left"].set_visible(True)
        begin = top - titles - step * len(rows) - between
        picture.heading(12, begin + 14, f"{case.operation} {case.label}")
        notes = [measure(case, rows)] + ([f"dotted: the limit of FFMA alone, {as_time(ffma)}"] if ffma else [])
        for index, note in enumerate(notes):
            picture.text(12, begin + 31 + 16 * index, note)
        picture.text(6 - right, begin + 31, "time" + (" \N{MIDDLE DOT} of vendor" if vendor else ""))
        alts.append(f"{case.operation} {case.label}, slowest first: " + ", ".join(
            f"{row.implementation} {as_time(row.us)} {100 * value:.0f} %" for row, value in share.items())
            + f" of the {'limit' if by_limit else 'vendor'}"
            + (f", that of FFMA alone is {as_time(ffma)}." if ffma else "."))
    for index, caption in enumerate(reversed(captions)):
        picture.text(12, -12 - 18 * index, caption, fontsize=10.5)
    picture.alt = "Ladder of " + " ".join(alts)
    return picture


def described(case: Case, row: Row) -> str:
    parts = [f"{row.implementation} {as_time(row.us)}"]
    if row.rate:
        parts.append(as_rate(*row.rate))
    if row.limit:
        parts.append(f"{as_share(row.share_of_limit)} of the limit")
    if case.vendor and row is not case.vendor:
        parts.append(f"{as_share(case.vendor.us / row.us)} of {case.vendor.implementation}")
    return ", ".join(parts)


# --- over size ---

def sized(cases: list[Case], least: int = 3) -> list[list[Case]]:
    """Cases that differ in size alone: all extents equal, or all but one the same. Longest first, none in two."""
    found: dict[tuple, dict[int, Case]] = {}
    for case in cases:
        extents, rest = extents_of(case.shape)
        if not extents or not case.bytes:
            continue
        kind = (case.operation, case.type, case.hot, rest, len(extents))
        if len(extents) > 1 and len(set(extents)) == 1:
            found.setdefault((*kind, "square"), {}).setdefault(extents[0], case)
        else:
            for index, extent in enumerate(extents):
                others = tuple(extents[:index] + extents[index + 1:])
                found.setdefault((*kind, index, others), {}).setdefault(extent, case)
    taken: set[tuple] = set()
    result = []
    for by_extent in sorted(found.values(), key=lambda group: -len(group)):
        group = [case for _, case in sorted(by_extent.items()) if (case.operation, case.type, case.shape, case.hot) not in taken]
        if len(group) >= least:
            result.append(group)
            taken.update((case.operation, case.type, case.shape, case.hot) for case in group)
    return result


def best_of(case: Case, library: str) -> Row | None:
    if library == "heddle":
        return case.plain
    return min((row for row in case.rows if row.library == library), key=lambda row: row.us, default=None)


def title_of(group: list[Case]) -> str:
    first = group[0]
    extents, rest = extents_of(first.shape)
    if len(extents) > 1:
        same = {index for index in range(len(extents)) if len({case.extents[index] for case in group}) == 1}
        rest = "x".join(str(extents[index]) if index in same else "n" for index in range(len(extents))) + rest
    return " ".join([first.operation, first.type, rest.strip("-")] + ["hot"] * first.hot).strip()


def size_of(group: list[Case]) -> dict[Case, float]:
    """Its bytes; or the extent that varies, where the bytes hardly do."""
    if max(case.bytes for case in group) >= LEAST_RANGE * min(case.bytes for case in group):
        return {case: case.bytes for case in group}
    varying = next(index for index in range(len(group[0].extents)) if len({case.extents[index] for case in group}) > 1)
    return {case: float(case.extents[varying]) for case in group}


def decades(low: float, high: float) -> list[float]:
    return [10.0**power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


Lines = list[tuple[str, list[tuple[float, float]], dict]]  # label, points and style


def over_size(picture: Picture, axes: "matplotlib.axes.Axes", lines: Lines, y_text: typing.Callable[[float], str],
              group: list[Case]) -> None:
    """Lines on logarithmic axes."""
    sizes = size_of(group)
    x_of = list(sizes.values())
    of_bytes = x_of == [case.bytes for case in group]
    x_text = as_bytes if of_bytes else lambda value: f"{value:.0f}"
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    values = [y for _, points, _ in lines for _, y in points]
    low, high = min(values), max(values)
    axes.set_ylim(low / 1.3, high * 1.3)
    axes.set_xlim(min(x_of) / 1.5, max(x_of) * 1.5)
    for label, points, style in lines:
        line, = axes.plot(*zip(*points), label=label, **style)
        picture.titled(line, f"{label}: " + ", ".join(f"{x_text(x)} {y_text(y)}" for x, y in points))
    within = [tick for tick in decades(low, high) if low / 1.3 <= tick <= high * 1.3]
    if len(within) < 3:
        within = [multiple * tick for tick in decades(low, high) for multiple in (1, 2, 5)
                  if low / 1.3 <= multiple * tick <= high * 1.3]
    if len(within) > 6:
        within = within[::2]
    set_ticks(axes.yaxis, within, y_text)
    powers = range(math.ceil(math.log2(min(x_of))), math.floor(math.log2(max(x_of))) + 1)
    step = max(1, math.ceil(len(powers) / 5))
    ticks = [2.0**power for power in powers[::step]] or [min(x_of), max(x_of)]
    set_ticks(axes.xaxis, ticks, x_text)
    axes.grid(True)
    axes.set_xlabel("bytes read and written, each element once (log scale)" if of_bytes else "n (log scale)")


def style_of(library: str) -> dict:
    return {"color": LIGHT[COLOURS.get(library, "fourth")], "marker": MARKERS.get(library, "h"), "markersize": 4.5,
            "linewidth": 2.2 if library == "heddle" else 1.5, "zorder": 3 if library == "heddle" else 2}


def sized_picture(group: list[Case], lines: Lines, left: float, columns: int, y_text: typing.Callable[[float], str],
                  title: str, alt: str) -> Picture:
    above = 30 + 17 * math.ceil(len(lines) / columns)
    picture = Picture(WIDTH, 250 + above)
    axes = picture.axes(left, above, 14, 44)
    over_size(picture, axes, lines, y_text, group)
    picture.legend(axes, min(len(lines), columns), 20, handlelength=1.8, columnspacing=1.2)
    picture.heading(12, 11, title)
    picture.alt = f"{alt}, {title_of(group)}: " + "; ".join(
        f"{label} from {y_text(points[0][1])} to {y_text(points[-1][1])}" for label, points, _ in lines) + "."
    return picture


def speed(group: list[Case]) -> Picture:
    """The rate over the bytes of cases that differ in size."""
    sizes = size_of(group)
    libraries = ["heddle", *dict.fromkeys(row.library for case in group for row in case.peers)]
    lines: Lines = []
    unit = "FLOP/s" if any(row.by_operations for case in group for row in case.rows) else "B/s"
    work = (lambda row: row.operations) if unit == "FLOP/s" else (lambda row: row.bytes)
    for library in libraries:
        rows = [(case, best_of(case, library)) for case in group]
        points = [(sizes[case], work(row) / row.us * 1e6) for case, row in rows if row and work(row)]
        if points:
            lines.append((library, points, style_of(library)))
    limits = [(sizes[case], work(case.plain) / case.plain.limit.us * 1e6) for case in group
              if case.plain and case.plain.limit and work(case.plain)]
    if limits:
        lines.append(("limit", limits, {"color": LIGHT["limit"], "linestyle": (0, (4, 2)), "linewidth": 1.2}))
    return sized_picture(group, lines, 74, 3, lambda value: compact(value, unit), title_of(group), "Speed over size")


def compact(value: float, unit: str) -> str:
    value, prefixes = rounded(value), {1e15: "P", 1e12: "T", 1e9: "G"}
    factor = next((factor for factor in prefixes if value >= factor), 1e6)
    prefix = prefixes.get(factor, "M")
    return f"{value / factor:.3g} {prefix}{unit}"


def time_text(us: float) -> str:
    units = ((1e6, "s"), (1e3, "ms"))
    factor, unit = next(((factor, unit) for factor, unit in units if rounded(us) >= factor), (1, "us"))
    return f"{us / factor:.3g} {unit}"


def with_transfers(record: Record, case: Case) -> float | None:
    transfers = record.transfer_us(case.plain) if case.plain else None
    return None if transfers is None else transfers + case.plain.us


def marks_of(record: Record, case: Case) -> list[tuple[str, float, dict]]:
    """Times on the CPU and on the GPU: label, us and style."""
    marks = [("heddle on the GPU", case.plain.us, style_of("heddle"))] if case.plain else []
    if total := with_transfers(record, case):
        marks.append(("with transfers", total, style_of("heddle") | {"markerfacecolor": LIGHT["paper"]}))
    return marks + [("heddle on the CPU" if library == "host" else library, best_of(case, library).us, style_of(library))
                    for library in dict.fromkeys(row.library for row in case.rows if row.on_cpu)]


def cpu_and_gpu(record: Record, group: list[Case]) -> Picture:
    """Times over the bytes of cases that differ in size."""
    sizes = size_of(group)
    lines: dict[str, tuple[str, list[tuple[float, float]], dict]] = {}
    for case in group:
        for label, us, style in marks_of(record, case):
            dashed = {"linestyle": (0, (4, 2))} if label == "with transfers" else {}
            lines.setdefault(label, (label, [], style | dashed))[1].append((sizes[case], us))
    return sized_picture(group, list(lines.values()), 66, 2, time_text, f"{title_of(group)}: time",
                         "Time on the CPU and on the GPU")


def cpu_dots(record: Record, cases: list[Case]) -> Picture:
    """Times of cases that have no others of their kind: a line each."""
    step = 24
    rows_of = [(f"{case.operation} {case.label}", marks_of(record, case)) for case in cases]
    labels = list(dict.fromkeys(label for _, marks in rows_of for label, _, _ in marks))
    above = 14 + 17 * math.ceil(len(labels) / 2)
    picture = Picture(WIDTH, above + 2 * step * len(rows_of) * 0.9 + 48)
    axes = picture.axes(20, above + 6, 20, 44)
    values = [us for _, marks in rows_of for _, us, _ in marks]
    axes.set_xscale("log")
    axes.set_xlim(min(values) / 1.4, max(values) * 1.4)
    axes.set_ylim(len(rows_of) - 0.4, -0.75)
    seen = set()
    for index, (name, marks) in enumerate(rows_of):
        axes.plot([min(us for _, us, _ in marks), max(us for _, us, _ in marks)], [index, index], color=LIGHT["grid"],
                  linewidth=2, zorder=1)
        axes.text(0, index - 0.32, name, transform=axes.get_yaxis_transform(), fontsize=11, va="bottom")
        for label, us, style in marks:
            style = style | {"linestyle": "none", "markersize": 7}
            dot, = axes.plot([us], [index], label=None if label in seen else label, **style)
            seen.add(label)
            picture.titled(dot, f"{name}: {label} {time_text(us)}")
    ticks = decades(min(values), max(values))
    set_ticks(axes.xaxis, ticks[::max(1, len(ticks) // 5)], time_text)
    axes.xaxis.grid(True)
    axes.set_yticks([])
    axes.set_xlabel("time of a call (log scale)")
    picture.legend(axes, 2, 4, handlelength=1.2)
    picture.alt = "Times on the CPU and on the GPU. " + "; ".join(
        f"{name}: " + ", ".join(f"{label} {time_text(us)}" for label, us, _ in marks) for name, marks in rows_of) + "."
    return picture


# --- the roofline ---

def roof_axes(axes: "matplotlib.axes.Axes", low: float, high: float, bottom: float, top: float, memory: float | None,
              units: dict[str, float], flops: str = "FLOP/s") -> None:
    """Operations a second over operations a byte, both logarithmic, under these roofs."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(bottom, top)
    draw_roofs(axes, memory, units, flops)
    ticks = decades(low, high)
    if len(ticks) <= 3:
        ticks = [multiple * tick for tick in ticks for multiple in (1, 2, 5)]
    set_ticks(axes.xaxis, ticks, "{:g}".format)
    set_ticks(axes.yaxis, decades(bottom, top), lambda value: compact(value, flops))
    axes.grid(True)


def draw_roofs(axes: "matplotlib.axes.Axes", memory: float | None, units: dict[str, float], flops: str) -> None:
    """Each with its label: memory's along it, the units' to the right, where none lies on another."""
    (low, high), (bottom, top), (width, height) = axes.get_xlim(), axes.get_ylim(), axes.bbox.size
    line = {"color": LIGHT["limit"], "linewidth": 1.4, "zorder": 1}
    small = {"color": LIGHT["muted"], "fontsize": 11}
    if memory:
        knee = min(max(units.values(), default=top) / memory, high)
        axes.plot([low, knee], [low * memory, knee * memory], **line)
        start = max(low * (high / low) ** (18 / width), bottom / memory * 1.3)
        angle = math.degrees(math.atan2(height / math.log(top / bottom), width / math.log(high / low)))
        axes.text(start, start * memory * 1.25, f"memory {as_rate(memory, 'B/s')}", rotation=angle,
                  rotation_mode="anchor", **small)
    label_at = math.inf
    for unit, rate in sorted(units.items(), key=lambda item: -item[1]):
        axes.plot([min(rate / memory, high) if memory else low, high], [rate, rate], **line)
        label_at = min(rate, label_at / (top / bottom) ** (15 / height))
        axes.text(1 + 5 / width, label_at, f"{UNITS.get(unit, unit).removesuffix(' cores')} {as_rate(rate, flops)}",
                  transform=axes.get_yaxis_transform(), va="center", **small)


def roofline(record: Record, cases: list[Case], width: float = 660) -> Picture | None:
    """Operations a second over operations a byte, of all rows on the GPU that have both."""
    rows = [(case, row) for case in cases for row in case.rows
            if row.operations and row.bytes and not row.on_cpu and row.library not in NOT_PEERS]
    memory = record.ceiling("dram_copy")
    if not rows or memory is None:
        return None
    narrow = width < 500
    flops = "" if narrow else "FLOP/s"
    picture = Picture(width, 400)
    axes = picture.axes(50 if narrow else 84, 64, 114 if narrow else 160, 46)
    intensities = [row.operations / row.bytes for _, row in rows]
    rates = [row.operations / row.us * 1e6 for _, row in rows]
    roofs = {unit: rate for unit in UNITS if (rate := record.ceiling(unit))}
    top = max([*roofs.values(), *rates]) * 1.8
    bottom = max(min(rates), top / 1e6) / 1.8
    peak = max(roofs.values(), default=top)
    low, high = min(*intensities, peak / memory / 20) / 2, max(*intensities, peak / memory) * 2
    roof_axes(axes, low, high, bottom, top, memory, roofs, flops)
    seen = set()
    for (case, row), x, y in sorted(zip(rows, intensities, rates), key=lambda item: item[0][1].plain):
        label = "heddle" if row.plain else "heddle's rungs" if row.library == "heddle" else row.library
        style = {"linestyle": "none", "marker": MARKERS.get(row.library, "h"), "color": colour(row), "markersize": 5}
        if row.library != "heddle":
            style["markerfacecolor"] = "none"
        if row.beyond_limit:
            style["color"] = LIGHT["bug"]
        if y < bottom:
            y, style["marker"] = bottom * 1.05, "v"
        dot, = axes.plot([x], [y], label=None if label in seen else label, **style)
        seen.add(label)
        picture.titled(dot, f"{case.operation} {case.label}: {described(case, row)}, {x:.3g} operations a byte")
    axes.set_xlabel("operations a byte of its operands (log scale)")
    if narrow:
        axes.text(1 + 5 / axes.bbox.width, 1, "FLOP/s", transform=axes.transAxes, va="bottom", fontsize=11,
                  color=LIGHT["muted"])
    picture.legend(axes, 3 if narrow else 5, 2, handlelength=1, columnspacing=1.2)
    best = max(zip(rates, rows), key=lambda item: item[0])
    picture.alt = (f"Roofline: {len(rows)} rows under memory's {as_rate(memory, 'B/s')}"
                   + "".join(f", {UNITS.get(unit, unit)}' {as_rate(rate, 'FLOP/s')}" for unit, rate in roofs.items())
                   + f". The fastest, {best[1][1].name}, reaches {as_rate(best[0], 'FLOP/s')}.")
    return picture


# --- pictures for pages of Markdown ---

def with_ladder(cases: list[Case]) -> list[Case]:
    """For each operation and type the case with the most rungs, of those the largest. The longest ladder comes first."""
    having = [case for case in cases if len(case.rungs) >= 2]
    ranked = sorted(having, key=lambda case: (case.hot, -len(case.rungs), -(case.bytes or 0)))
    first: dict[tuple[str, str], Case] = {}
    for case in ranked:
        first.setdefault((case.operation, case.type), case)
    return list(first.values())


def leading(cases: list[Case]) -> list[Case]:
    """Each operation's first ladder, and others while there are few."""
    ranked = with_ladder(cases)
    first = {case.operation: case for case in reversed(ranked)}
    return sorted(ranked, key=lambda case: case is not first[case.operation])[:max(LADDERS_A_FILE, len(first))]


def files(records: list[Record]) -> dict[str, Picture]:
    """By the files' names: the overview of all records, and each family's ladder."""
    result = {}
    families = dict(families_of(records))
    if any(case.ratio for cases in families.values() for case in cases):
        source = records[0].provenance if len(records) == 1 else "; ".join(record.source for record in records)
        result["overview.svg"] = ratios(families, 860, heading="heddle beside the best peer, case by case", caption=source)
    for family, cases in families_of(records, with_ladder):
        result[f"ladder-{family}.svg"] = ladder(leading(cases), sourced=True)
    return result

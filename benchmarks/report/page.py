"""The page of a record: one HTML file that needs no other."""

from __future__ import annotations

import html
import statistics
import typing

import pictures
from pictures import DARK, FONT, LIGHT
from record import (UNITS, Case, Record, Row, as_bytes, as_rate, as_share, as_time, geometric_mean, grouped)

OPEN_LADDERS = 6  # of a family; the others fold
NAMES = {"matrix_reduce": "reductions of rows and columns", "reduce": "reductions of a vector", "norm": "norms",
         "image_filter": "fixed filters", "separable_filter": "blurs, boxes and convolutions", "call": "a call's cost on the host"}


def variables(colours: dict[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours.items())


STYLE = f"""
:root {{ color-scheme: light dark; {variables(LIGHT)} --panel: #f3f5f7; }}
@media (prefers-color-scheme: dark) {{ :root {{ {variables(DARK)} --panel: #1c2128; }} }}
* {{ box-sizing: border-box; }}
html {{ scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }}
body {{ margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 {FONT}; }}
main, header, nav {{ max-width: 1400px; margin: 0 auto; padding: 0 24px; }}
h1 {{ font-size: 1.75rem; line-height: 1.2; margin: 28px 0 6px; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.35rem; margin: 44px 0 4px; padding-top: 14px; border-top: 1px solid var(--grid); }}
h3 {{ font-size: 1rem; margin: 24px 0 4px; }}
p {{ margin: 4px 0 10px; max-width: 76ch; }}
.muted, figcaption, .caption {{ color: var(--muted); font-size: .875rem; }}
.skip {{ position: absolute; left: -999px; }}
.skip:focus {{ left: 16px; top: 8px; background: var(--paper); padding: 6px 10px; z-index: 1; }}
a {{ color: var(--heddle); }}
a:focus-visible, summary:focus-visible, .scroll:focus-visible {{ outline: 2px solid var(--heddle); outline-offset: 2px; }}
nav ul {{ list-style: none; display: flex; flex-wrap: wrap; gap: 6px; margin: 16px 0; padding: 0; }}
nav a {{ display: block; padding: 3px 10px; border-radius: 6px; background: var(--panel); text-decoration: none;
  font-size: .9rem; }}
nav a:hover {{ text-decoration: underline; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 16px 0; }}
.tiles div {{ background: var(--panel); border-radius: 8px; padding: 10px 14px; font-size: .875rem; color: var(--muted);
  overflow-wrap: anywhere; }}
.tiles b {{ display: block; font-size: 1.6rem; line-height: 1.25; color: var(--ink); font-variant-numeric: tabular-nums; }}
.grid {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 370px), 1fr)); gap: 20px 28px;
  align-items: start; }}
figure {{ margin: 8px 0; min-width: 0; }}
figure svg {{ display: block; width: 100%; height: auto; }}
.panel svg {{ max-width: {pictures.WIDTH + 30}px; }}
figure.strip svg {{ max-width: 760px; }}
.narrow {{ display: none; }}
.narrow svg {{ max-width: 560px; }}
@media (max-width: 860px) {{
  main, header, nav {{ padding: 0 14px; }}
  .wide {{ display: none; }}
  .narrow {{ display: block; }}
}}
details {{ margin: 10px 0; }}
summary {{ cursor: pointer; color: var(--heddle); width: fit-content; }}
.scroll {{ overflow-x: auto; margin: 8px 0; }}
table {{ border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }}
th {{ text-align: left; color: var(--muted); font-weight: 600; }}
th, td {{ padding: 3px 12px 3px 0; border-bottom: 1px solid var(--grid); white-space: nowrap; }}
td.number, th.number {{ text-align: right; }}
.facts td {{ white-space: normal; overflow-wrap: anywhere; }}
.facts td:first-child {{ min-width: 7em; vertical-align: top; }}
@media (max-width: 860px) {{
  .scroll table {{ font-size: .78rem; }}
  .scroll th, .scroll td {{ padding-right: 8px; }}
  .scroll td:not(.number) {{ white-space: normal; overflow-wrap: anywhere; min-width: 7.5em; }}
  .scroll tr > :first-child {{ position: sticky; left: 0; background: var(--paper); }}
}}
.bug {{ color: var(--bug); }}
.ours td {{ font-weight: 600; }}
.findings ul {{ font-size: .9rem; padding-left: 20px; }}
.findings li {{ overflow-wrap: anywhere; }}
footer {{ max-width: 1400px; margin: 40px auto; padding: 0 24px; }}
svg text {{ white-space: pre; }}
@media print {{ nav {{ display: none; }} figure {{ break-inside: avoid; }} }}
"""


def escaped(text: object) -> str:
    return html.escape(str(text))


def table(columns: list[tuple[str, bool]], rows: list[list[str]], caption: str, classes: list[str] | None = None) -> str:
    """A table of HTML cells. A column says whether it is of numbers. The box scrolls, also by keys."""
    def cells(tag: str, values: list[str]) -> str:
        return "".join(f"<{tag}{' class=number' if number else ''}>{value}</{tag}>" for value, (_, number) in zip(values, columns))
    body = "".join(f"<tr{f' class={name}' if name else ''}>{cells('td', row)}</tr>"
                   for row, name in zip(rows, classes or [""] * len(rows)))
    return (f'<div class=scroll tabindex=0 role=region aria-label="{escaped(caption)}"><table><thead><tr>'
            f"{cells('th', [name for name, _ in columns])}</tr></thead><tbody>{body}</tbody></table></div>")


def share_of_limit(row: Row) -> str:
    share = as_share(row.share_of_limit)
    return f"<span class=bug>{share} !</span>" if row.beyond_limit else share


def figure(picture: pictures.Picture) -> str:
    return f"<figure class=panel>{picture.inline()}</figure>"


def both_widths(make: typing.Callable[[float], pictures.Picture], kind: str = "") -> str:
    """One of the two shows, by the page's width."""
    return (f'<figure class="wide {kind}">{make(1060).inline()}</figure>'
            f"<figure class=narrow>{make(372).inline()}</figure>")


# --- the parts ---

def anchor(family: str) -> str:
    return "of-" + "".join(letter if letter.isalnum() else "-" for letter in family)


def title(family: str) -> str:
    return f"{escaped(family)}" + (f" <span class=muted>{NAMES[family]}</span>" if family in NAMES else "")


def tiles(record: Record) -> str:
    compared = [case for case in record.cases if case.ratio]
    shares = [case.plain.share_of_limit for case in record.cases if case.plain and case.plain.limit]
    entries = [(f"{len(record.cases)}", f"cases of {len(record.operations)} operations")]
    if compared:
        values = [case.ratio for case in compared]
        worst = min(compared, key=lambda case: case.ratio)
        level = sum(value >= 0.95 for value in values)
        entries += [(f"{geometric_mean(values):.2f}", f"geometric mean of the best peer's time over heddle's, {len(values)} cases"),
                    (f"{100 * level / len(values):.0f}%", f"of them at 0.95 or better: {level} of {len(values)}"),
                    (f"{worst.ratio:.2f}", f"the worst: {escaped(worst.operation)} {escaped(worst.label)}")]
    if shares:
        entries.append((as_share(statistics.median(shares)), "of its measured limit: the median of heddle's plain calls"))
    return "<div class=tiles>" + "".join(f"<div><b>{value}</b>{what}</div>" for value, what in entries) + "</div>"


def overview(record: Record) -> str:
    parts = ["<section id=overview><h2>Overview</h2>",
             "<p>heddle's plain call beside the best of the peers on the GPU that the run had, case by case. 1 is level; to the "
             "right heddle is faster. The bar across a row is its geometric mean. A ring is a hot case; a triangle "
             "lies beyond the scale.</p>", tiles(record)]
    if any(case.ratio for case in record.cases):
        parts.append(both_widths(lambda width: pictures.ratios(record.families, width)))
        columns = [("case", False), ("heddle", True), ("best peer", False), ("its time", True), ("ratio", True), ("of limit", True)]
        rows = [[f"{escaped(case.operation)} {escaped(case.label)}", as_time(case.plain.us), escaped(case.vendor.implementation),
                 as_time(case.vendor.us), f"{case.ratio:.2f}", share_of_limit(case.plain)]
                for case in sorted((case for case in record.cases if case.ratio), key=lambda case: case.ratio)]
        parts.append(f"<details><summary>All ratios ({len(rows)}), the worst first</summary>"
                     f"{table(columns, rows, 'All ratios')}</details>")
    else:
        parts.append("<p>The run had no peers on the GPU.</p>")
    return "".join(parts) + "</section>"


def findings(record: Record) -> str:
    parts = []
    if beyond := sorted(record.beyond_limits, key=lambda row: -row.share_of_limit):
        items = "".join(f"<li><span class=bug>{escaped(row.name)}</span>: {as_time(row.us)}, {as_share(row.share_of_limit)} of its "
                        f"limit, {as_time(row.limit.us)} by {escaped(UNITS.get(row.limit.ceiling, row.limit.ceiling))}</li>"
                        for row in beyond)
        count = "1 row is" if len(beyond) == 1 else f"{len(beyond)} rows are"
        parts.append(f"<h3>{count} more than 5% faster than the limit</h3><p>Either a row counts work that it "
                     f"does not do, or the ceiling is too low: not to be trusted.</p><ul>{items}</ul>")
    if failed := record.failed:
        by_reason: dict[str, list[str]] = {}
        for row in failed:
            by_reason.setdefault(row.error, []).append(row.name)
        items = "".join(f"<li>{', '.join(escaped(name) for name in names)}: <span class=muted>{escaped(reason)}</span></li>"
                        for reason, names in by_reason.items())
        count = "1 row has" if len(failed) == 1 else f"{len(failed)} rows have"
        parts.append(f"<details><summary>{count} no time</summary><ul>{items}</ul></details>")
    if not parts:
        return ""
    return f"<section id=findings class=findings><h2>What to look at</h2>{''.join(parts)}</section>"


def sentence(cases: list[Case]) -> str:
    """What a family's section begins with."""
    compared = [case for case in cases if case.ratio]
    peers = ", ".join(dict.fromkeys(row.library for case in cases for row in case.peers))
    count = f"{len(cases)} case{'s' if len(cases) != 1 else ''}"
    calls = [(case.plain.us, row.us) for case in cases if case.plain for row in case.rows if row.library == "launch"]
    if calls:
        return (f"{count}: the time in which a call returns to the host, at most "
                f"{max(ours - launch for ours, launch in calls):.2f} us more than the bare launch.")
    if not compared:
        return f"{count}; no peer on the GPU computes the same."
    worst = min(compared, key=lambda case: case.ratio)
    return (f"{count}, {len(compared)} beside {escaped(peers)}: geometric mean "
            f"{geometric_mean([case.ratio for case in compared]):.2f}, worst {worst.ratio:.2f} "
            f"({escaped(worst.operation)} {escaped(worst.label)}).")


def all_rows(family: str, cases: list[Case]) -> str:
    columns = [("case", False), ("implementation", False), ("time", True), ("\N{PLUS-MINUS SIGN}", True), ("rate", True),
               ("of vendor", True), ("of limit", True), ("limit", False)]
    rows, classes = [], []
    for case in cases:
        for row in sorted(case.rows, key=lambda row: -row.us):
            vendor = case.vendor
            rows.append([f"{escaped(case.operation)} {escaped(case.label)}", escaped(row.implementation), as_time(row.us),
                         f"{100 * row.spread:.1f}%", as_rate(*row.rate) if row.rate else "",
                         as_share(vendor.us / row.us) if vendor and row is not vendor else "",
                         share_of_limit(row),
                         escaped(UNITS.get(row.limit.ceiling, row.limit.ceiling)) if row.limit else ""])
            classes.append("ours" if row.plain else "")
    return (f"<details><summary>All rows ({len(rows)})</summary>"
            f"{table(columns, rows, f'All rows of {family}', classes)}</details>")


def section(record: Record, family: str, cases: list[Case]) -> str:
    parts = [f"<section id={anchor(family)}><h2>{title(family)}</h2><p>{sentence(cases)}</p>"]
    groups = grouped(cases, lambda case: f"{case.operation} {case.type}")
    if len(groups) > 1 and any(case.ratio for case in cases):
        parts.append(both_widths(lambda width: pictures.ratios(groups, min(width, 700), step=21), "strip"))

    shown = pictures.with_ladder(cases)[:OPEN_LADDERS]
    others = [case for case in cases if len(case.rungs) >= 2 and case not in shown]
    if shown:
        dotted = " A dotted line is the limit of the FFMA units, for rungs without tensor cores."
        with_ffma = any(pictures.ffma_us(case) for case in [*shown, *others])
        parts.append("<h3>The ladder</h3><p class=muted>Slowest first. A bar is the share of the limit that this run measured; "
                     "beside it the time, and the best peer's time over it. The dashed line is the best peer."
                     f"{dotted if with_ffma else ''}</p>"
                     f"<div class=grid>{''.join(figure(pictures.ladder([case])) for case in shown)}</div>")
    if others:
        parts.append(f"<details><summary>{len(others)} more ladder{'s' if len(others) > 1 else ''}</summary><div class=grid>"
                     f"{''.join(figure(pictures.ladder([case])) for case in others)}</div></details>")

    if speeds := pictures.sized([case for case in cases if case.plain and case.plain.rate]):
        parts.append("<h3>Speed over size</h3><div class=grid>"
                     + "".join(figure(pictures.speed(group)) for group in speeds) + "</div>")

    if on_both := [case for case in cases if case.plain and any(row.on_cpu for row in case.rows)]:
        lines = pictures.sized(on_both, least=2)
        single = [case for case in on_both if not any(case in group for group in lines)]
        cpu = escaped(record.content.get("cpu") or "an unnamed CPU")
        pinned = any(pictures.with_transfers(record, case) for case in on_both)
        parts.append(f"<h3>CPU and GPU</h3><p class=muted>On all cores of {cpu}, from its warm caches, and on the GPU"
                     + (", without transfers and with those of operands and results from and to pinned memory, one after the "
                        "other" if pinned else "; the run measured no transfers") + ".</p><div class=grid>"
                     + "".join(figure(pictures.cpu_and_gpu(record, group)) for group in lines)
                     + (figure(pictures.cpu_dots(record, single)) if single else "") + "</div>")

    if pictures.roofline(record, cases):
        draw = lambda width: pictures.roofline(record, cases, min(width, 660))
        parts.append(f"<h3>Roofline</h3>{both_widths(draw, 'strip')}")
    parts.append(all_rows(family, cases))
    return "".join(parts) + "</section>"


def watched(record: Record) -> str:
    kinds = (("sm_mhz", "SM clock", "MHz"), ("memory_mhz", "memory clock", "MHz"), ("power_w", "power", "W"),
             ("temperature_c", "temperature", "\N{DEGREE SIGN}C"))
    watch = record.content.get("watched") or {}
    said = [f"{name} {watch[key][0]:.0f} to {watch[key][2]:.0f} {unit}, median {watch[key][1]:.0f}"
            for key, name, unit in kinds if isinstance(watch.get(key), list) and len(watch[key]) == 3]
    if watch.get("throttled"):
        said.append("clocks held back by " + ", ".join(escaped(reason) for reason in watch["throttled"]))
    return "; ".join(said) or "not watched: the run had no NVML"


def method(record: Record) -> str:
    content = record.content
    peers = ", ".join(f"{name} {version}" for name, version in (content.get("peers") or {}).items())
    seconds = content.get("seconds")
    facts = [("GPU", escaped(record.gpu)), ("CPU", escaped(content.get("cpu") or "unknown")),
             ("commit", escaped(content.get("commit") or "unknown")),
             ("digest of the sources", escaped(content.get("sources_sha256") or "unknown")),
             ("driver, CUDA", escaped(f"{content.get('driver') or 'unknown'}, {content.get('cuda') or 'unknown'}")),
             ("peers", escaped(peers or "none")),
             ("date", escaped(content["date"]) + (f", {seconds:.0f} s" if isinstance(seconds, (int, float)) else "")),
             ("while it ran", watched(record))]
    ceilings = []
    for entry in content["ceilings"]:
        value = as_rate(entry["per_second"], entry.get("unit", "B/s")) if "per_second" in entry else as_time(entry["us"]) \
            if "us" in entry else ""
        ceilings.append([escaped(entry["name"]), as_bytes(entry["bytes"]) if entry.get("bytes") else "",
                         "hot" if entry.get("hot") else "", escaped(value)])
    libraries = {row.library for row in record.rows}
    elsewhere = " Those of PyTorch were taken in another process, interleaved with each other alone." if "pytorch" in libraries else ""
    on_cpu = " Rows on the CPU run from the caches that their operands fit in." if any(row.on_cpu for row in record.rows) else ""
    run = table([("", False), ("", False)], [list(fact) for fact in facts], "Of which run")
    return ("<section id=method><h2>How it was measured</h2><p>Times are medians of "
            f"{record.repetitions} repetitions on random data, interleaved at random; "
            f"\N{PLUS-MINUS SIGN} is half their range over the median.{elsewhere} Cold on the GPU, unless a case says hot: the operands "
            f"are not in L2 when a call begins.{on_cpu} Bytes count each element once, operations are those of the cheapest algorithm. A limit is the larger "
            "of the times that the memory and the arithmetic units need at the rates that this run measured on this GPU.</p>"
            f"<div class=facts>{run}</div>"
            f"<details><summary>{len(ceilings)} ceilings that this run measured</summary>"
            f"{table([('ceiling', False), ('footprint', True), ('', False), ('rate', True)], ceilings, 'Ceilings')}"
            "</details></section>")


def page(record: Record) -> str:
    sections = [("overview", "overview", overview(record))]
    if found := findings(record):
        sections.append(("findings", "what to look at", found))
    sections += [(anchor(family), family, section(record, family, cases)) for family, cases in record.families.items()]
    sections.append(("method", "how it was measured", method(record)))
    links = "".join(f'<li><a href="#{name}">{escaped(text)}</a></li>' for name, text, _ in sections)
    incomplete = "" if record.complete else ("<p class=bug>The run was stopped: this is a part of the rows.</p>")
    return (f'<!doctype html><html lang=en><head><meta charset=utf-8>'
            f'<meta name=viewport content="width=device-width,initial-scale=1">'
            f"<title>heddle on {escaped(record.gpu)}</title><style>{STYLE}</style></head><body>"
            f"<a class=skip href=#overview>To the overview</a>"
            f"<header><h1>heddle on {escaped(record.gpu)}</h1><p class=muted>{escaped(record.provenance)}; medians of "
            f"{record.repetitions} repetitions</p>{incomplete}</header>"
            f"<nav aria-label=Sections><ul>{links}</ul></nav><main>{''.join(text for _, _, text in sections)}</main>"
            f"<footer class=muted>{escaped(record.provenance)}</footer></body></html>\n")

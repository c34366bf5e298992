"""Reads a record of schema 1, which `heddle-bench run` writes, and knows the arithmetic of its rows.

A row is an operation of a type and a shape, computed by a library, or by a rung of heddle's, cold or hot. Beside what
`run` always writes, a row of the headline has `processes`, the us of each repetition, a list per process, and may name
its `peer`.
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import json
import math
import pathlib
import re
import statistics
import typing

SCHEMA = 1
ON_CPU = {"host", "openblas", "opencv"}
APART = {"pytorch"}  # timed in a second process
NOT_PEERS = {"copy", "launch", "cuda", "cublaslt_products"}  # they do a part of the work, and stand beside a row for that
BEYOND = 0.95  # of a limit's time: what takes less is a bug of the row or of the ceiling
# The folders of kernels/, and the operations of each that are not called as it is.
FAMILIES = {
    "elementwise": r"add|subtract|multiply|scale|axpy|fused_multiply_add|clamp|abs|exp|(sigmoid|tanh|relu|gelu|gelu_tanh|silu)"
                   r"(_derivative)?",
    "reduce": r"sum|mean|min|max|argmin|argmax|dot|norm1|norm2|count_nonzero",
    "matrix_reduce": r"(row|column)_\w+",
    "softmax": r"log_softmax|(log_)?softmax_gradient",
    "norm": r"(layer|rms)_norm\w*",
    "loss": r"cross_entropy|mean_squared_error|label_hits",
    "scan": r"(in|ex)clusive_scan",
    "linear": r"linear_gradient",
    "matmul": r"batched_matmul|linear_(?!gradient)\w+",
    "optimizer": r"sgd|adamw(_mixed)?|gradient_norm",
    "pool": r"(global_)?(max|average)_pool",
    "random": r"random_\w+|dropout",
    "image_filter": r"sobel_\w+|laplacian",
    "separable_filter": r"gaussian_blur|box_blur|separable_convolution",
}
# What an overview tells apart, as its name would hide that one kind is far from another: by operation and label.
KINDS = {
    "conv, depthwise": r"conv \w+ (\d+x){3}(\d+)-.*-g\2( hot)?",
    "conv, grouped": r"conv .*-g\d+( hot)?",
    "conv, dense float": r"conv f32 .*",
    "conv, dense TF32": r"conv tf32 .*",
    "conv, dense 16-bit": r"conv .*",
    "matmul, batched": r"batched_matmul .*",
    "matmul, float": r"matmul f32 .*",
    "matmul, TF32 and 16-bit": r"(matmul|linear_(?!gradient)\w+) .*",
    "histogram, up to 256 bins": r"histogram \w+ \d+x\d{1,3}(-equal)?( hot)?",
    "histogram, more bins": r"histogram .*",
    "transpose, of 4 and 8 bytes": r"transpose \w(32|64) .*",
    "transpose, of 1 and 2 bytes": r"transpose .*",
    "image_filter, float": r"(sobel_\w+|laplacian) f32.*",
    "image_filter, bytes": r"(sobel_\w+|laplacian) u8.*",
    "separable_filter, radius 1 and 2": r"(gaussian_blur|box_blur|separable_convolution) .*-r[12]( hot)?",
    "separable_filter, wider": r"(gaussian_blur|box_blur|separable_convolution) .*",
}
UNITS = {"ffma": "FFMA", "fp64": "FP64", "tensor_tf32": "TF32 tensor cores", "tensor_f16": "FP16 tensor cores",
         "tensor_bf16": "BF16 tensor cores", "memory": "memory"}


class BadRecord(Exception):
    """In one line."""


@dataclasses.dataclass(frozen=True)
class Limit:
    ceiling: str | None  # memory, or a unit
    us: float


@dataclasses.dataclass(frozen=True)
class Row:
    operation: str
    type: str
    shape: str
    library: str
    rung: str | None
    hot: bool
    us: float  # 0 where it has an error
    spread: float
    repetitions: int
    limit: Limit | None
    bytes: float | None
    bytes_written: float | None
    operations: float | None
    processes: tuple[tuple[float, ...], ...]  # us of each repetition
    peer: str | None  # a row's name
    error: str | None

    @property
    def case(self) -> tuple[str, str, str, bool]:
        return self.operation, self.type, self.shape, self.hot

    @property
    def implementation(self) -> str:
        return f"{self.library}:{self.rung}" if self.rung else self.library

    @property
    def name(self) -> str:
        return "/".join([self.operation, self.type, self.shape, self.implementation] + ["hot"] * self.hot)

    @property
    def on_cpu(self) -> bool:
        return self.library in ON_CPU

    @property
    def plain(self) -> bool:
        return self.library == "heddle" and self.rung is None

    @property
    def share_of_limit(self) -> float | None:
        return self.limit.us / self.us if self.limit else None

    @property
    def beyond_limit(self) -> bool:
        return self.limit is not None and self.us < BEYOND * self.limit.us

    @property
    def by_operations(self) -> bool:
        """Whether its speed is told in operations, not in bytes: by the kind of work, whatever limits this size."""
        return bool(self.operations)

    @property
    def rate(self) -> tuple[float, str] | None:
        work, unit = (self.operations, "FLOP/s") if self.by_operations else (self.bytes, "B/s")
        return (work / self.us * 1e6, unit) if work else None


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """The rows that do the same work."""
    operation: str
    type: str
    shape: str
    hot: bool
    rows: list[Row]  # that have a time
    record: Record

    @property
    def label(self) -> str:
        return " ".join([self.type, self.shape] + ["hot"] * self.hot)

    @property
    def plain(self) -> Row | None:
        return next((row for row in self.rows if row.plain), None)

    @property
    def rungs(self) -> list[Row]:
        return [row for row in self.rows if row.library == "heddle" and row.rung]

    @property
    def peers(self) -> list[Row]:
        """The best row of each library on the GPU that computes the same."""
        best: dict[str, Row] = {}
        for row in self.rows:
            if row.library != "heddle" and row.library not in NOT_PEERS and not row.on_cpu:
                if row.library not in best or row.us < best[row.library].us:
                    best[row.library] = row
        return sorted(best.values(), key=lambda row: row.us)

    @property
    def vendor(self) -> Row | None:
        """The best peer."""
        return next(iter(self.peers), None)

    @property
    def ratio(self) -> float | None:
        """The best peer's time over that of heddle's plain call: above 1 where heddle is faster."""
        plain, vendor = self.plain, self.vendor
        return vendor.us / plain.us if plain and vendor else None

    @property
    def extents(self) -> list[int]:
        return extents_of(self.shape)[0]

    @property
    def bytes(self) -> float | None:
        return next((row.bytes for row in self.rows if row.bytes), None)


def extents_of(shape: str) -> tuple[list[int], str]:
    """The numbers that a shape begins with, and the rest: 4096x4096-r5 is ([4096, 4096], "-r5")."""
    match = re.match(r"\d+(x\d+)*", shape)
    return ([int(part) for part in match[0].split("x")], shape[match.end():]) if match else ([], shape)


def family_of(operation: str) -> str:
    return next((family for family, names in FAMILIES.items() if re.fullmatch(names, operation)), operation)


def kind_of(case: Case) -> str:
    """Its kind, where its family has several, and else its family."""
    of = f"{case.operation} {case.label}"
    return next((kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, of)), family_of(case.operation))


def grouped(cases: typing.Iterable[Case], key: typing.Callable[[Case], str]) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(key(case), []).append(case)
    return found


def geometric_mean(values: typing.Sequence[float]) -> float:
    return math.exp(statistics.fmean(math.log(value) for value in values))


def interpolated(points: list[tuple[float, float]], at: float) -> float:
    """The y of sorted positive (x, y), straight between logarithms of both; beyond the ends y is in proportion to x."""
    index = bisect.bisect_left([x for x, _ in points], at)
    if index == 0 or index == len(points):
        x, y = points[min(index, len(points) - 1)]
        return y * at / x
    (x0, y0), (x1, y1) = points[index - 1], points[index]
    share = math.log(at / x0) / math.log(x1 / x0)
    return math.exp((1 - share) * math.log(y0) + share * math.log(y1))


@dataclasses.dataclass(frozen=True)
class Record:
    file: str
    content: dict
    rows: list[Row]

    @property
    def gpu(self) -> str:
        return self.content["gpu"]["name"]

    @property
    def complete(self) -> bool:
        return self.content["complete"]

    @property
    def commit(self) -> str:
        """Short."""
        commit, dirty, _ = str(self.content.get("commit") or "").partition("-dirty")
        if commit and commit != "unknown":
            return commit[:10] + (" with changes" if dirty else "")
        digest = self.content.get("sources_sha256")
        return f"unknown (sources {digest[:10]})" if digest else "unknown"

    @property
    def provenance(self) -> str:
        """What a caption says of it."""
        return ", ".join([self.gpu, f"commit {self.commit}", f"driver {self.content.get('driver') or 'unknown'}",
                          f"CUDA {self.content.get('cuda') or 'unknown'}", self.content["date"][:10]]
                         + ([] if self.complete else ["an incomplete run"]))

    @property
    def source(self) -> str:
        """The same in short, for a table."""
        return ", ".join([self.gpu, f"commit {self.commit}"] + ([] if self.complete else ["an incomplete run"]))

    @property
    def repetitions(self) -> int:
        return max((row.repetitions for row in self.rows if not row.error), default=0)

    @functools.cached_property
    def cases(self) -> list[Case]:
        """In the record's order, but sizes of one type ascend."""
        found: dict[tuple, list[Row]] = {}
        for row in self.rows:
            if row.operation != "ceiling":
                found.setdefault(row.case, []).extend([] if row.error else [row])
        cases = [Case(*key, rows, self) for key, rows in found.items() if rows]
        order = {key: index for index, key in enumerate(dict.fromkeys((case.operation, case.type) for case in cases))}
        return sorted(cases, key=lambda case: (order[case.operation, case.type], case.hot, math.prod(case.extents)))

    @property
    def operations(self) -> list[str]:
        return list(dict.fromkeys(case.operation for case in self.cases))

    @property
    def families(self) -> dict[str, list[Case]]:
        return grouped(self.cases, lambda case: family_of(case.operation))

    @property
    def kinds(self) -> dict[str, list[Case]]:
        """The families, or the kinds of those that have several."""
        return grouped([case for cases in self.families.values() for case in cases], kind_of)

    @property
    def failed(self) -> list[Row]:
        return [row for row in self.rows if row.error]

    @property
    def beyond_limits(self) -> list[Row]:
        return [row for row in self.rows if not row.error and row.beyond_limit]

    def ceiling(self, name: str, hot: bool = False, at: float = math.inf) -> float | None:
        """What a ceiling gives in a second at so many bytes; at the greatest footprint without any."""
        entries = [entry for entry in self.content["ceilings"] if entry["name"] == name and "per_second" in entry]
        entries = [entry for entry in entries if bool(entry.get("hot")) == hot] or entries
        if not entries:
            return None
        points = sorted((entry["bytes"], entry["bytes"] / entry["per_second"]) for entry in entries if entry.get("bytes"))
        if not points:
            return entries[0]["per_second"]
        at = min(at, points[-1][0])
        return at / interpolated(points, at)

    def transfer_us(self, row: Row) -> float | None:
        """The time of its operands to the device and of its results to the host, from and to pinned memory."""
        if not row.bytes:
            return None
        written = row.bytes_written or 0.0
        seconds = 0.0
        for name, count in (("pinned_to_device", row.bytes - written), ("pinned_to_host", written)):
            if count:
                rate = self.ceiling(name, at=count)
                if rate is None:
                    return None
                seconds += count / rate
        return 1e6 * seconds


# --- reading ---

def _number(value: object, what: str, least: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < math.inf:
        raise ValueError(f"{what} is {value!r}")
    return float(value)


def _positive(value: object, what: str) -> float:
    return _number(value, what, least=1e-12)


def _text(value: object, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{what} is {value!r}")
    return value


def _optional(check: typing.Callable, value: object, what: str) -> typing.Any:
    return None if value is None else check(value, what)


def row_of(content: dict, repetitions: object = 1) -> Row:
    """A row leaves its repetitions out where they are those that the head names."""
    error = _optional(_text, content.get("error"), "error")
    limit = content.get("limit")
    if limit is not None and limit.get("us") is None:
        limit = None
    return Row(
        *(_text(content.get(key), key) for key in ("operation", "type", "shape", "library")),
        rung=_optional(_text, content.get("rung"), "rung"),
        hot=bool(content.get("hot")),
        us=0.0 if error else _positive(content.get("us"), "us"),
        spread=0.0 if error else _number(content.get("spread", 0.0), "spread"),
        repetitions=0 if error else int(_positive(content.get("repetitions", repetitions), "repetitions")),
        limit=limit and Limit(_optional(_text, limit.get("ceiling"), "limit.ceiling"), _positive(limit["us"], "limit.us")),
        bytes=_optional(_number, content.get("bytes"), "bytes"),
        bytes_written=_optional(_number, content.get("bytes_written"), "bytes_written"),
        operations=_optional(_number, content.get("operations"), "operations"),
        processes=() if error else tuple(tuple(_positive(us, "processes") for us in process)
                                         for process in content.get("processes") or []),
        peer=_optional(_text, content.get("peer"), "peer"),
        error=error)


DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)  # what reading a damaged record raises


def damaged(file: pathlib.Path, place: str, error: Exception) -> BadRecord:
    reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
    return BadRecord(f"{file} is damaged at {place}: {reason}")


def loaded(file: pathlib.Path) -> object:
    """The file's JSON."""
    try:
        text = file.read_text()
    except FileNotFoundError:
        raise BadRecord(f"{file}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecord(f"{file}: {getattr(error, 'strerror', None) or 'is not text'}") from None
    try:
        return json.loads(text)
    except ValueError as error:
        whole = text.strip()
        if whole.startswith("{") and not whole.endswith("}"):
            raise BadRecord(f"{file} is cut off") from None
        raise BadRecord(f"{file} is not JSON: {error}") from None


def check_head(content: dict) -> None:
    """What is not rows."""
    content["gpu"] = content["gpu"] or {"name": "no GPU"}
    _text(content["gpu"]["name"], "gpu.name")
    _text(content["date"], "date")
    _optional(_number, content.get("seconds"), "seconds")
    for key in ("commit", "sources_sha256", "cpu", "driver", "cuda"):
        if not isinstance(content.get(key) or "", str):
            raise ValueError(f"{key} is {content[key]!r}")
    for key in ("peers", "watched"):
        if not isinstance(content.get(key) or {}, dict):
            raise ValueError(f"{key} is {content[key]!r}")
    for key, value in (content.get("watched") or {}).items():
        if not isinstance(value, list) or (key != "throttled" and len(value) != 3):
            raise ValueError(f"watched.{key} is {value!r}")
        for part in value:
            (_text if key == "throttled" else _number)(part, f"watched.{key}")


def check_ceiling(entry: dict) -> None:
    for key in ("per_second", "us"):
        if key in entry:
            _positive(entry[key], key)
    _optional(_number, entry.get("bytes"), "bytes")
    _optional(_text, entry.get("unit"), "unit")


def record_of(content: object, file: pathlib.Path, allow_incomplete: bool = False) -> Record:
    if not isinstance(content, dict) or "schema" not in content:
        raise BadRecord(f"{file} is not a record of heddle-bench run")
    if content["schema"] != SCHEMA:
        raise BadRecord(f"{file} is a record of schema {content['schema']}; this reads schema {SCHEMA}")
    place = "its head"
    try:
        check_head(content)
        for entry in content.setdefault("ceilings", []):
            place = f"ceiling {_text(entry.get('name'), 'name')}"
            check_ceiling(entry)
        rows = []
        for index, row in enumerate(content["rows"]):
            place = f"row {index}"
            rows.append(row_of(row, content.get("repetitions", 1)))
    except DAMAGE as error:
        raise damaged(file, place, error) from None
    if content.setdefault("complete", False) is not True and not allow_incomplete:
        raise BadRecord(f"{file} is incomplete: its run was stopped")
    if not any(row.operation != "ceiling" for row in rows):
        raise BadRecord(f"{file} has no rows")
    names = set()
    for row in rows:
        if row.name in names:
            raise BadRecord(f"{file} is damaged: it has {row.name} twice")
        names.add(row.name)
    return Record(str(file), content, rows)


def read(file: pathlib.Path, allow_incomplete: bool = False) -> Record:
    return record_of(loaded(file), file, allow_incomplete)


# --- numbers as text ---

def rounded(value: float) -> float:
    """To three digits."""
    return float(f"{value:.3g}")


def scaled(value: float, unit: str, least: float, prefixes: dict[float, str]) -> str:
    """Three digits and a prefix of the unit."""
    factor = next((factor for factor in prefixes if rounded(value) >= factor), least)
    number = rounded(value / factor)
    digits = max(0, 3 - len(str(int(number))))
    return f"{number:.{digits}f} {prefixes[factor]}{unit}"


def as_rate(value: float, unit: str) -> str:
    return scaled(value, unit, 1e9, {1e12: "T", 1e9: "G"})


def as_time(us: float) -> str:
    return scaled(us * 1e-6, "s", 1e-6, {1.0: "", 1e-3: "m", 1e-6: "u"})


def as_bytes(count: float) -> str:
    factor, prefix = next(((factor, prefix) for factor, prefix in ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki"))
                           if count >= factor), (1, ""))
    return f"{rounded(count / factor) if count < 999.5 * factor else round(count / factor):g} {prefix}B"


def as_share(share: float | None) -> str:
    """In per cent; from ten on as a multiple."""
    if share is None:
        return ""
    return f"{share:.0f}x" if share >= 9.995 else f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.1f}%"


def families_of(records: list[Record],
                chosen: typing.Callable[[list[Case]], list[Case]] = list) -> list[tuple[str, list[Case]]]:
    """The folders of all records' chosen cases, the longest record's first. Each operation is of one record."""
    found: dict[str, list[Case]] = {}
    seen: set[str] = set()
    for record in sorted(records, key=lambda record: -len(record.cases)):
        cases = chosen(record.cases)
        for case in cases:
            if case.operation not in seen:
                found.setdefault(family_of(case.operation), []).append(case)
        seen.update(case.operation for case in cases)
    return list(found.items())

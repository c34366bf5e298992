"""Turns what Google Benchmark wrote, as records were before schema 1, into schema 1."""

from __future__ import annotations

import re
import statistics

# What Google Benchmark appends to a row's name.
APPENDED = re.compile(r"manual_time|real_time|process_time|(iterations|repeats|min_time|min_warmup_time|threads):.*")
US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
CEILINGS = {"copy": ("dram_copy", "bytes_per_second", "B/s"), "fma": ("ffma", "flops_per_second", "FLOP/s")}
PEERS = ("cub", "cublas", "cudnn", "npp", "openblas", "opencv", "pytorch")
ON_CPU = {"host", "openblas", "opencv"}
# Their arithmetic is the tensor cores', for which those runs measured no ceiling.
ON_TENSOR_CORES = re.compile(r"(matmul|batched_matmul|linear_\w+)/(tf32|f16|bf16)/")


def is_raw(content: object) -> bool:
    return isinstance(content, dict) and "benchmarks" in content and "context" in content


def digits(value: float) -> float:
    return float(f"{value:.5g}")


def name_of(run_name: str) -> tuple[list[str], bool]:
    """<op>, <dtype>, <shape>, <library>[:<algorithm>], and whether it is hot."""
    parts = run_name.split("/")
    while parts and APPENDED.fullmatch(parts[-1]):
        parts.pop()
    hot = parts[-1:] == ["hot"]
    if hot:
        parts.pop()
    if len(parts) != 4:
        raise ValueError(f"'{run_name}' is not <op>/<dtype>/<shape>/<library>[:<algorithm>][/hot]")
    return parts, hot


def converted(content: dict) -> dict:
    context = content["context"]
    runs: dict[str, list[dict]] = {}
    for run in sorted(content["benchmarks"], key=lambda run: run["family_index"]):  # as registered, not as run
        if run["run_type"] == "iteration":
            runs.setdefault(run["run_name"], []).append(run)

    ceilings, rows = [], []
    for name, of_name in runs.items():
        (operation, dtype, shape, implementation), hot = name_of(name)
        good = [run for run in of_name if not run.get("error_occurred") and not run.get("skipped")]
        if operation in CEILINGS:
            ceiling, counter, unit = CEILINGS[operation]
            ceilings.append({"name": ceiling, "hot": False, "unit": unit,
                             "per_second": digits(statistics.median(run[counter] for run in good))})
            continue
        library, _, rung = implementation.partition(":")
        row = {"operation": operation, "type": dtype, "shape": shape, "library": library, "rung": rung or None, "hot": hot}
        if not good:
            rows.append(row | {"error": of_name[0].get("error_message") or "skipped"})
            continue
        times = [run["real_time"] * US[run["time_unit"]] for run in good]
        us = statistics.median(times)
        row |= {"us": digits(us), "spread": digits((max(times) - min(times)) / 2 / us), "repetitions": len(times),
                "calls": statistics.median(run.get("calls", 1) for run in good), "limit": None, "error": None}
        for key, counter in (("bytes", "bytes_per_second"), ("operations", "flops_per_second")):
            row[key] = round(good[0][counter] * times[0] * 1e-6) if counter in good[0] else None
        rows.append(row)

    rate = {ceiling["name"]: ceiling["per_second"] for ceiling in ceilings}
    for row in rows:
        if row.get("error") or row["library"] in ON_CPU:
            continue
        times = []
        if row["bytes"] and "dram_copy" in rate:
            times.append((row["bytes"] / rate["dram_copy"] * 1e6, "memory"))
        if row["operations"]:
            if ON_TENSOR_CORES.match(f"{row['operation']}/{row['type']}/"):
                continue
            if "ffma" in rate:
                times.append((row["operations"] / rate["ffma"] * 1e6, "ffma"))
        if times:
            us, ceiling = max(times)
            row["limit"] = {"ceiling": ceiling, "us": digits(us)}

    return {"schema": 1, "was_raw": True, "commit": "unknown", "sources_sha256": context.get("sources_sha256"),
            "date": context["date"], "complete": True,
            "gpu": {"name": context.get("gpu_name", "no GPU"), "sms": int(context.get("gpu_sm_count", 0)),
                    "l2_bytes": int(context.get("gpu_l2_bytes", 0))},
            "cpu": context.get("cpu"), "driver": context.get("driver"), "cuda": context.get("cuda_runtime"),
            "peers": {name: context[name] for name in PEERS if name in context}, "watched": {}, "ceilings": ceilings,
            "rows": rows}

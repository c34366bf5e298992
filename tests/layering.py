#!/usr/bin/env python3
"""Checks the includes between layers, and the places that launch kernels.

usage: layering.py ROOT         names every include and launch in the tree that its layer may not have; exits 1 if there is one
       layering.py --self-test  plants violations in a small tree and fails unless each is found
"""

import dataclasses
import pathlib
import re
import tempfile

import shared

STANDARD = r"[a-z_0-9]+"  # <vector>, <cstdint>
PUBLIC = r"heddle/.+\.hpp"
PUBLIC_DEVICE = r"heddle/[^/]+\.cuh"
PURE_DEVICE = r"kernels/device/(math|warp)\.hpp"
FMT = r"fmt/.+"
CUDA_RUNTIME = r"cuda_runtime_api\.h|cuda_fp16\.h|cuda_bf16\.h|cuda/stream_ref"
# The headers of the toolkit for device code. No header of cuBLAS, cuDNN, CUB, NPP or Thrust: those are peers.
CUDA_DEVICE = rf"{CUDA_RUNTIME}|cuda\.h|cuda_runtime\.h|cuda_fp8\.h|mma\.h|cooperative_groups.*|cuda/.+"


@dataclasses.dataclass
class Layer:
    files: str  # a pattern of paths; the first layer that fits a file is the file's
    may_include: list[str]


LAYERS = [
    Layer(r"include/heddle/interop/.+", [STANDARD, CUDA_RUNTIME, PUBLIC, r"cuda/std/.+"]),
    # A user's .cu file compiles the kernel: it is installed with the header.
    Layer(r"include/heddle/(?P<op>conv|matmul)\.cuh", [STANDARD, CUDA_RUNTIME, PUBLIC, r"kernels/{op}/.+"]),
    Layer(r"include/heddle/elementwise\.cuh",
          [STANDARD, CUDA_RUNTIME, PUBLIC, r"kernels/device/(launch\.hpp|ptx/(store|sync)\.cuh)"]),
    Layer(r"include/heddle/.+", [STANDARD, CUDA_RUNTIME, r"heddle/[^/]+\.hpp"]),
    Layer(r"kernels/device/ptx/.+", [STANDARD, CUDA_DEVICE, r"kernels/device/ptx/.+"]),
    Layer(r"kernels/device/layout\.hpp", [STANDARD, r"heddle/view\.hpp", PURE_DEVICE]),
    Layer(r"kernels/device/.+", [STANDARD, CUDA_DEVICE, r"heddle/(types|image|error|device)\.hpp", r"kernels/device/.+"]),
    Layer(r"kernels/frame/.+", [STANDARD, CUDA_DEVICE, r"heddle/(types|error|device|matmul)\.hpp", r"kernels/(device|frame)/.+"]),
    Layer(r"kernels/(?P<op>[^/]+)/launch\.hpp", [STANDARD, CUDA_RUNTIME, PUBLIC, r"kernels/{op}/.+\.hpp", r"kernels/(device|frame)/.+\.hpp"]),
    # Plans, their facts, and numbers of the hardware are pure.
    Layer(r"kernels/(?P<op>[^/]+)/((plan|cost|tuning)/.+|(kernels|facts|layout)\.[ch]pp)",
          [STANDARD, PUBLIC, r"kernels/{op}/((plan|cost|tuning)/.+|kernels|facts|layout)\.hpp",
           r"kernels/(device|frame)/.+\.hpp"]),
    Layer(r"kernels/(?P<op>[^/]+)/.+",
          [STANDARD, CUDA_DEVICE, PUBLIC, PUBLIC_DEVICE, r"kernels/(device|frame)/.+", r"kernels/{op}/.+"]),
    Layer(r"src/.+", [STANDARD, CUDA_RUNTIME, r"cuda\.h", r"omp\.h", FMT, PUBLIC, r"src/.+\.hpp",
                      r"kernels/[^/]+/(launch|function_call|kernels|facts)\.hpp", r"kernels/[^/]+/(plan|cost|tuning)/.+\.hpp",
                      r"kernels/device/driver_function\.hpp", PURE_DEVICE]),
    # Tests, benchmarks and examples may include any foreign headers, and of ours only the public ones.
    # Bounds of results are pure: benchmarks that check results share them with the tests.
    Layer(r"tests/bounds/.+", [STANDARD, PUBLIC, r"tests/bounds/.+\.hpp"]),
    Layer(r"tests/fuzz/test_fuzz\.cpp", [PUBLIC, r"tests/.+"]),
    Layer(r"tests/fuzz/.+", [PUBLIC, r"tests/(bounds|fuzz)/.+\.hpp", r"tests/support/mapped_buffer\.hpp"]),
    Layer(r"tests/device/.+", [PUBLIC, r"tests/.+", r"kernels/(device|frame)/.+"]),
    Layer(r"tests/overlap\.cpp", [PUBLIC, r"tests/.+", r"src/overlap\.hpp"]),
    Layer(r"tests/benchmarks/.+", [PUBLIC, r"tests/.+", r"benchmarks/.+\.hpp"]),
    Layer(r"tests/.+", [PUBLIC, PUBLIC_DEVICE, r"tests/.+"]),
    # It plans by its own tables.
    Layer(r"benchmarks/tuning/.+", [PUBLIC, r"benchmarks/tuning/.+", r"src/[^/]+/rungs\.hpp",
                                    r"kernels/[^/]+/((plan|cost)/.+|kernels|facts)\.hpp"]),
    Layer(r"benchmarks/ladders/.+", [PUBLIC, PUBLIC_DEVICE, PURE_DEVICE, r"benchmarks/.+", r"tests/bounds/.+\.hpp"]),
    Layer(r"benchmarks/(cliffs/.+|program/fuzz\.cpp)",
           [PUBLIC, PUBLIC_DEVICE, PURE_DEVICE, r"benchmarks/.+", r"tests/(bounds|fuzz)/.+\.hpp"]),
    Layer(r"benchmarks/.+", [PUBLIC, PUBLIC_DEVICE, PURE_DEVICE, r"benchmarks/.+"]),
    Layer(r"examples/.+", [PUBLIC, PUBLIC_DEVICE, r"examples/.+"]),
]
FREE_LAYERS = re.compile(r"(tests/(?!bounds/)|benchmarks/|examples/)")
OURS = re.compile(r"(heddle|kernels|src|tests|benchmarks|examples)/")

FOLDERS = ["include", "kernels", "src", "tests", "benchmarks", "examples"]
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh"}
# The library's kernels are launched in one place, which reports the launch's own status: the thread's status
# may be the error of an earlier call.
LAUNCHER = "kernels/device/launch.hpp"
OTHER_LAUNCH = re.compile(r"<<<|\bcudaGetLastError\b|\bcudaPeekAtLastError\b|\bcu(da)?LaunchKernel")
# Code that orders threads is in one folder, where a build with HEDDLE_DELAYS has its delays.
ORDER = "kernels/device/ptx/"
BARE_ORDER = re.compile(r"\b(?:__syncthreads|__syncwarp|__threadfence|__nanosleep|atomic[A-Z]|cuda::(?:atomic|barrier|pipeline)|"
                        r'cooperative_groups)\w*|"(?:bar|barrier|mbarrier|fence|membar|atom|red)\.')
# A ticket is drawn only with the result of the fence before it as an argument.
TICKETS = "kernels/device/last_block.cuh"
BARE_TICKET = re.compile(r"\batomic_increment\b")
COMMENT = re.compile(r"//.*")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def may_include(file: str, bracket: str, header: str) -> bool:
    is_ours = bracket == '"' or OURS.match(header) is not None
    if FREE_LAYERS.match(file) and not is_ours:
        return True
    for layer in LAYERS:
        if fit := re.fullmatch(layer.files, file):
            return any(re.fullmatch(pattern.format(**fit.groupdict()) if "{op}" in pattern else pattern, header)
                       for pattern in layer.may_include)
    return False


def violations(root: pathlib.Path) -> list[str]:
    found = []
    included = {}
    for file, text in shared.sources(root, FOLDERS, SUFFIXES):
        included[file] = {match[2] for match in INCLUDE.finditer(text)}
        for match in INCLUDE.finditer(text):
            if not may_include(file, match[1], match[2]):
                line = text.count("\n", 0, match.start(2)) + 1
                found.append(f"{file}:{line}: may not include {match[2]}")
        if file.endswith(".cpp") and "<<<" in text:
            found.append(f"{file}: launches a kernel; only a .cu file may")
        if file.startswith(("include/", "kernels/")) and file != LAUNCHER:
            for number, line in enumerate(text.splitlines(), 1):
                code = COMMENT.sub("", line)
                if launch := OTHER_LAUNCH.search(code):
                    found.append(f"{file}:{number}: has {launch[0]}; kernels are launched with {LAUNCHER}")
                if not file.startswith(ORDER) and (order := BARE_ORDER.search(code)):
                    found.append(f"{file}:{number}: has {order[0]}; what orders threads is in {ORDER}")
                if not file.startswith(ORDER) and file != TICKETS and BARE_TICKET.search(code):
                    found.append(f"{file}:{number}: draws a ticket; draws_last() of {TICKETS} does")

    everything = "include/heddle/heddle.hpp"
    for file in included:
        if re.fullmatch(r"include/heddle/[^/]+\.hpp", file) and file != everything:
            header = file.removeprefix("include/")
            if header not in included.get(everything, set()):
                found.append(f"{everything}: does not include {header}")
    return found


def self_test() -> int:
    allowed = {
        "include/heddle/heddle.hpp": "#include <heddle/error.hpp>\n#include <heddle/view.hpp>\n",
        "include/heddle/view.hpp": "#include <cstdint>\n#include <cuda/stream_ref>\n",
        "include/heddle/interop/mdspan.hpp": "#include <cuda/std/mdspan>\n#include <heddle/view.hpp>\n",
        "include/heddle/matmul.cuh": '#include "kernels/matmul/persistent.cuh"\n',
        "include/heddle/elementwise.cuh": '#include "kernels/device/launch.hpp"\n',
        "include/heddle/error.hpp": "/// As the next cudaGetLastError() does.\n",
        "kernels/device/launch.hpp": "cudaLaunchKernelExC(&config, kernel, arguments);\n",
        "kernels/device/ptx/mma.cuh": "#include <cuda/ptx>\n__syncthreads();\n",
        "kernels/device/tile.cuh": '#include "kernels/device/ptx/mma.cuh"\n',
        "kernels/device/last_block.cuh": "ptx::atomic_increment(ticket, last);\n",
        "kernels/frame/ring.cuh": '#include "kernels/device/tile.cuh"\n',
        "kernels/reduce/launch.hpp": "#include <heddle/view.hpp>\n",
        "kernels/reduce/naive.cu": '#include "kernels/device/tile.cuh"\n#include "kernels/reduce/launch.hpp"\n',
        "kernels/reduce/plan/levels.hpp": '#include "kernels/reduce/tuning/h100.hpp"\n',
        "kernels/reduce/tuning/h100.hpp": "#include <array>\n",
        "kernels/matmul/plan/plan.hpp": '#include "kernels/matmul/cost/cost.hpp"\n#include "kernels/matmul/facts.hpp"\n',
        "kernels/matmul/facts.cpp": '#include "kernels/matmul/facts.hpp"\n',
        "kernels/matmul/facts.hpp": '#include "kernels/matmul/kernels.hpp"\n#include "kernels/matmul/layout.hpp"\n',
        "kernels/matmul/kernels.hpp": '#include "kernels/frame/shape.hpp"\n',
        "src/reduce/rungs.cpp": '#include "kernels/reduce/kernels.hpp"\n#include "kernels/reduce/plan/levels.hpp"\n',
        "src/reduce.cpp": '#include "kernels/reduce/launch.hpp"\n#include "src/a.hpp"\n#include <fmt/format.h>\n',
        "tests/bounds/matmul.hpp": '#include "tests/bounds/numbers.hpp"\n#include <cmath>\n',
        "tests/fuzz/products.cpp": '#include "tests/bounds/matmul.hpp"\n#include <cuda_runtime_api.h>\n',
        "benchmarks/ladders/matmul.cpp": '#include "tests/bounds/matmul.hpp"\n',
        "benchmarks/cliffs/matmul.cpp": '#include "tests/fuzz/draw.hpp"\n#include <cuda_runtime_api.h>\n',
        "tests/overlap.cpp": '#include "src/overlap.hpp"\n',
        "tests/device/tile.cu": '#include "kernels/device/tile.cuh"\n',
        "tests/reduce.cpp": '#include "tests/support/gpu.hpp"\n#include <cublas_v2.h>\n#include <heddle/view.hpp>\n',
        "tests/benchmarks/limits.cpp": '#include "benchmarks/limits.hpp"\n',
        "src/host/reduce.cpp": '#include "kernels/device/math.hpp"\n',
        "benchmarks/reduce.cpp": '#include "benchmarks/support/timer.hpp"\n#include "kernels/device/warp.hpp"\n#include <cub/cub.cuh>\n',
        "examples/demo/main.cpp": "#include <heddle/heddle.hpp>\n#include <png.h>\n",
    }
    forbidden = [
        ("include/heddle/sum.hpp", '#include "kernels/reduce/launch.hpp"', "kernels/reduce/launch.hpp"),
        ("include/heddle/sum.cuh", '#include "kernels/reduce/naive.cuh"', "kernels/reduce/naive.cuh"),
        ("include/heddle/sum.hpp", '#include "src/a.hpp"', "src/a.hpp"),
        ("include/heddle/sum.hpp", "#include <fmt/format.h>", "fmt/format.h"),
        ("include/heddle/sum.hpp", "#include <cuda/std/mdspan>", "cuda/std/mdspan"),
        ("include/heddle/sum.hpp", "#include <heddle/interop/mdspan.hpp>", "heddle/interop/mdspan.hpp"),
        ("include/heddle/sum.hpp", "", "does not include heddle/sum.hpp"),
        ("include/heddle/elementwise.cuh", '#include "kernels/device/tile.cuh"', "kernels/device/tile.cuh"),
        ("include/heddle/elementwise.cuh", "kernel<<<1, 1>>>(x);", "has <<<"),
        ("kernels/reduce/naive.cu", "kernel<<<1, 1>>>(x);  // one block", "naive.cu:1: has <<<"),
        ("kernels/reduce/naive.cu", "check(cudaGetLastError());", "has cudaGetLastError"),
        ("kernels/reduce/naive.cu", "check(cudaPeekAtLastError());", "has cudaPeekAtLastError"),
        ("kernels/reduce/naive.cu", "check(cudaLaunchKernelEx(&config, kernel));", "has cudaLaunchKernel"),
        ("kernels/reduce/naive.cu", "__syncthreads();  // all are here", "naive.cu:1: has __syncthreads"),
        ("kernels/reduce/naive.cu", "__syncwarp();", "has __syncwarp"),
        ("kernels/reduce/tile.cuh", "__threadfence_system();", "has __threadfence_system"),
        ("kernels/reduce/tile.cuh", "atomicAdd(sum, x);", "has atomicAdd"),
        ("kernels/reduce/tile.cuh", "cuda::atomic_ref<int> counter(x);", "has cuda::atomic_ref"),
        ("kernels/reduce/tile.cuh", 'asm volatile("fence.proxy.async;");', 'has "fence.'),
        ("include/heddle/sum.cuh", "__syncthreads();", "has __syncthreads"),
        ("kernels/reduce/tile.cuh", "ptx::atomic_increment(ticket, last);", "draws a ticket"),
        ("kernels/device/ptx/tma.cuh", '#include "kernels/device/tile.cuh"', "kernels/device/tile.cuh"),
        ("kernels/device/ptx/tma.cuh", "#include <heddle/view.hpp>", "heddle/view.hpp"),
        ("kernels/device/block.cuh", "#include <heddle/view.hpp>", "heddle/view.hpp"),
        ("kernels/device/block.cuh", '#include "kernels/reduce/launch.hpp"', "kernels/reduce/launch.hpp"),
        ("kernels/device/block.cuh", '#include "kernels/frame/ring.cuh"', "kernels/frame/ring.cuh"),
        ("kernels/frame/loop.cuh", '#include "kernels/reduce/launch.hpp"', "kernels/reduce/launch.hpp"),
        ("kernels/matmul/naive.cu", '#include "kernels/reduce/launch.hpp"', "kernels/reduce/launch.hpp"),
        ("kernels/matmul/naive.cu", '#include "src/a.hpp"', "src/a.hpp"),
        ("kernels/matmul/naive.cu", "#  include <cub/cub.cuh>", "cub/cub.cuh"),
        ("kernels/matmul/naive.cu", "#include <fmt/format.h>", "fmt/format.h"),
        ("kernels/matmul/launch.hpp", '#include "kernels/device/tile.cuh"', "kernels/device/tile.cuh"),
        ("kernels/matmul/plan/planning.hpp", '#include "kernels/matmul/tile.cuh"', "kernels/matmul/tile.cuh"),
        ("kernels/matmul/plan/planning.hpp", "#include <cuda_runtime_api.h>", "cuda_runtime_api.h"),
        ("kernels/matmul/cost/h100.hpp", '#include "kernels/matmul/launch.hpp"', "kernels/matmul/launch.hpp"),
        ("kernels/matmul/kernels.hpp", '#include "kernels/matmul/tile.cuh"', "kernels/matmul/tile.cuh"),
        ("kernels/matmul/facts.hpp", "#include <cuda_runtime_api.h>", "cuda_runtime_api.h"),
        ("kernels/reduce/tuning/h100.hpp", '#include "kernels/reduce/launch.hpp"', "kernels/reduce/launch.hpp"),
        ("src/matmul.cpp", '#include "kernels/device/tile.cuh"', "kernels/device/tile.cuh"),
        ("src/matmul.cpp", "#include <cublas_v2.h>", "cublas_v2.h"),
        ("src/matmul.cpp", "kernel<<<1, 1>>>();", "launches a kernel"),
        ("tests/matmul.cpp", '#include "src/a.hpp"', "src/a.hpp"),
        ("tests/matmul.cpp", '#include "src/overlap.hpp"', "src/overlap.hpp"),
        ("tests/matmul.cpp", '#include "kernels/device/tile.cuh"', "kernels/device/tile.cuh"),
        ("tests/reduce.cpp", '#include "benchmarks/limits.hpp"', "benchmarks/limits.hpp"),
        ("tests/device/block.cu", '#include "kernels/matmul/launch.hpp"', "kernels/matmul/launch.hpp"),
        ("tests/bounds/matmul.hpp", '#include "tests/support/gpu.hpp"', "tests/support/gpu.hpp"),
        ("tests/bounds/matmul.hpp", "#include <gtest/gtest.h>", "gtest/gtest.h"),
        ("tests/fuzz/products.cpp", '#include "tests/support/gpu.hpp"', "tests/support/gpu.hpp"),
        ("benchmarks/cliffs/matmul.cpp", '#include "tests/support/gpu.hpp"', "tests/support/gpu.hpp"),
        ("benchmarks/matmul.cpp", '#include "tests/support/gpu.hpp"', "tests/support/gpu.hpp"),
        ("benchmarks/matmul.cpp", '#include "tests/bounds/matmul.hpp"', "tests/bounds/matmul.hpp"),
        ("examples/demo/other.cpp", '#include "src/a.hpp"', "src/a.hpp"),
    ]

    def found_in(files: dict[str, str]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                file = pathlib.Path(folder) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return violations(pathlib.Path(folder))

    failures = [f"refused what is allowed: {found}" for found in found_in(allowed)]
    for file, text, expected in forbidden:
        if not any(expected in line for line in found_in(allowed | {file: text + "\n"})):
            failures.append(f"overlooked in {file}: {text}")
    print("\n".join(failures) or f"found all {len(forbidden)} planted violations")
    return 1 if failures else 0


if __name__ == "__main__":
    shared.check(__doc__, self_test, violations, "every layer keeps to its rules")

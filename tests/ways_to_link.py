#!/usr/bin/env python3
"""Builds a .cpp and a .cu program outside the tree, by each of CMake's ways to use a library.

usage: ways_to_link.py SOURCES BUILD NVCC

Each gets C++20 and one CUDA runtime, static or shared as it asks. Only find_package finds built kernels. A program with the
sources would build them again, so it is linked with the archive of BUILD instead.
"""

import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sources, build, nvcc = sys.argv[1:]
WAYS = {
    "find_package": "find_package(heddle 0.1 REQUIRED)",
    "add_subdirectory": f"add_subdirectory({sources} heddle)",
    "FetchContent": f"""include(FetchContent)
FetchContent_Declare(heddle SOURCE_DIR {sources})
FetchContent_MakeAvailable(heddle)""",
}
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(program LANGUAGES CXX CUDA)
{runtime}
{way}
add_executable(of_cpp program.cpp)
target_link_libraries(of_cpp PRIVATE heddle::heddle)
add_executable(of_cu program.cu)
target_link_libraries(of_cu PRIVATE heddle::heddle)
"""
CPP = """#include <heddle/heddle.hpp>
#include <cstdio>
#include <string>
int main() { std::printf("%s\\n", std::string(heddle::version()).c_str()); }
"""
CU = """#include <heddle/elementwise.cuh>
#include <heddle/heddle.hpp>
#include <cstdio>
#include <string>
struct doubled { __device__ float operator()(float x) const { return 2 * x; } };
int main() {
    std::printf("%s\\n", std::string(heddle::version()).c_str());
    if (heddle::device_count() == 0) return 0;
    heddle::stream stream;
    heddle::device_buffer<float> x(1000, stream), y(1000, stream);
    heddle::fill_zero(x, stream);
    heddle::transform<float>(doubled{}, x, y, stream);
    const heddle::batch_view<float> from{{x.data(), 10, 10}, 10, 100}, to{{y.data(), 10, 10}, 10, 100};
    heddle::batched_matmul<float>(from, from, to, stream);
    const heddle::batch_view<const float> read = from;
    heddle::batched_matmul<float>(read, read, to, stream);
    stream.synchronize();
}
"""


def run(*command: str, cwd: pathlib.Path | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}")
    return done.stdout


def runtimes_of(link: str) -> set[str]:
    return set(re.findall(r"(?:\blib|-l)(cudart(?:_static)?)(?:\.so|\.a|\b)", link))


def check(way: str, runtime: str, folder: pathlib.Path, prefix: pathlib.Path) -> list[str]:
    asked = f"set(CMAKE_CUDA_RUNTIME_LIBRARY {runtime})" if runtime else ""
    (folder / "CMakeLists.txt").write_text(PROJECT.format(way=WAYS[way], runtime=asked))
    (folder / "program.cpp").write_text(CPP)
    (folder / "program.cu").write_text(CU)
    binary = folder / "build"
    run("cmake", "-S", str(folder), "-B", str(binary), "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CUDA_COMPILER={nvcc}", "-DCMAKE_CUDA_ARCHITECTURES=90a-real", "-DCMAKE_BUILD_TYPE=Release")
    found = []
    for program, object_file in [("of_cpp", "program.cpp.o"), ("of_cu", "program.cu.o")]:
        compiled = run("ninja", f"CMakeFiles/{program}.dir/{object_file}", cwd=binary)
        if re.search(r"warning", compiled):
            found.append(f"{way} {program}: {compiled}")
        link = run("ninja", "-t", "commands", program, cwd=binary).splitlines()[-1]
        expected = {"cudart" if runtime == "Shared" else "cudart_static"}
        if runtimes_of(link) != expected:
            found.append(f"{way} {program}, runtime '{runtime}': its link line has {runtimes_of(link)}, expected {expected}")
        run("sh", "-c", re.sub(r" (heddle|_deps/heddle-build)/libheddle\.a", f" {build}/libheddle.a", link), cwd=binary)
        if run(str(binary / program)).strip() != version():
            found.append(f"{way} {program}: prints something else than the version")
    return found


def version() -> str:
    text = pathlib.Path(sources, "include/heddle/version.hpp").read_text()
    return ".".join(re.search(rf"#define HEDDLE_VERSION_{part} (\d+)", text)[1] for part in ["MAJOR", "MINOR", "PATCH"])


def main() -> int:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "prefix"
        run("cmake", "--install", build, "--prefix", str(prefix))
        for way, runtime in [("find_package", ""), ("find_package", "Shared"), ("add_subdirectory", ""),
                             ("FetchContent", "Shared")]:
            place = pathlib.Path(folder) / f"{way}{runtime}"
            place.mkdir()
            found += check(way, runtime, place, prefix)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

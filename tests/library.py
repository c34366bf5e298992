#!/usr/bin/env python3
"""Checks the built library.

usage: library.py exports LIBRARY   whether the shared library shows heddle's public symbols, and no others
"""

import pathlib
import re
import subprocess
import sys

PUBLIC = re.compile(r"\bheddle::(?!kernels::)")
# The functions of heddle::detail that public headers call; cmake/exports.map lists the same.
DETAIL = re.compile(r"heddle::detail::(copy|fill|wait|run|on_host|transpose|prepare_conv|prepare_elementwise|prepare_matmul|"
                    r"transpose_problem_of|random_problem_of|elementwise_problem_of|"
                    r"device_memory|pinned_memory|managed_memory|destroy_graph|stream_capture|stream_device|throw_cuda_error)\b")
# nm does not demangle conversion templates, such as those of views to views of constants.
VIEW_CONVERSION = re.compile(r"_ZNK6heddle\d+\w+_viewI.*cvNS0_I")
EXPECTED = [  # one of each kind; without it programs could not link, catch exceptions, or compile their own functors
    "typeinfo for heddle::cuda_error",
    "typeinfo for heddle::invalid_argument",
    "typeinfo for heddle::unsupported",
    "vtable for heddle::unsupported",
    "heddle::version()",
    "void heddle::sum<__half>(",
    "void heddle::softmax<__nv_bfloat16>(",
    "void heddle::adamw<__half, float>(",
    "void heddle::matmul<float, float>(",
    "heddle::detail::prepare_conv<__half, __half>(",
    "heddle::detail::prepare_elementwise(",
    "heddle::detail::prepare_matmul<__half, __half>(",
    "heddle::detail::stream_device::stream_device(",
    "heddle::host::softmax<float>(",
]


def is_public(symbol: str) -> bool:
    if VIEW_CONVERSION.match(symbol):
        return True
    name = symbol.replace("operator()", "operator")
    while "<" in name:  # without the arguments of templates, innermost first
        name, count = re.subn(r"<[^<>]*>", "", name)
        if count == 0:
            break
    name = name.split("(")[0]
    if "heddle::detail::" in name:
        return DETAIL.search(name) is not None
    return PUBLIC.search(name) is not None


def check_exports(library: pathlib.Path) -> list[str]:
    lines = subprocess.run(["nm", "--dynamic", "--demangle", "--defined-only", library], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    symbols = [line.split(" ", 2)[2] for line in lines]
    print(f"{library.name} shows {len(symbols)} symbols")
    found = [f"not public: {symbol}" for symbol in symbols if not is_public(symbol)]
    found += [f"missing: {expected}" for expected in EXPECTED if not any(expected in symbol for symbol in symbols)]
    return found


def main(arguments: list[str]) -> int:
    match arguments:
        case ["exports", library]:
            found = check_exports(pathlib.Path(library))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

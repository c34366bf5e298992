#!/usr/bin/env python3
"""Checks the built library.

usage: library.py exports LIBRARY HEADERS   whether the shared library shows the symbols that the public headers in the
                                            folder HEADERS declare, and no others of heddle
"""

import pathlib
import re
import subprocess
import sys

EXPORTING = "#pragma GCC visibility push(default)"  # in each public header that declares what the library defines
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


def name_of(symbol: str) -> str:
    """The qualified name alone: without the arguments of templates and functions, and without what stands before it."""
    name = re.sub(r"\[abi:\w+\]", "", symbol).split("::operator")[0]
    while "<" in name:  # innermost first
        name, count = re.subn(r"<[^<>]*>", "", name)
        if count == 0:
            break
    return name.split("(")[0].split(" ")[-1]


def is_public(symbol: str, declared: set[str]) -> bool:
    """Whether `declared` has each word of a name of heddle. Templates of the standard library may be visible too."""
    if symbol.startswith("_ZNK6heddle") and "cvNS0_I" in symbol:  # nm does not demangle the conversions of views
        return True
    first, *words = name_of(symbol).split("::")
    return first == "std" or first == "heddle" and {word.lstrip("~") for word in words} <= declared


def check_exports(library: pathlib.Path, headers: pathlib.Path) -> list[str]:
    texts = [text for text in (header.read_text() for header in headers.rglob("*.*")) if EXPORTING in text]
    declared = {word for text in texts for word in re.findall(r"\w+", re.sub("//.*", "", text))} - {"kernels"}
    lines = subprocess.run(["nm", "--dynamic", "--demangle", "--defined-only", library], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    symbols = [line.split(" ", 2)[2] for line in lines]
    print(f"{library.name} shows {len(symbols)} symbols")
    found = [f"not public: {symbol}" for symbol in symbols if not is_public(symbol, declared)]
    found += [f"missing: {expected}" for expected in EXPECTED if not any(expected in symbol for symbol in symbols)]
    return found


def main(arguments: list[str]) -> int:
    match arguments:
        case ["exports", library, headers]:
            found = check_exports(pathlib.Path(library), pathlib.Path(headers))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

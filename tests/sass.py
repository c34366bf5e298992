#!/usr/bin/env python3
"""Reads the machine code of the built library. Kernels must have the instructions that they are written for, and keep
their operands in registers.

usage: sass.py LIBRARY FOLDER...  FOLDERs and PATH are where cuobjdump and nvdisasm may be

Exits 1 where a kernel falls short, 77 where there is no cuobjdump.
"""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator

SKIPPED = 77
HOPPER = "sm_90a"
INSTRUCTION_BYTES = 16


@dataclasses.dataclass
class Expectation:
    kernels: str  # a pattern of names, without namespaces; each has to fit some kernel
    instructions: list[str]  # which one of these kernels has, or all together
    architecture: str = ".*"  # a pattern among those that the library was built for
    # Arrays and spilled registers, by LDL and STL, of all these kernels, on Hopper, for which the tiles are made.
    may_have_local_memory: bool = False
    in_all: bool = False


HALVES_WITH_EPILOGUE = r"matmul::fused_kernels, 1ul>"  # 128x128 of kernels/matmul/kernels.hpp

EXPECTATIONS = [
    Expectation(r"matmul::register_tiled\b", ["FFMA"]),
    Expectation(r"matmul::warp_tiled::warp_tiled<", ["FFMA", "LDS.128"]),
    Expectation(r"matmul::pipelined<", ["FFMA", "LDGSTS"]),
    Expectation(r"matmul::thin<", ["FFMA", "LDGSTS", "LDS.128", "CCTL"]),
    Expectation(r"matmul::stream_tiles<", ["FFMA", "LDGSTS", "LDS.128", r"STG\.E"]),
    Expectation(r"matmul::packed_tiles<", ["FFMA", "LDGSTS", "LDS.128", r"STG\.E"]),
    Expectation(r"matmul::tma_pipelined\b", ["FFMA", "UTMALDG"], HOPPER),
    Expectation(r"matmul::tf32x3<", ["HMMA.*TF32", "LDGSTS"]),
    Expectation(r"matmul::skinny_by_(rows|columns)<", ["FFMA"]),
    Expectation(r"matmul::vector_by_(rows<|columns<true)", ["FFMA", r"LDG\.E\.128"]),
    Expectation(r"matmul::wmma<", ["HMMA"], may_have_local_memory=True),
    Expectation(r"matmul::mma_sync<.*>, true,", ["HMMA", "LDSM", "LDGSTS"], may_have_local_memory=True),  # its epilogue
    Expectation(r"matmul::mma_sync<.*>, false,", ["HMMA", "LDSM"], may_have_local_memory=True),  # element by element
    Expectation(r"matmul::wgmma_tma<", ["HGMMA", "UTMALDG"], HOPPER),
    Expectation(r"matmul::warp_specialized<", ["HGMMA", "UTMALDG"], HOPPER),
    Expectation(rf"frame::.*product_mainloop<.*parted_tile<(?!{HALVES_WITH_EPILOGUE}|matmul::multicast_kernels\b)"
                r".*one_product<(?!.*residual<float)",
                ["HGMMA", "UTMALDG", "UTMASTG"], HOPPER),
    Expectation(rf"frame::.*product_mainloop<.*parted_tile<{HALVES_WITH_EPILOGUE}.*one_product<(?!.*residual<float)",
                ["HGMMA", "UTMALDG", "UTMASTG"], HOPPER, may_have_local_memory=True),  # between its tiles
    Expectation(r"frame::.*product_mainloop<.*parted_tile<.*one_product<.*residual<float", ["HGMMA", "UTMALDG", "UTMASTG"], HOPPER,
                may_have_local_memory=True),  # its epilogue
    Expectation(r"frame::.*product_mainloop<.*parted_tile<matmul::multicast_kernels,", ["HGMMA", "UTMALDG.*MULTICAST"], HOPPER),
    Expectation(r"frame::.*product_mainloop<.*wgmma_tile<.*product_group<", ["HGMMA", "UTMALDG"], HOPPER),
    Expectation(r"frame::add_parts<", [r"LDG\.E\.128"]),
    Expectation(r"conv::wgmma<", ["HGMMA", r"UTMALDG.*IM2COL"], HOPPER),
    Expectation(r"frame::.*window_mainloop<.*wgmma_tile<", ["HGMMA", r"UTMALDG.*IM2COL", "UTMASTG"], HOPPER,
                may_have_local_memory=True),  # its epilogue
    Expectation(r"frame::.*window_mainloop<float,", ["HGMMA.*TF32", r"UTMALDG.*IM2COL", "UTMASTG"], HOPPER,
                may_have_local_memory=True),
    Expectation(r"matmul::skinny<", ["HGMMA", "UTMALDG"], HOPPER),
    Expectation(r"matmul::skinny_tf32<", ["HGMMA", "UTMALDG"], HOPPER),
    Expectation(r"frame::.*bf16x6_kernel<(true|false), (true|false), [12]>", ["HGMMA", "UTMALDG"], HOPPER),
    Expectation(r"frame::.*tf32_mainloop<", ["HGMMA", "UTMALDG"], HOPPER, may_have_local_memory=True),  # its store
    Expectation(r"frame::.*fp16x3_mainloop\b", ["HGMMA", "UTMALDG"], HOPPER),
    Expectation(r"gaussian_blur::mma_xy<", ["IMMA", "LDGSTS"], HOPPER),
    Expectation(r"gaussian_blur::mma_xy_by_channel<\d, true>", ["IMMA", "LDGSTS"], HOPPER),
    # Kernels of rows at any address have a few registers more, which stay the same from step to step.
    Expectation(r"gaussian_blur::mma_xy_by_channel<\d, false>", ["IMMA", "LDGSTS"], HOPPER,
                may_have_local_memory=True),
    Expectation(r"gaussian_blur::wgmma_xy::blur<", ["IGMMA", "UTMALDG", "UTMASTG"], HOPPER),
    Expectation(r"reduce::single_pass_ring<", ["UBLKCP"], HOPPER),
    # Outputs that wait for a long epilogue.
    Expectation(r"conv::depthwise<conv::shape<(float, 1|__half, 2|__nv_bfloat16, 2), [357]", ["FFMA", "LDGSTS"],
                may_have_local_memory=True),
    Expectation(r"conv::depthwise<", ["FFMA"], may_have_local_memory=True),
    Expectation(r"conv::register_tiled<", ["FFMA", "LDGSTS", "LDS.128"]),
    Expectation(r"conv::add_shares<", ["FADD"]),
    Expectation(r"conv::mma_sync<[^>]*>, 16, (__half|__nv_bfloat16)", ["HMMA", "LDSM", r"LDGSTS\..*128"]),
    Expectation(r"conv::mma_sync<[^>]*>, 16, float", ["HMMA.*TF32", "LDSM", "LDGSTS"], may_have_local_memory=True),
    Expectation(r"conv::mma_sync<[^>]*>, 4,", ["HMMA", "LDSM", "LDGSTS"]),
    Expectation(r"conv::mma_sync<[^>]*>, 2,", ["HMMA", "LDSM"]),
    Expectation(r"conv::grouped<conv::mma_products<", ["HMMA", "LDGSTS", r"LDS\.64"]),
    Expectation(r"conv::grouped<conv::fma_products<", ["FFMA", "LDGSTS", r"LDS\.128"]),
    Expectation(r"norm::gradient_vectorized<[^>]*, [48], (true|false)>", [r"LDGSTS\..*128"]),
    Expectation(r"norm::gradient_vectorized<[^>]*, 1, true>", ["LDGSTS"]),
    Expectation(r"loss::(block|streamed)<((__half|__nv_bfloat16), 8|float, 4), \d+>", [r"LDG\.E\.128", r"STG\.E\.128"]),
    Expectation(r"loss::packed<\w+, 8, 64>", [r"LDG\.E\.128", r"STG\.E\.128"]),
    Expectation(r"loss::hits<((__half|__nv_bfloat16), 8|float, 4)>", [r"LDG\.E\.128"]),
    Expectation(r"loss::(lanes|block|streamed|blocks|naive|warp_per_row|hits|hits_of_warps)<", []),
    # The compiler may split assignments of packets.
    Expectation(r"transform_packets<.*elementwise::add\b", [r"LDG\.E\.128", r"STG\.E\.128"], HOPPER, in_all=True),
    Expectation(r"optimizer::vectorized<", [r"LDG\.E\.128", r"STG\.E\.128"], HOPPER, in_all=True),
    Expectation(r"pool::window<pool::\w+, \d, [48],", [r"LDG\.E\.128", r"STG\.E\.128"], HOPPER, in_all=True),
    Expectation(r"pool::block<pool::\w+, [48],", [r"LDG\.E\.128", r"STG\.E\.128"], HOPPER, in_all=True),
    Expectation(r"random::vectorized<", [r"STG\.E\.128"], HOPPER, in_all=True),
    Expectation(r"(elementwise|norm|optimizer|pool|random|reduce|scan|softmax|transpose)::\w+<", []),
]


@dataclasses.dataclass
class Kernel:
    symbol: str
    name: str
    architecture: str
    local_bytes: int


def code_of(cubin: bytes) -> Iterator[tuple[str, bytes]]:
    """Each kernel's symbol, and its section of the ELF file, with the functions that it calls."""
    start, = struct.unpack_from("<Q", cubin, 40)
    header_bytes, count, index_of_names = struct.unpack_from("<3H", cubin, 58)
    headers = [struct.unpack_from("<2I4Q", cubin, start + index * header_bytes) for index in range(count)]
    for name, _, _, _, offset, size in headers:
        name += headers[index_of_names][4]
        if cubin.startswith(b".text.", name):
            yield cubin[name + len(".text."):cubin.index(b"\0", name)].decode(), cubin[offset:offset + size]


class Disassembler:
    def __init__(self, library: str, folders: list[str]):
        self.library = os.path.abspath(library)
        path = os.pathsep.join([*map(os.path.abspath, folders), os.environ.get("PATH", "")])
        self.cuobjdump, self.nvdisasm = (shutil.which(name, path=path) for name in ("cuobjdump", "nvdisasm"))
        self.is_there = bool(self.cuobjdump and self.nvdisasm)

    def run(self, *command: str, folder: str | None = None) -> str:
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def kernels(self) -> list[Kernel]:
        found = []
        architecture = symbol = ""
        for line in self.run(self.cuobjdump, "--dump-resource-usage", self.library).splitlines():
            if start := re.match(r"arch = (\w+)", line):
                architecture = start[1]
            elif start := re.match(r" Function (\w+):", line):
                symbol = start[1]
            elif sizes := re.match(r"  REG:\d+ STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", line):
                found.append(Kernel(symbol, "", architecture, int(sizes[1]) + int(sizes[2])))
        names = subprocess.run(["c++filt"], input="\n".join(k.symbol for k in found), capture_output=True, text=True,
                               check=True).stdout.splitlines()
        for kernel, name in zip(found, names):
            kernel.name = re.sub(r"heddle::(kernels::)?|\(anonymous namespace\)::", "", name)
        return found

    def instructions(self, architecture: str, symbols: set[str]) -> dict[str, set[str]]:
        """The instructions of each symbol. nvdisasm is slow to start and to print: it runs once, and reads equal code once."""
        encoded: dict[str, set[bytes]] = {symbol: set() for symbol in symbols}
        with tempfile.TemporaryDirectory() as folder:
            self.run(self.cuobjdump, "--gpu-architecture", architecture, "--extract-elf", "all", self.library,
                     folder=folder)
            for file in os.scandir(folder):
                with open(file, "rb") as cubin:
                    for symbol, code in code_of(cubin.read()):
                        if symbol in encoded:
                            starts = range(0, len(code), INSTRUCTION_BYTES)
                            encoded[symbol].update(code[at:at + INSTRUCTION_BYTES] for at in starts)
            distinct = sorted(set().union(*encoded.values()))
            raw = os.path.join(folder, "code")
            with open(raw, "wb") as code:
                code.writelines(distinct)
            dump = self.run(self.nvdisasm, "--no-dataflow", "--binary", architecture.replace("sm_", "SM"), raw)
        lines = re.findall(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:@!?U?P\w+ )?\s*([A-Z][\w.]*)", dump, re.M)
        if [int(at, 16) for at, _ in lines] != [*range(0, len(distinct) * INSTRUCTION_BYTES, INSTRUCTION_BYTES)]:
            sys.exit(f"{self.nvdisasm} does not show each instruction of {self.library}")
        read = dict(zip(distinct, (instruction for _, instruction in lines)))
        if lacking := [symbol for symbol, of_symbol in encoded.items() if not of_symbol]:
            sys.exit(f"{self.library} has no code of {', '.join(lacking)}")
        return {symbol: {read[instruction] for instruction in of_symbol} for symbol, of_symbol in encoded.items()}


def shortcomings_of(architecture: str, kernels: list[Kernel], disassembler: Disassembler) -> list[str]:
    expectations = [e for e in EXPECTATIONS if re.fullmatch(e.architecture, architecture)]
    meant = [[k for k in kernels if re.search(e.kernels, k.name)] for e in expectations]
    read = [fitting if expected.in_all else fitting[:1] for expected, fitting in zip(expectations, meant)]
    instructions = disassembler.instructions(architecture, {k.symbol for kernels in read for k in kernels})
    found = []
    for expected, fitting, of_these in zip(expectations, meant, read):
        if not fitting:
            found.append(f"no kernel of {architecture} fits {expected.kernels}")
            continue
        if architecture == HOPPER and not expected.may_have_local_memory:
            found += [f"{k.name} of {architecture}: {k.local_bytes} bytes of local memory (LDL, STL)"
                      for k in fitting if k.local_bytes > 0]
        found += [f"{k.name} of {architecture}: no {instruction}" for k in of_these for instruction in expected.instructions
                  if not any(re.match(rf"{instruction}\b", other) for other in instructions[k.symbol])]
    return found


def shortcomings(disassembler: Disassembler) -> list[str]:
    kernels = disassembler.kernels()
    found = [] if kernels else [f"no kernels in {disassembler.library}"]
    for architecture in sorted({k.architecture for k in kernels}):
        of_architecture = [k for k in kernels if k.architecture == architecture]
        found += shortcomings_of(architecture, of_architecture, disassembler)
    return found


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    disassembler = Disassembler(arguments[0], arguments[1:])
    if not disassembler.is_there:
        print("skipped: no cuobjdump with nvdisasm; scripts/setup installs them")
        return SKIPPED
    found = shortcomings(disassembler)
    print("\n".join(found) or f"the kernels of {arguments[0]} are as they are meant")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

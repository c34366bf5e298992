#!/usr/bin/env python3
"""Checks the commands on the pages: every script, option, preset, target, program, test, benchmark row and kernel that
they name must exist. Blocks of commands are fenced as `sh`, as `sh gpu` where they need a GPU, or as `sh run`:
those are also run here. An indented block that begins with a program's name has commands. The files of docs/ that the
pages name must exist too.

usage: pages.py ROOT BUILD FOLDER...  BUILD is what pages call build/release; FOLDERs and PATH are where cuobjdump may be
       pages.py --self-test           plants wrong commands and fails unless each is found
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import typing

PAGES = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "benchmarks/README.md", "examples/**/README.md",
         "kernels/*/README.md"]
WITH_COMMANDS = ["README.md", "CONTRIBUTING.md", "docs/use.md", "docs/add-a-kernel.md", "docs/layers.md",
                 "docs/profiling.md", "docs/measurements/README.md", "benchmarks/README.md"]
COMMANDS = {"sh", "sh gpu", "sh run"}
OTHER_TEXT = {"cpp", "cmake", "text"}
SYSTEM = {"c++filt", "grep", "less", "sort", "uniq"}
OPERATORS = {"&&", "|", ";"}
VALUES = {"-B", "-G", "-S", "--prefix", "--build", "--install", "--preset", "--target", "-t", "--test-dir", "-R", "-j"}


@dataclasses.dataclass
class Tree:
    """The names that a command may have. The build is Ninja's, as in the presets."""
    scripts: dict[str, str]  # their texts
    presets: dict[str, set[str]]  # of each kind: configure, build, test
    variables: set[str]  # of CMake
    targets: set[str]  # names, and paths in the build folder
    rows: set[str]  # of the benchmarks
    kernels: set[str]
    count_tests: typing.Callable[[str], int]  # of those that fit a pattern
    has_file: typing.Callable[[str], bool]  # by its path from the root


@dataclasses.dataclass
class Block:
    page: str
    line: int
    kind: str  # "sh" and so on, or "inline"
    text: str


def blocks_of(page: str, text: str) -> list[Block]:
    found: list[Block] = []
    fenced: Block | None = None
    indented: Block | None = None
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        if fenced is not None:
            if line.startswith("```"):
                fenced = None
            else:
                fenced.text += line + "\n"
        elif line.startswith("```"):
            fenced = Block(page, number, line[3:].strip(), "")
            found.append(fenced)
        elif line.startswith("    ") and (indented is not None or before == ""):
            if indented is None:
                indented = Block(page, number - 1, "sh", "")
                if re.match(r" {4}(scripts/|build/|(cmake|ctest|ncu|compute-sanitizer|cuobjdump)\b)", line):
                    found.append(indented)
            indented.text += line[4:] + "\n"
        else:
            indented = None
            found += [Block(page, number - 1, "inline", code + "\n")
                      for code in re.findall(r"`((?:scripts/|(?:cmake|ctest) )[^`]*)`", line)]
        before = line.strip()
    return found


def commands_of(block: Block) -> typing.Iterator[tuple[int, list[str]]]:
    """Each command with its line; a pipeline has several."""
    line = block.line
    for text in re.sub(r"\\\n", "\x00", block.text).splitlines():
        first = line + 1
        line += 1 + text.count("\x00")
        lexer = shlex.shlex(text.replace("\x00", " "), posix=True, punctuation_chars="&|;>")
        lexer.whitespace_split = True
        words: list[str] = []
        for word in [*lexer, ";"]:
            if word not in OPERATORS:
                words.append(word)
                continue
            words = [word for before, word in zip(["", *words], words)
                     if ">" not in (before, word) and not re.match(r"\w+=", word)]
            if words:
                yield first, words
            words = []


def wrong_with_filter(tree: Tree, words: list[str]) -> list[str]:
    if "--filter" not in words[:-1]:
        return []
    pattern = words[words.index("--filter") + 1]
    return [] if any(re.search(pattern, row) for row in tree.rows) else [f"no benchmark's row fits {pattern!r}"]


def wrong_with_program(tree: Tree, words: list[str]) -> list[str]:
    program = words[0].removeprefix("build/release/")
    return [*([] if program in tree.targets else [f"the build makes no {program}"]), *wrong_with_filter(tree, words)]


def wrong_with_script(tree: Tree, words: list[str]) -> list[str]:
    name = words[0].removeprefix("scripts/")
    if name not in tree.scripts:
        return [f"there is no script {words[0]}"]
    options = [word.split("=", 1)[0] for word in words[1:] if word.startswith("-")]
    found = [f"{words[0]} has no option {option}" for option in options
             if not re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", tree.scripts[name])]
    return found + wrong_with_filter(tree, words)


def wrong_with_cmake(tree: Tree, words: list[str]) -> list[str]:
    kind = "build" if "--build" in words else "configure"
    found = []
    for option, value in zip(words, [*words[1:], ""]):
        if option == "--preset" and value not in tree.presets[kind]:
            found.append(f"there is no {kind} preset {value!r}")
        elif option == "--target" and value not in tree.targets:
            found.append(f"there is no target {value!r}")
        elif option in ("--build", "--install") and not value.startswith("-") and \
                value.removeprefix("build/") not in tree.presets["configure"]:
            found.append(f"no preset builds in {value!r}")
        elif option.startswith("-D") and re.split("[:=]", option[2:] or value)[0] not in tree.variables:
            found.append(f"there is no variable {option[2:] or value}")
        elif option.startswith("-") and option not in VALUES and not option.startswith("-D"):
            found.append(f"option {option} of cmake is not known to this check")
    return found


def wrong_with_ctest(tree: Tree, words: list[str]) -> list[str]:
    found, has_folder = [], False
    for option, value in zip(words, [*words[1:], ""]):
        if option == "--preset":
            has_folder = value in tree.presets["test"]
        elif option == "--test-dir":
            has_folder = value.removeprefix("build/") in tree.presets["configure"]
        elif option == "-R" and tree.count_tests(value) == 0:
            found.append(f"no test fits {value!r}")
        elif option.startswith("-") and option not in VALUES:
            found.append(f"option {option} of ctest is not known to this check")
    return found if has_folder else [*found, "needs --test-dir with a preset's folder, or --preset"]


def wrong_with_profiler(tree: Tree, words: list[str]) -> list[str]:
    found = []
    if "-k" in words[:-1]:
        pattern = words[words.index("-k") + 1].removeprefix("regex:")
        if not any(re.search(pattern, kernel) for kernel in tree.kernels):
            found.append(f"no kernel fits {pattern!r}")
    programs = [number for number, word in enumerate(words) if word.startswith("build/")]
    if programs:
        found += wrong_with_program(tree, words[programs[0]:])
    elif "-i" not in words:
        found.append("names no program of the build")
    return found


def wrong_with(tree: Tree, words: list[str]) -> list[str]:
    program = words[0]
    if program.startswith("scripts/"):
        return wrong_with_script(tree, words)
    if program.startswith("build/release/"):
        return wrong_with_program(tree, words)
    if program == "cmake":
        return wrong_with_cmake(tree, words)
    if program == "ctest":
        return wrong_with_ctest(tree, words)
    if program in ("ncu", "compute-sanitizer"):
        return wrong_with_profiler(tree, words)
    return [] if program in SYSTEM | {"cuobjdump"} else [f"{program} is not known to this check"]


def wrong_in(tree: Tree, block: Block) -> list[str]:
    if block.kind in OTHER_TEXT:
        return []
    if block.kind not in COMMANDS | {"inline"}:
        return [f"{block.page}:{block.line}: a block is fenced as {block.kind!r}, not as one of "
                f"{', '.join(sorted(COMMANDS | OTHER_TEXT))}"]
    return [f"{block.page}:{line}: {shlex.join(words)}: {wrong}"
            for line, words in commands_of(block) for wrong in wrong_with(tree, words)]


def missing_files(tree: Tree, page: str, text: str) -> list[str]:
    """The missing files of docs/ that a page names, also by a shell's variable and braces."""
    for name, value in re.findall(r"^(\w+)=(\S+)", text, re.M):
        text = text.replace(f"${name}", value)
    text = re.sub(r"(\S*)\{([\w,]+)\}(\S*)",
                  lambda found: " ".join(found[1] + part + found[3] for part in found[2].split(",")), text)
    named = dict.fromkeys(re.findall(r"docs/[\w./-]+\.\w+", text))
    return [f"{page}: there is no {path}" for path in named if not tree.has_file(path)]


# --- the tree as it is ---

def output(*command: object, **options: object) -> str:
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def kernels_of(root: pathlib.Path) -> set[str]:
    """The functions' names, which ncu matches by default."""
    names: set[str] = set()
    for file in (root / "kernels").rglob("*.cu*"):
        text = re.sub(r"__launch_bounds__\((?:[^()]|\([^()]*\))*\)", "", file.read_text())
        names.update(re.findall(r"__global__\s+void\s+(\w+)\(", text))
    return names


def text_of_script(root: pathlib.Path, file: pathlib.Path) -> str:
    """With the name of the program that it abbreviates."""
    text = file.read_text()
    return text + "".join((root / program).read_text() for program in re.findall(r"benchmarks/report/\w+\.py", text))


def variables_of_cmake() -> list[str]:
    listed = output("cmake", "--help-variable-list")
    return [name.replace("<LANG>", language) for name in listed.splitlines() for language in ("CXX", "CUDA")]


def read_tree(root: pathlib.Path, build: pathlib.Path) -> Tree:
    return Tree(
        scripts={file.name: text_of_script(root, file) for file in (root / "scripts").iterdir()
                 if file.is_file() and os.access(file, os.X_OK)},
        presets={kind: set(re.findall(r'^  "([^"]+)"', output("cmake", f"--list-presets={kind}", cwd=root), re.M))
                 for kind in ("configure", "build", "test")},
        variables={*re.findall(r"^(\w+):", (build / "CMakeCache.txt").read_text(), re.M), *variables_of_cmake()},
        targets=set(re.findall(r"^(\S+): ", output("cmake", "--build", build, "--", "-t", "targets", "all"), re.M)),
        rows=set(output(build / "benchmarks/heddle-bench", "list").splitlines()),
        kernels=kernels_of(root),
        count_tests=lambda pattern: int(
            re.search(r"Total Tests: (\d+)", output("ctest", "--test-dir", build, "-N", "-R", pattern))[1]),
        has_file=lambda path: (root / path).exists())


def run(root: pathlib.Path, build: pathlib.Path, block: Block) -> list[str]:
    needed = {words[0] for _, words in commands_of(block) if "/" not in words[0]}
    if missing := [program for program in sorted(needed) if not shutil.which(program)]:
        print(f"{block.page}:{block.line}: not run, as there is no {', '.join(missing)}")
        return []
    script = block.text.replace("build/release", shlex.quote(str(build)))
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=root, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode == 0 and done.stdout.strip():
        return []
    return [f"{block.page}:{block.line}: exit status {done.returncode} of the block's commands:\n{done.stdout[-2000:]}"]


def check(root: pathlib.Path, build: pathlib.Path) -> int:
    tree = read_tree(root, build)
    texts = {page.relative_to(root).as_posix(): page.read_text()
             for pattern in PAGES for page in sorted(root.glob(pattern))}
    blocks = [block for page, text in texts.items() for block in blocks_of(page, text)]
    found = [wrong for block in blocks for wrong in wrong_in(tree, block)]
    found += [wrong for page, text in texts.items() for wrong in missing_files(tree, page, text)]
    commands = {page: 0 for page in WITH_COMMANDS}
    for block in blocks:
        if block.kind in COMMANDS | {"inline"}:
            commands[block.page] = commands.get(block.page, 0) + sum(1 for _ in commands_of(block))
    found += [f"{page}: no commands were found" for page, count in commands.items() if count == 0]
    runnable = [block for block in blocks if block.kind == "sh run"]
    found += [wrong for block in runnable for wrong in run(root, build, block)] if runnable else ["no block is fenced as sh run"]
    print("\n".join(found) or f"{sum(commands.values())} commands of {len(commands)} pages name what is there; "
                              f"{len(runnable)} blocks are for running here")
    return 1 if found else 0


# --- the check itself ---

PLANTED = Tree(
    scripts={"bench": "--filter) --build)"}, presets={"configure": {"release"}, "build": {"release"}, "test": {"release"}},
    variables={"BUILD_SHARED_LIBS"}, targets={"test_a", "tests/test_a", "lib.a"}, rows={"add/f32/8/heddle:naive"},
    kernels={"naive"}, count_tests=lambda pattern: len(re.findall(pattern, "layering")),
    has_file=lambda path: path == "docs/gpu/record.json")
RIGHT = r"""
`ctest --test-dir build/release -R layering` and `scripts/bench`.

    scripts/bench --filter 'heddle:naive'   # a comment

    |a formula| <= 1

```sh
cmake --preset release -DBUILD_SHARED_LIBS=ON && cmake --build --preset release --target test_a
cmake --install build/release --prefix /tmp/x
ctest --preset release
object=build/release/lib.a
cuobjdump -sass $object | grep -o FFMA | sort > sorted
```
```sh gpu
ncu -k regex:^naive -c 1 \
    build/release/tests/test_a --filter 'heddle:naive$'
ncu -i report
compute-sanitizer --tool racecheck build/release/tests/test_a
```
```cpp
int not_a_command;
```
"""
WRONG = [
    "scripts/none", "scripts/bench --filte x", "scripts/bench --filter 'heddle:none'", "ctest -R layering", "ctest --preset none",
    "ctest --test-dir build/none", "ctest --test-dir build/release -R none", "cmake --preset none", "cmake --build --preset none",
    "cmake --build --preset release --target none", "cmake --build build/none", "cmake --install build/none",
    "cmake --preset release -DNONE=1", "cmake --preset release -D NONE=1", "cmake --preset release --none",
    "build/release/none", "build/release/tests/test_a --filter none", "ncu -k regex:none build/release/tests/test_a",
    "ncu build/release/none", "ncu -c 1", "compute-sanitizer build/release/none", "none", "cuobjdump a | none",
    "cuobjdump a > file | none",
    "cmake --preset release \\\n    && none",
]


def self_test() -> int:
    def wrong(text: str) -> list[str]:
        return [wrong for block in blocks_of("page", text) for wrong in wrong_in(PLANTED, block)]

    failures = [f"found in a right page: {found}" for found in wrong(RIGHT)]
    for text, expected in (("See docs/gpu/record.json.", []), ("[a](../docs/none.json)", ["none"]),
                           ("a=docs/gpu\nscripts/bench --output $a/layers.json", ["layers"]),
                           ("scripts/bench-report docs/gpu/{record,layers}.json", ["layers"])):
        named = [pathlib.Path(line).stem for line in missing_files(PLANTED, "page", text)]
        if named != expected:
            failures.append(f"in {text!r} are missing {named}")
    right = blocks_of("page", RIGHT)
    if [block.kind for block in right] != ["inline", "inline", "sh", "sh", "sh gpu", "cpp"]:
        failures.append(f"the right page's blocks are taken for {right}")
    for command in WRONG:
        for page in (f"```sh\n{command}\n```\n", f"```sh gpu\n{command}\n```\n", f"```sh run\n{command}\n```\n"):
            if len(wrong(page)) != 1:
                failures.append(f"in {page!r} is found: {wrong(page)}")
    for page in ("```\nls\n```\n", "```bash\nls\n```\n", "Text, `ctest -R layering`.\n", "Text:\n\n    scripts/none\n"):
        if len(wrong(page)) != 1:
            failures.append(f"in {page!r} is found: {wrong(page)}")
    if [line for block in blocks_of("page", "\n```sh\nls \\\n  a\nnone\n```\n") for line, _ in commands_of(block)] != [3, 5]:
        failures.append("lines are miscounted")
    print("\n".join(failures) or f"found {3 * len(WRONG) + 4} planted errors")
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.environ["PATH"] = os.pathsep.join([*sys.argv[3:], os.environ["PATH"]])
    sys.exit(check(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))

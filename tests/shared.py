"""What the tests in Python share."""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import types
import typing
import unittest


def argument(usage: str) -> pathlib.Path:
    """Takes the program's only argument, a path, from the command line."""
    if len(sys.argv) != 2:
        sys.exit(usage)
    sys.dont_write_bytecode = True
    return pathlib.Path(sys.argv.pop()).resolve()


def check(usage: str, self_test: typing.Callable[[], int], found_in: typing.Callable[[pathlib.Path], list[str]],
          nothing: str) -> typing.NoReturn:
    """Ends a program whose argument is --self-test, or a root in which it finds errors or, as it says, nothing."""
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    if len(sys.argv) != 2:
        print(usage, file=sys.stderr)
        sys.exit(2)
    found = found_in(pathlib.Path(sys.argv[1]))
    print("\n".join(found) or nothing)
    sys.exit(1 if found else 0)


def sources(root: pathlib.Path, folders: list[str], suffixes: set[str]) -> typing.Iterator[tuple[str, str]]:
    files = [file for folder in folders for file in sorted((root / folder).rglob("*")) if file.suffix in suffixes]
    if not files:
        print(f"no sources in {root}", file=sys.stderr)
        sys.exit(2)
    return ((file.relative_to(root).as_posix(), file.read_text()) for file in files)


def script(file: pathlib.Path) -> types.ModuleType:
    """A script without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(file.name.replace("-", "_"), str(file))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.modules[loader.name] = module
    loader.exec_module(module)
    return module


def row(name: str, us: float | None, **fields: object) -> dict:
    """The row of <operation>/<type>/<shape>/<library>[:<rung>][/hot]."""
    operation, dtype, shape, implementation, *hot = name.split("/")
    library, _, rung = implementation.partition(":")
    return {"operation": operation, "type": dtype, "shape": shape, "library": library, "rung": rung or None,
            "hot": bool(hot), "us": us, "spread": 0.01, "repetitions": 5, "calls": 10, "bytes": None,
            "bytes_written": None, "operations": None, "limit": None, "error": None} | fields


class InFolder(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.files = 0

    def file(self, content: object) -> pathlib.Path:
        self.files += 1
        file = self.folder / f"{self.files}.json"
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file

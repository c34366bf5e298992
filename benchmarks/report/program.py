"""What the programs here share: how they write files, and how they end."""

from __future__ import annotations

import os
import pathlib
import sys
import typing


def write(file: pathlib.Path, text: str) -> None:
    """Whole, or not at all."""
    partial = file.with_name(f"{file.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from None  # a full disk names none
    finally:
        partial.unlink(missing_ok=True)


def run(name: str, main: typing.Callable[[], int], failed: int) -> int:
    """The exit status of main. It is `failed`, and one line says why, where a file cannot be read or written or nothing be printed."""
    try:
        status = main()
        sys.stdout.flush()
        return status
    except UnicodeEncodeError as error:
        print(f"{name}: what cannot be written as {error.encoding}: {error.object[error.start:error.end]!a}", file=sys.stderr)
    except BrokenPipeError:  # who read it has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"{name}: {error.filename or 'what it prints'}: {error.strerror}", file=sys.stderr)
        if error.filename is None:  # else Python would try once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return failed


def fail(name: str, message: object) -> int:
    print(f"{name}: {message}", file=sys.stderr)
    return 1


def lacking(name: str, error: ImportError) -> int:
    return fail(name, f"{sys.executable} has no {error.name}; to install it: {sys.executable} -m pip install matplotlib, "
                      "or on Debian and Ubuntu: apt-get install python3-matplotlib")

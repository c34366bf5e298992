"""Whether git's history bears out what a record says of its sources: its commit, their digest, and the rungs there."""

from __future__ import annotations

import functools
import pathlib
import re
import subprocess
import tempfile

from record import Record

# Rungs are named in the headers' lists and enumerations, their kernels in the tables of src and kernels, other rows in
# benchmarks.
LIST = re.compile(r"#define HEDDLE_\w+_RUNGS\(RUNG[^)]*\)((?:.*\\\n)*.*)")
ENUMERATION = re.compile(r"enum class \w+_algorithm\w* \{(.*?)\}", re.DOTALL)
TABLE = re.compile(r"to_array<[^;]*?\n\}\);")
KERNEL = re.compile(r'\b(\w+), "(\1(?: \w+)+)"')  # after its rung: mma_sync, "mma_sync rows"


class Unknown(Exception):
    """Why it cannot be said, in one line."""


def git(root: pathlib.Path, *arguments: str) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(["git", "-C", root, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        raise Unknown("there is no git") from None


def rungs_in(tree: pathlib.Path) -> set[str]:
    """The names of rungs, and all words of the names of kernels."""
    names: set[str] = set()
    for header in tree.glob("include/heddle/*.hpp"):
        text = re.sub("//.*", "", header.read_text())
        for body in LIST.findall(text):
            names.update(re.findall(r"\b(?:RUNG|KERNELS)\((\w+)", body))
            names.update(re.findall(r"\bKERNEL\(\w+, (\w+)", body))
        for body in ENUMERATION.findall(text):
            names.update(re.findall(r"\w+", body))
    for file in tree.glob("src/*/*rungs.cpp"):
        text = file.read_text()
        for table in TABLE.findall(text):  # as they were: a variant at the end of a row
            names.update(re.findall(r'"(\w+)"', table))
        for _, kernel in KERNEL.findall(text):
            names.update(kernel.split())
    for file in tree.glob("kernels/*/kernels.hpp"):
        for kernel in re.findall(r'"(\w+(?: \w+)+)"', file.read_text()):
            names.update(kernel.split())
    for file in tree.glob("benchmarks/*.cpp"):
        names.update(re.findall(r'"heddle:(\w+)"', file.read_text()))
    return names


@functools.lru_cache(maxsize=None)
def sources_of(commit: str, root: pathlib.Path) -> tuple[str, frozenset[str]]:
    """The digest of a commit's sources, by its own script, and the names of its rungs."""
    with tempfile.TemporaryDirectory() as folder:
        archive = git(root, "archive", commit)
        archive.check_returncode()
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        digest = subprocess.run(["bash", f"{folder}/scripts/source-digest"], stdout=subprocess.PIPE, text=True, check=True)
        return digest.stdout.strip(), frozenset(rungs_in(pathlib.Path(folder)))


def contradictions(record: Record, root: pathlib.Path) -> list[str]:
    """A line each. @throws Unknown  without a history to tell by"""
    if git(root, "rev-parse", "--git-dir").returncode != 0:
        raise Unknown("there is no git repository")
    commit = str(record.content.get("commit") or "unknown").partition("-dirty")[0]
    if git(root, "merge-base", "--is-ancestor", commit, "HEAD").returncode != 0:
        if git(root, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true":
            raise Unknown(f"the clone is shallow and has no commit {commit[:10]}")
        return [f"the history here has no commit {commit[:10]}"]
    digest, rungs = sources_of(commit, root)
    found = []
    if record.content.get("sources_sha256") != digest:
        found.append(f"its digest of the sources is not that of its commit {commit[:10]}")
    named = dict.fromkeys(row.rung for row in record.rows if row.library == "heddle" and row.rung)
    lacking = [rung for rung in named if not set(rung.split("-")) <= rungs]
    return found + [f"its commit {commit[:10]} has no rung {rung}" for rung in lacking]


def kernels_changed_since(record: Record, root: pathlib.Path) -> list[str]:
    """The folders of kernels/ that differ from the record's commit, which is in the history."""
    commit = record.content["commit"].partition("-dirty")[0]
    changed = git(root, "diff", "--name-only", commit, "--", "kernels", ":!*.md").stdout.decode().splitlines()
    return sorted({pathlib.PurePath(line).parts[1] for line in changed if line.count("/") > 1})

#!/usr/bin/env python3
"""Checks that the tables of docs/accuracy.md name the additions and rescalings that tests/bounds hold each rung to.

usage: bounds_page.py ROOT         names every rung with other numbers on the page; exits 1 if there is one
       bounds_page.py --self-test  changes the page and the headers and fails unless each change is found
"""

import pathlib
import re

import shared

PAGE = "docs/accuracy.md"
# The first line of a table, the compared columns, and the function with the same content.
TABLES = [
    ("| softmax's rung | A | R |", (1, 2), "softmax.hpp", "softmax_steps_of"),
    ("| rung | A | R |", (1, 2), "loss.hpp", "loss_steps_of"),
    ("| rung | A, of softmax | A, of the norms |", (1,), "softmax.hpp", "softmax_gradient_depth"),
    ("| rung | A, of softmax | A, of the norms |", (2,), "norm.hpp", "norm_gradient_depth"),
]


def rows_of(page: str, heading: str):
    """The cells of a table's rows; `the same` repeats the cell before it."""
    if heading not in page:
        return
    for line in page.split(heading + "\n", 1)[1].splitlines()[1:]:
        if not line.startswith("|"):
            return
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        for i, cell in enumerate(cells):
            if cell == "the same":
                cells[i] = cells[i - 1]
        yield cells


def text_of(header: str, function: str) -> str:
    """A function as one line, with numbers and names as on the page."""
    body = header.split(f" {function}(", 1)[-1].split("\n}\n", 1)[0]
    return " ".join(re.sub(r"std::|\.0\b", "", body).split())


def differences(page: str, headers: dict[str, str]) -> list[str]:
    found = []
    for heading, columns, file, function in TABLES:
        rows = list(rows_of(page, heading))
        if not rows:
            found.append(f"{PAGE}: has no table {heading}")
        text = text_of(headers[file], function)
        for cells in rows:
            rung, values = cells[0].strip("`"), [cells[column] for column in columns]
            wanted = [f"{rung}{{{', '.join(values)}}}"] if len(values) > 1 else [f"{rung} = {values[0]}{end}" for end in ",;"]
            if not any(each in text for each in wanted):
                found.append(f"{PAGE}: {rung} has {', '.join(values)}, but not in {function}() of tests/bounds/{file}")
    return found


def self_test() -> int:
    tables = {heading: (len(heading.split("|")) - 3) * " n / 4 + 1 |" for heading, *_ in TABLES}
    page = "".join(f"{heading}\n|-|-|-|\n| `naive` |{cells}\n\n" for heading, cells in tables.items())
    headers = {"softmax.hpp": " softmax_steps_of(\nnaive{n / 4 + 1,\n n / 4.0 + 1};\n}\n"
                              " softmax_gradient_depth(\nnaive = n / 4 + 1;\n}\n",
               "loss.hpp": " loss_steps_of(\nnaive{n / 4 + 1, n / 4 + 1};\n}\n",
               "norm.hpp": " norm_gradient_depth(\nnaive = n / 4 + 1, strips = 3;\n}\n"}
    failures = [f"refused what is right: {each}" for each in differences(page, headers)]
    for heading, *_ in TABLES:
        if not differences(page.replace(heading, "| another |"), headers):
            failures.append(f"overlooked that there is no table {heading}")
    for file, text in headers.items():
        for at in (match.start() for match in re.finditer("1[,;}]", text)):
            if not differences(page, headers | {file: text[:at] + "2" + text[at + 1:]}):
                failures.append(f"overlooked a change of {file}")
    print("\n".join(failures) or "found every change")
    return 1 if failures else 0


def found_in(root: pathlib.Path) -> list[str]:
    headers = {file: (root / "tests/bounds" / file).read_text() for _, _, file, _ in TABLES}
    return differences((root / PAGE).read_text(), headers)


if __name__ == "__main__":
    shared.check(__doc__, self_test, found_in, "the tables agree with tests/bounds")

# SPDX-License-Identifier: MIT
"""The index of the decisions."""
import pathlib

from man_page import prose
from page_set import PageSet, table

_DIRECTORY = "development/decisions"


def write(root: pathlib.Path) -> PageSet:
    """Returns the index, and the navigation of the pages that it lists."""
    rows, nav = [], [f"{_DIRECTORY}/index.md"]
    for path in sorted((root / "docs" / _DIRECTORY).glob("[0-9]*.md")):
        lines = path.read_text(encoding="utf-8").splitlines()
        number, _, title = lines[0].removeprefix("# ").partition(": ")
        status = lines[2].removeprefix("**Status:** ").partition(",")[0]
        rows.append((number, f"[{title}]({path.name})", prose(status)))
        nav.append({f"{number}: {title}".replace("`", ""): f"{_DIRECTORY}/{path.name}"})
    return PageSet({f"{_DIRECTORY}/index.md": table(("Number", "Decision", "Status"), rows)}, nav)

# SPDX-License-Identifier: MIT
"""The table of renames: its rows, and which row applies to an occurrence."""

import csv
import gzip
import re
from typing import List, NamedTuple, Sequence, Tuple

COLUMNS = ["path", "old", "new", "kind"]
CODE_KINDS = ("keep", "identifier", "variable", "member", "qualified", "function")  # the later is the more specific
KINDS = (*CODE_KINDS, "file", "template", "docs")


class Problem(NamedTuple):
    """Why a row cannot be applied."""

    number: int  # line of the table
    text: str
    is_missing: bool = False  # the row matches nothing


class TableError(Exception):
    """The table cannot be read, or its rows cannot be applied."""

    def __init__(self, problems: Sequence[Problem]):
        super().__init__(f"{len(problems)} problems")
        self.problems = list(problems)


def read(path: str) -> str:
    """Returns the text of a table; a name with .gz is a compressed file."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return file.read()


class Row(NamedTuple):
    """One rename.

    `path` is a pattern: `*` is a part of a name, `**` any directories, `{a,b}` either; after `#` the declaration
    in which the rename applies. Kinds: `identifier` (every token), `variable` (not after `.`, `->` or `::`),
    `member` (after `.` or `->`), `qualified` (after `::`),
    `function` (before `(`), `file`, `template` (a key of the templates), `docs` (code spans of pages).
    `keep`, whose new name is the old one, excepts what a more general row would rename.
    `merge` after the kind allows that the new name is already used there.
    """

    number: int
    path: str
    scope: str
    old: str
    new: str
    kind: str
    merge: bool
    family: str  # the comment above the row

    def matches(self, path: str) -> bool:
        """True if the row is for this file."""
        return _pattern(self.path).fullmatch(path) is not None

    def has_wildcard(self) -> bool:
        """True if the row is for more than one file."""
        return any(sign in self.path for sign in "*?{")

    def rank(self) -> Tuple[bool, bool, int, int, int]:
        """Returns how specific the row is: of the rows for one occurrence the one with the highest rank applies."""
        kind = KINDS.index(self.kind)
        return (not self.has_wildcard(), self.scope != "", kind, len(self.path), len(self.scope))

    def shown(self) -> str:
        """Returns the row as it is written."""
        scope = "#" + self.scope if self.scope else ""
        return f"{self.path}{scope},{self.old},{self.new},{self.kind}{' merge' if self.merge else ''}"


_patterns: dict = {}


def _pattern(glob: str) -> "re.Pattern[str]":
    """Returns the regular expression of a path pattern."""
    if glob not in _patterns:
        parts = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]", "{": "(?:", "}": ")", ",": "|"}
        _patterns[glob] = re.compile(
            "".join(parts.get(part, re.escape(part)) for part in re.split(r"(\*\*/|\*\*|[*?{},])", glob))
        )
    return _patterns[glob]


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_]\w*", text) is not None


def _row_problem(row: Row) -> str:
    if row.kind not in KINDS:
        return f"unknown kind '{row.kind}': use one of {', '.join(KINDS)}"
    if not row.path or not row.old or not row.new:
        return "path, old and new must not be empty"
    if (row.old == row.new) != (row.kind == "keep"):
        return f"'{row.old}' is not renamed" if row.old == row.new else f"'{row.old}' must be the new name as well"
    if row.scope and row.kind not in CODE_KINDS:
        return f"'#{row.scope}' is for the kinds {', '.join(CODE_KINDS)}"
    if row.kind in CODE_KINDS and not (_is_name(row.old) and _is_name(row.new)):
        return f"'{row.old}' and '{row.new}' must be identifiers"
    if row.kind == "file" and ("/" in row.old or "/" in row.new):
        return "old and new are names of files: give the directory in the path"
    return ""


def parse(text: str) -> List[Row]:
    """Returns the rows of a table; a line with `#` names the family of the rows below it. Throws TableError."""
    rows: List[Row] = []
    problems: List[Problem] = []
    is_first = True
    family = ""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            family = line.lstrip("# ").rstrip()
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in next(csv.reader([line]))]
        if is_first:
            is_first = False
            if fields != COLUMNS:
                raise TableError([Problem(number, f"the first line must be '{','.join(COLUMNS)}'")])
            continue
        if len(fields) != len(COLUMNS):
            problems.append(Problem(number, f"{len(fields)} columns, must be {len(COLUMNS)}"))
            continue
        path, _, scope = fields[0].partition("#")
        kind, *flags = fields[3].split()
        row = Row(number, path, scope, fields[1], fields[2], kind, flags == ["merge"], family)
        problem = _row_problem(row) or ("" if flags in ([], ["merge"]) else f"unknown flag '{' '.join(flags)}'")
        if problem:
            problems.append(Problem(number, problem))
        rows.append(row)
    problems.extend(_contradictions(rows))
    if problems:
        raise TableError(problems)
    return rows


def _contradictions(rows: List[Row]) -> List[Problem]:
    """Returns the rows that repeat or contradict an earlier one."""
    seen = {}
    problems = []
    for row in rows:
        key = (row.path, row.scope, row.old, row.kind)
        if key in seen:
            problems.append(Problem(row.number, f"line {seen[key]} is for '{row.old}' in the same place"))
        seen.setdefault(key, row.number)
    return problems

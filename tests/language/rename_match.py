# SPDX-License-Identifier: MIT
"""Where the rows of a table of renames apply in a source, a comment, a template or a page."""

import re
from typing import Iterator, List, Optional, Tuple, Union

from cpp_scopes import CppNames, Word
from rename_table import Problem, Row

SEVERAL_WORDS = re.compile(r"\w_\w|[a-z0-9][A-Z]")  # a name that no sentence contains
_SPAN = re.compile(r"(`+)([^`\n]+)\1")


def ranges(row: Row, names: CppNames) -> List[Tuple[int, int]]:
    """Returns the parts of a source in which a row applies."""
    if not row.scope:
        return [(0, len(names.code))]
    return [(scope.begin, scope.end) for scope in names.scopes() if scope.is_called(row.scope)]


def contains(row: Row, word: Word, names: CppNames) -> bool:
    """True if an identifier is where a row applies."""
    return any(begin <= word.begin < end for begin, end in ranges(row, names))


def applies(row: Row, word: Word, names: CppNames) -> bool:
    """True if a row is for this identifier."""
    if row.kind == "variable" and (word.is_member or word.is_qualified):
        return False
    if row.kind == "member" and not word.is_member:
        return False
    if row.kind == "qualified" and not word.is_qualified:
        return False
    if row.kind == "function" and names.code[word.end : word.end + 80].lstrip()[:1] != "(":
        return False
    return contains(row, word, names)


def rows_for_comment(rows: List[Row], text: str, begin: int, end: int) -> List[Row]:
    """Returns the rows of the kind that a comment means: a function if `(` follows, otherwise a variable or type."""
    before = text[:begin]
    kinds = {"member"} if before.endswith((".", "->")) else {"qualified"} if before.endswith("::") else set()
    rows = [row for row in rows if row.kind in kinds or row.kind not in ("member", "qualified")]
    is_call = text[end : end + 1] == "("
    return [row for row in rows if (row.kind == "function") == is_call] or rows


def best(rows: List[Row]) -> Optional[Union[Row, Problem]]:
    """Returns the most specific row, or what is wrong if there are two."""
    if len(rows) < 2:
        return rows[0] if rows else None
    first, second = sorted(rows, key=lambda row: row.rank(), reverse=True)[:2]
    if first.rank() == second.rank() and first.new != second.new:
        return Problem(first.number, f"line {second.number} renames '{first.old}' in the same place")
    return first


def names_in_comment(text: str) -> Iterator[Tuple[int, str, bool]]:
    """Yields the words of a comment that can be names: those in backquotes first, in `///` the others, too."""
    for span in _SPAN.finditer(text):
        for match in re.finditer(r"(?<!\w)[A-Za-z_]\w*", span.group(2)):
            yield span.start(2) + match.start(), match.group(), True
    if text.startswith(("///", "/**")):
        for match in re.finditer(r"(?<!\w)[A-Za-z_]\w*", text):
            yield match.start(), match.group(), False


def key_uses(source: str, key: str) -> Iterator[int]:
    """Yields where a template uses a key."""
    for match in re.finditer(r"\{\{\{?[ \t]*[#/^&]?[ \t]*(%s)[ \t]*\}\}" % re.escape(key), source):
        yield match.start(1)


def span_uses(source: str, name: str) -> Iterator[int]:
    """Yields where a code span of a page has a name."""
    for span in _SPAN.finditer(source):
        for match in re.finditer(r"(?<![\w-])%s(?![\w-])" % re.escape(name), span.group(2)):
            yield span.start(2) + match.start()

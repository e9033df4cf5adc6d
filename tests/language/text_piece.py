# SPDX-License-Identifier: MIT
"""Pieces of the text that the gate reads, with the line of each character."""

import bisect
import re
from typing import List, NamedTuple, Sequence, Tuple

FILLER = "\0"  # stands for a character that is not prose; no pattern matches it


class Place(NamedTuple):
    """Where something was found, and the text around it."""

    path: str
    line: int
    text: str


class LineIndex:
    """Line numbers of the offsets of one file."""

    def __init__(self, source: str):
        self._starts = [0] + [match.end() for match in re.finditer("\n", source)]

    def line_of(self, offset: int) -> int:
        """Returns the line of an offset, counted from 1."""
        return bisect.bisect_right(self._starts, offset)


class Piece:
    """One text (a paragraph, a string literal, a comment), put together from segments of a file."""

    def __init__(self, path: str, lines: LineIndex, segments: Sequence[Tuple[int, str]], joint: str = ""):
        """Joins segments, each with its offset in the file."""
        self.path = path
        self._lines = lines
        self._begins: List[int] = []  # of the segments, in the piece
        self._offsets: List[int] = []  # of the segments, in the file
        parts: List[str] = []
        length = 0
        for offset, text in segments:
            if parts:
                parts.append(joint)
                length += len(joint)
            self._begins.append(length)
            self._offsets.append(offset)
            parts.append(text)
            length += len(text)
        self.text = "".join(parts)

    def line_at(self, position: int) -> int:
        """Returns the line in the file of a position in the piece."""
        index = bisect.bisect_right(self._begins, position) - 1
        return self._lines.line_of(self._offsets[index] + position - self._begins[index])

    def place(self, begin: int, end: int) -> Place:
        """Returns the place of a match, with up to 40 characters of text on each side."""
        return Place(self.path, self.line_at(begin), self.around(begin, end, 40))

    def around(self, begin: int, end: int, width: int) -> str:
        """Returns the text from `width` characters before a match to `width` after it, on one line."""
        return " ".join(self.text[max(0, begin - width) : end + width].split())


def fillers(text: str) -> str:
    """Returns the text with all characters but line ends replaced by fillers."""
    return re.sub(r"[^\n]", FILLER, text)


_TECHNICAL = re.compile(
    r"""(?P<code>(?P<ticks>`+)(?P<inside>[^`]+)(?P=ticks))
      | (?P<other>
          \w+://[^\s)>\]]+                          # URL
        | \{\{[^}\n]*\}\}+                          # tag of a template
        | \$\{[^}\n]*\} | \$\w+                     # variable of a shell
        | \{[^{}\s]*\}                              # placeholder of a format string
        | \b\w+(?:::\w+)+ | \b\w*[A-Za-z0-9]_\w+    # identifier
        | (?<![\w/])(?:~|\.{1,2})?/[\w.\-/]+        # path
        | \b[\w./\-]+\.(?:cpp|hpp|md|json|sh|py|mustache|yml|toml|txt|log|so)\b
        )
      | (?P<option>(?<![\w\-])--(?P<name>[A-Za-z][\w\-]*))""",
    re.VERBOSE,
)


def _filled(match: "re.Match[str]") -> str:
    text = match.group()
    if match.lastgroup == "option":
        return "--" + FILLER * (len(text) - 2)
    if match.lastgroup == "other":
        return FILLER * len(text)
    ticks = match.group("ticks")
    kept = "--" if match.group("inside").startswith("--") else ""
    inside = kept + fillers(match.group("inside")[len(kept) :])
    return ticks + inside + ticks


def prose_of(text: str) -> str:
    """Returns the text in lower case with code, URLs, paths, options and identifiers replaced by fillers.

    The result has the length of the text. Options and inline code that begins with one keep their dashes.
    """
    prose = _TECHNICAL.sub(_filled, text)
    lower = prose.lower()
    return lower if len(lower) == len(prose) else "".join(c.lower() if len(c.lower()) == 1 else c for c in prose)

# SPDX-License-Identifier: MIT
"""Comments, literals and code of C++ sources."""

import re
from typing import Iterator, List, NamedTuple, Tuple

from text_piece import FILLER, LineIndex, Piece

# Numbers and directives are tokens so that an apostrophe or a quote in them opens no literal. Each token is found by
# one character, which makes the search fast; a lookbehind checks what precedes that character.
_TOKEN = re.compile(
    r"""["'/\#0-9](?:
        (?P<comment>(?<=/)(?:/(?:\\\r?\n|[^\n])*|\*.*?(?:\*/|\Z)))
      | (?P<raw>(?:(?<=\bR")|(?<=\b[uUL]R")|(?<=\bu8R"))(?P<mark>[^\s()\\]{0,16})\((?P<body>.*?)(?:\)(?P=mark)"|\Z))
      | (?P<header>(?<=\b__has_include\(")[^"\n]*")
      | (?P<string>(?<=")(?P<text>(?:\\\r?\n|\\.|[^"\\\n])*)(?:"|(?=\n)|\Z))
      | (?P<char>(?<=')(?:\\.|[^'\\\n])*(?:'|(?=\n)|\Z))
      | (?P<number>(?<=\b[0-9])(?:'?\w|\.)*)
      | (?P<directive>(?<=\#)[ \t]*(?:(?:include|import)(?:_next)?[ \t]*(?:<[^>\n]*>|"[^"\n]*")
                    |(?:error|warning|line|pragma)\b(?:\\\r?\n|[^\n/]|/(?![/*]))*))
      )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:\r?\n|x[0-9A-Fa-f]+|[0-7]{1,3}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_TEST_MACRO = re.compile(
    r"\b(?:(?:TEMPLATE_(?:PRODUCT_|LIST_)?)?TEST_CASE|SCENARIO|(?:DYNAMIC_)?SECTION)\s*\("
    r"|\b(?:TEMPLATE_(?:PRODUCT_)?)?TEST_CASE_METHOD\s*\([^,()]*,"
)
_BEFORE_QUOTE = re.compile(r"\s*(?:(?:u8|[uUL])?R?(?=\"))?")  # the token of a literal begins at its quote


class Token(NamedTuple):
    """A comment, a literal, a number or a directive."""

    kind: str
    begin: int
    end: int


def _decoded(match: "re.Match[str]") -> str:
    """Returns what stands for an escape sequence: as many characters."""
    escape = match.group()
    if escape[1] in "ntrvf\n\r":
        return " " * len(escape)
    if escape[1] in "\"'\\?":
        return " " + escape[1]
    return FILLER * len(escape)


class Literal(NamedTuple):
    """A string literal as it is written, adjacent ones joined."""

    begin: int
    end: int
    text: str


class CppSource:
    """One C++ source, cut into tokens."""

    def __init__(self, path: str, source: str):
        self.path = path
        self.source = source
        self.lines = LineIndex(source)
        self._matches = list(_TOKEN.finditer(source))

    def tokens(self) -> List[Token]:
        """Returns all tokens, raw strings as strings."""
        return [
            Token("string" if m.lastgroup == "raw" else str(m.lastgroup), m.start(), m.end()) for m in self._matches
        ]

    def code(self) -> str:
        """Returns the source with comments, literals and directives replaced by spaces, lines unchanged."""
        parts: List[str] = []
        done = 0
        for match in self._matches:
            if match.lastgroup == "number":
                continue
            parts.append(self.source[done : match.start()])
            token = match.group()
            parts.append(re.sub(r"[^\n]", " ", token) if "\n" in token else " " * len(token))
            done = match.end()
        parts.append(self.source[done:])
        return "".join(parts)

    def _segment(self, match: "re.Match[str]") -> Tuple[int, str]:
        if match.lastgroup == "raw":
            return match.start("body"), match.group("body")
        text = match.group("text")
        return match.start("text"), _ESCAPE.sub(_decoded, text) if "\\" in text else text

    def _literal_runs(self) -> Iterator[List["re.Match[str]"]]:
        """Yields the string literals, those that the compiler joins together."""
        run: List["re.Match[str]"] = []
        end = 0
        for match in self._matches:
            if match.lastgroup not in ("raw", "string"):
                if match.lastgroup == "comment" and run and not self.source[end : match.start()].strip():
                    end = match.end()
                continue
            if run and _BEFORE_QUOTE.match(self.source, end).end() != match.start():
                yield run
                run = []
            run.append(match)
            end = match.end()
        if run:
            yield run

    def literal_texts(self) -> List[Literal]:
        """Returns the string literals with their escape sequences."""
        return [
            Literal(run[0].start(), run[-1].end(), "".join(m.group("body") or m.group("text") or "" for m in run))
            for run in self._literal_runs()
        ]

    def literals(self) -> List[Piece]:
        """Returns the string literals; adjacent ones are one piece."""
        return [Piece(self.path, self.lines, [self._segment(match) for match in run]) for run in self._literal_runs()]

    def comments(self) -> List[Piece]:
        """Returns the comments; those of consecutive lines are one piece."""
        pieces: List[Piece] = []
        segments: List[Tuple[int, str]] = []
        end = 0
        for match in self._matches:
            if match.lastgroup != "comment":
                continue
            gap = self.source[end : match.start()]
            if segments and (gap.strip() or gap.count("\n") > 1):
                pieces.append(Piece(self.path, self.lines, segments, "\n"))
                segments = []
            segments.extend(_comment_lines(match.start(), match.group()))
            end = match.end()
        if segments:
            pieces.append(Piece(self.path, self.lines, segments, "\n"))
        return pieces

    def test_names(self, code: str) -> List[Piece]:
        """Returns the names of test cases and sections; `code` is that of this source."""
        begins = {_BEFORE_QUOTE.match(self.source, match.end()).end() for match in _TEST_MACRO.finditer(code)}
        if not begins:
            return []
        return [
            Piece(self.path, self.lines, [self._segment(match) for match in run])
            for run in self._literal_runs()
            if run[0].start() in begins
        ]


def _comment_lines(offset: int, comment: str) -> Iterator[Tuple[int, str]]:
    """Yields the lines of a comment without its signs, each with its offset in the file."""
    if comment.startswith("/*"):
        comment = comment[:-2] + "  " if comment.endswith("*/") and len(comment) >= 4 else comment
    sign = re.compile(r"[ \t]*(?:/\*+!?<?|\*+(?!\*)|//[/!]*<?)?[ \t]?")
    for line in comment.splitlines(keepends=True):
        match = sign.match(line)
        skipped = match.end() if match else 0
        yield offset + skipped, line[skipped:].rstrip("\r\n\\")
        offset += len(line)

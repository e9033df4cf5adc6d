# SPDX-License-Identifier: MIT
"""The prose of Markdown pages: paragraphs, list items, headings and table rows, without code."""

import re
from typing import List, NamedTuple, Tuple

from text_piece import FILLER, LineIndex, Piece, fillers

_FENCE = re.compile(r"^\s*(?:>\s?)*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s")
_ITEM = re.compile(r"^\s*(?:>\s?)*\s*(?:[-*+]|\d+[.)])\s+")
_TABLE = re.compile(r"^\s*\|")
_RULE = re.compile(r"^\s*(?:[-*_=]\s*){3,}$")
_DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TARGET = re.compile(r"(?<=\]\()[^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"\n]*\")?(?=\))|<[a-zA-Z/][^>\n]*>")


class Block(NamedTuple):
    """One block of a page. Kinds: paragraph, item, heading, row."""

    kind: str
    piece: Piece


class _Page:
    """Collects the lines of a page into blocks."""

    def __init__(self, path: str, source: str):
        self.path = path
        self.lines = LineIndex(source)
        self.blocks: List[Block] = []
        self._kind = ""
        self._segments: List[Tuple[int, str]] = []

    def close(self) -> None:
        if self._segments:
            self.blocks.append(Block(self._kind, Piece(self.path, self.lines, self._segments, "\n")))
        self._segments = []

    def start(self, kind: str, offset: int, text: str) -> None:
        self.close()
        self._kind = kind
        self._segments = [(offset, text)]

    def extend(self, offset: int, text: str) -> None:
        if self._segments and self._kind in ("paragraph", "item"):
            self._segments.append((offset, text))
        else:
            self.start("paragraph", offset, text)


def blocks(path: str, source: str) -> List[Block]:
    """Returns the blocks of a page; without code blocks, HTML comments and the targets of links."""
    text = _COMMENT.sub(lambda match: fillers(match.group()), source)
    page = _Page(path, source)
    fence = ""
    in_list = after_blank = False
    offset = 0
    for line in text.splitlines(keepends=True):
        begin, offset = offset, offset + len(line)
        line = line.rstrip("\r\n")
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            continue
        if mark:
            fence = mark.group(1)
            page.close()
            continue
        if not line.strip(" \t\0"):
            page.close()
            after_blank = True
            in_list = in_list and not line.startswith(FILLER)
            continue
        indented = line.startswith(("    ", "\t"))
        is_code = indented and after_blank and not in_list
        if not indented and after_blank and not _ITEM.match(line) and not line.startswith(" "):
            in_list = False
        if not is_code:
            after_blank = False
            in_list = _add_line(page, begin, line) or in_list
    page.close()
    return page.blocks


def _add_line(page: _Page, begin: int, line: str) -> bool:
    """Adds one line of prose to the page. Returns whether it begins a list item."""
    line = _TARGET.sub(lambda match: fillers(match.group()), line)
    item = _ITEM.match(line)
    if _RULE.match(line) or _DEFINITION.match(line):
        page.close()
    elif _HEADING.match(line):
        page.start("heading", begin, line)
    elif _TABLE.match(line):
        page.start("row", begin, line)
    elif item:
        page.start("item", begin + item.end(), line[item.end() :])
    else:
        quote = _QUOTE.match(line)
        skipped = quote.end() if quote else 0
        page.extend(begin + skipped, line[skipped:])
    return bool(item)


def top_section(source: str) -> str:
    """Returns a changelog up to the second of its sections: the changes that are not released."""
    sections = list(re.finditer(r"^## ", source, re.MULTILINE))
    return source[: sections[1].start()] if len(sections) > 1 else source

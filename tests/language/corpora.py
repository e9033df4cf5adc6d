# SPDX-License-Identifier: MIT
"""The texts that the gate reads, by kind: documentation, literals, comments, templates, test names."""

import os
import re
from typing import Dict, Iterator, List, Tuple

import markdown_prose
from cpp_tokens import CppSource
from text_piece import LineIndex, Piece

CPP_SUFFIXES = (".cpp", ".hpp", ".h", ".cc")
CORPORA = ("docs", "messages", "templates", "comments", "test-names")


def files_below(root: str, directory: str, suffixes: Tuple[str, ...]) -> Iterator[str]:
    """Yields the paths below a directory of the repository, relative to its root and sorted."""
    for parent, names, files in os.walk(os.path.join(root, directory)):
        names[:] = sorted(name for name in names if not name.startswith((".", "__pycache__")))
        for name in sorted(files):
            if name.endswith(suffixes):
                yield os.path.relpath(os.path.join(parent, name), root).replace(os.sep, "/")


def read(root: str, path: str) -> str:
    """Returns the text of a file, with its line ends unchanged."""
    with open(os.path.join(root, path), encoding="utf-8", errors="replace", newline="") as file:
        return file.read()


def pages(root: str) -> List[Tuple[str, List[markdown_prose.Block]]]:
    """Returns the Markdown pages with their blocks; of the changelog only what is not released."""
    paths = [path for path in ("README.md", "CHANGELOG.md") if os.path.exists(os.path.join(root, path))]
    paths.extend(files_below(root, "docs", (".md",)))
    result = []
    for path in paths:
        text = read(root, path)
        if path == "CHANGELOG.md":
            text = markdown_prose.top_section(text)
        result.append((path, markdown_prose.blocks(path, text)))
    return result


def template_pieces(path: str, source: str) -> List[Piece]:
    """Returns the lines of a template; comments of consecutive lines are one piece."""
    lines = LineIndex(source)
    pieces: List[Piece] = []
    comment: List[Tuple[int, str]] = []
    offset = 0
    for line in source.splitlines(keepends=True):
        begin, offset = offset, offset + len(line)
        text = line.rstrip("\r\n")
        sign = re.match(r"\s*#+(?!!)\s?", text)
        if sign:
            comment.append((begin + sign.end(), text[sign.end() :]))
            continue
        if comment:
            pieces.append(Piece(path, lines, comment, "\n"))
            comment = []
        if text.strip():
            pieces.append(Piece(path, lines, [(begin, text)]))
    if comment:
        pieces.append(Piece(path, lines, comment, "\n"))
    return pieces


class Texts:
    """All texts of a repository: pieces by corpus, pages, and the code of C++ sources."""

    def __init__(self, root: str):
        self.pages = pages(root)
        self.corpora: Dict[str, List[Piece]] = {name: [] for name in CORPORA}
        self.code: List[Tuple[str, str]] = []
        self.corpora["docs"] = [block.piece for _, page in self.pages for block in page]
        for path in files_below(root, "templates", ("",)):
            self.corpora["templates"].extend(template_pieces(path, read(root, path)))
        for directory in ("include", "src", "tests"):
            for path in files_below(root, directory, CPP_SUFFIXES):
                self._add_source(CppSource(path, read(root, path)), directory == "tests")

    def _add_source(self, source: CppSource, is_test: bool) -> None:
        code = source.code()
        self.code.append((source.path, code))
        if is_test:
            self.corpora["test-names"].extend(source.test_names(code))
            return
        self.corpora["messages"].extend(source.literals())
        self.corpora["comments"].extend(source.comments())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renames identifiers, files and keys of templates by a table.

Usage: python3 tests/language/rename.py {check,apply} TABLE [--allow-missing] [--again] [--family NAME]
Nothing changes unless all rows can be applied. Exit codes: 0 applied, 1 a row is refused, 2 usage.
"""

import argparse
import os
import re
import subprocess
import sys
from typing import Dict, Iterator, List, NamedTuple, Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import corpora  # noqa: E402
from cpp_scopes import CppNames, Word  # noqa: E402
from rename_match import (  # noqa: E402
    SEVERAL_WORDS,
    applies,
    best,
    contains,
    key_uses,
    names_in_comment,
    ranges,
    rows_for_comment,
    span_uses,
)
from rename_table import CODE_KINDS, Problem, Row, TableError, parse, read  # noqa: E402
from text_piece import LineIndex  # noqa: E402

CODE_DIRECTORIES = ("include", "src", "tests", "docs")


class Edit(NamedTuple):
    """A replacement in one file."""

    begin: int
    end: int
    row: Row


class Plan:
    """What the rows change in a repository."""

    def __init__(self, root: str, rows: List[Row], is_repeated: bool = False):
        """Plans the changes. `is_repeated`: the table was applied before, so that its new names are used."""
        self.root = root
        self.is_repeated = is_repeated
        self.rows = rows
        self.edits: Dict[str, List[Edit]] = {}
        self.texts: Dict[str, str] = {}
        self.moves: Dict[str, str] = {}
        self._rows_of_moves: Dict[str, Row] = {}
        self.problems: List[Problem] = []
        self._type_problems: List[Problem] = []  # they count if the row matches anything
        self._types: Dict[int, Dict[str, str]] = {}  # by row: the types that its old name is declared with
        self._uses: Dict[int, int] = {row.number: 0 for row in rows}
        self._plan_files()
        for path in self._sources():
            self._plan_source(path)
        self._plan_texts()
        self._check_rows()

    def _sources(self) -> Iterator[str]:
        for directory in CODE_DIRECTORIES:
            yield from corpora.files_below(self.root, directory, corpora.CPP_SUFFIXES)

    def _read(self, path: str) -> str:
        if path not in self.texts:
            self.texts[path] = corpora.read(self.root, path)
        return self.texts[path]

    def _add(self, path: str, begin: int, end: int, row: Row) -> None:
        self.edits.setdefault(path, []).append(Edit(begin, end, row))
        self._uses[row.number] += 1

    # Sources

    def _plan_source(self, path: str) -> None:
        rows = [row for row in self.rows if row.matches(path)]
        code_rows = [row for row in rows if row.kind in CODE_KINDS]
        template_rows = [row for row in rows if row.kind == "template"]
        source = self._read(path)
        self._plan_includes(path, source)
        self._check_types(path, source, code_rows)
        if not any(row.old in source for row in code_rows + template_rows):
            return
        names = CppNames(path, source)
        self._plan_words(names, code_rows)
        self._plan_comments(names, code_rows)
        for token in names.cpp.tokens() if template_rows else []:
            for row in template_rows:
                if token.kind == "string" and source[token.begin : token.end] == f'"{row.old}"':
                    self._add(path, token.begin + 1, token.end - 1, row)

    def _check_types(self, path: str, source: str, rows: List[Row]) -> None:
        """Refuses a new name of a type that a file of the pattern has, whether or not the file has the old one."""
        for row in rows:
            if row.new[0].isupper() and row.has_wildcard() and not row.merge and row.new in source:
                names = CppNames(path, source)
                for word in names.words:
                    if word.text == row.new:
                        line = names.cpp.lines.line_of(word.begin)
                        text = f"'{row.new}' is already used in {path}:{line}: choose another name for '{row.old}'"
                        self._type_problems.append(Problem(row.number, text))
                        return

    def _plan_words(self, names: CppNames, rows: List[Row]) -> None:
        by_old: Dict[str, List[Row]] = {}
        for row in rows:
            by_old.setdefault(row.old, []).append(row)
        new_words: Dict[int, str] = {}
        for word in names.words:
            row = best([row for row in by_old.get(word.text, []) if applies(row, word, names)])
            if isinstance(row, Problem):
                self.problems.append(row)
            elif row is not None and row.kind == "keep":
                self._uses[row.number] += 1
            elif row is not None:
                self._add(names.path, word.begin, word.end, row)
                new_words[word.begin] = row.new
        for row in rows:
            self._note_types(names, row)
            if not (row.merge or self.is_repeated):
                self._check_collision(names, row, new_words)

    def _check_collision(self, names: CppNames, row: Row, new_words: Dict[int, str]) -> None:
        """Refuses a new name that something else has where the row applies."""
        edits = [e for e in self.edits.get(names.path, []) if e.row == row]
        if not edits:
            return
        before = {word.begin for word in names.words if word.text == row.new}
        merged = {e.begin for e in self.edits[names.path] if e.row.new == row.new and e.row.old != row.old}
        for begin, end in ranges(row, names):
            if not any(begin <= edit.begin < end for edit in edits):
                continue
            for word in names.words:
                is_other = (word.begin in before and word.begin not in new_words) or word.begin in merged
                is_found = word.is_member if row.kind == "member" else not (word.is_member or word.is_qualified)
                if begin <= word.begin < end and is_other and is_found:
                    line = names.cpp.lines.line_of(word.begin)
                    what = "is already used" if word.begin in before else f"is the new name of '{word.text}' as well"
                    text = f"'{row.new}' {what} in {names.path}:{line}: choose another name for '{row.old}'"
                    self.problems.append(Problem(row.number, text))
                    return

    def _note_types(self, names: CppNames, row: Row) -> None:
        """Notes what a row for several files renames: rows for one file or one declaration are deliberate."""
        begins = {edit.begin for edit in self.edits.get(names.path, []) if edit.row == row}
        if not begins or not row.has_wildcard() or row.scope:
            return
        for type_name, offsets in names.declared_types(row.old).items():
            for offset in begins.intersection(offsets):
                place = f"{names.path}:{names.cpp.lines.line_of(offset)}"
                self._types.setdefault(row.number, {}).setdefault(type_name, place)

    def _plan_comments(self, names: CppNames, rows: List[Row]) -> None:
        """Renames what a comment names: in backquotes, and in `///` a name that is not a word of the language."""
        source = names.cpp.source
        for token in names.cpp.tokens():
            if token.kind != "comment":
                continue
            text = source[token.begin : token.end]
            done = set()
            for begin, word, is_code in names_in_comment(text):
                place = Word(word, token.begin + begin, token.begin + begin + len(word), False, False)
                found = [row for row in rows if row.old == word and contains(row, place, names)]
                row = best(rows_for_comment(found, text, begin, begin + len(word)))
                if not isinstance(row, Row) or row.kind == "keep":
                    continue
                if (is_code or SEVERAL_WORDS.search(word)) and begin not in done:
                    self._add(names.path, place.begin, place.end, row)
                    done.add(begin)

    # Files, templates and pages

    def _plan_files(self) -> None:
        directories = ("cmake", "docs", "include", "src", "templates", "tests")
        rows = [row for row in self.rows if row.kind == "file"]
        names: List[str] = []
        for directory in directories if rows else ():
            for path in corpora.files_below(self.root, directory, ("",)):
                parent, name = os.path.split(path)
                names.append(name)
                for row in rows:
                    if name != row.old or not row.matches(path):
                        continue
                    target = f"{parent}/{row.new}"
                    self._uses[row.number] += 1
                    if os.path.exists(os.path.join(self.root, target)) or target in self.moves.values():
                        self.problems.append(Problem(row.number, f"{target} exists already: choose another name"))
                    self.moves[path] = target
                    self._rows_of_moves[path] = row
        self._unique_names = {row.old for row in rows if names.count(row.old) == 1}

    def _plan_includes(self, path: str, source: str) -> None:
        for match in re.finditer(r'#[ \t]*include[ \t]*["<]([^">\n]+)[">]', source) if self.moves else ():
            included = match.group(1)
            for moved, row in self._rows_of_moves.items():
                if os.path.basename(included) != row.old:
                    continue
                beside = os.path.normpath(os.path.join(os.path.dirname(path), included))
                if moved in (beside, f"src/{included}", f"include/{included}", f"tests/{included}"):
                    begin = match.end(1) - len(row.old)
                    self._add(path, begin, match.end(1), row)

    def _plan_texts(self) -> None:
        """Renames keys of templates, code spans of pages, and moved files that a page or CMake names."""
        rows = [row for row in self.rows if row.kind in ("template", "docs")]
        if not rows and not self.moves:
            return
        pages = [p for p in ("README.md", "CHANGELOG.md", "CMakeLists.txt") if os.path.exists(self.root + "/" + p)]
        for directory in ("cmake", "docs", "src", "templates", "tests"):
            pages.extend(corpora.files_below(self.root, directory, (".md", ".mustache", "CMakeLists.txt", ".cmake")))
        for path in pages:
            source = self._read(path)
            for moved, row in self._rows_of_moves.items():
                short = moved.partition("/")[2]
                for match in re.finditer(r"(?<![\w.-])(?:src/)?%s(?!\w)" % re.escape(short), source):
                    self._add(path, match.end() - len(row.old), match.end(), row)
            for row in self._rows_of_moves.values() if path.endswith(".md") else ():
                for begin in span_uses(source, row.old) if row.old in self._unique_names else ():
                    if source[begin - 1] != "/":
                        self._add(path, begin, begin + len(row.old), row)
            for row in rows:
                if not row.matches(path) or path.endswith(".mustache") != (row.kind == "template"):
                    continue
                for begin in key_uses(source, row.old) if row.kind == "template" else span_uses(source, row.old):
                    self._add(path, begin, begin + len(row.old), row)

    def _check_rows(self) -> None:
        olds = {(row.old, row.path) for row in self.rows}
        if not self.is_repeated:
            self.problems.extend(problem for problem in self._type_problems if self._uses[problem.number])
        for row in self.rows:
            if self._uses[row.number] == 0:
                text = f"'{row.old}' does not occur in {row.path}{'#' + row.scope if row.scope else ''}"
                self.problems.append(Problem(row.number, text, is_missing=True))
            if (row.new, row.path) in olds and row.kind not in ("file", "keep"):
                self.problems.append(Problem(row.number, f"'{row.new}' is itself renamed in {row.path}"))
            types = self._types.get(row.number, {})
            if len(types) > 1:
                found = ", ".join(f"{name} ({place})" for name, place in sorted(types.items())[:4])
                text = f"'{row.old}' names different things: {found}: use a row for each path"
                self.problems.append(Problem(row.number, text))

    def write(self) -> Tuple[int, int]:
        """Changes and moves the files. Returns the number of replacements and of changed files."""
        count = 0
        for path, edits in self.edits.items():
            text = self.texts[path]
            for edit in sorted(set(edits), reverse=True):
                text = text[: edit.begin] + edit.row.new + text[edit.end :]
                count += 1
            with open(os.path.join(self.root, path), "w", encoding="utf-8", newline="") as file:
                file.write(text)
        for old, new in self.moves.items():
            subprocess.run(["git", "-C", self.root, "mv", old, new], check=True)
        return count, len(self.edits)


def run(options: argparse.Namespace) -> int:
    """Checks or applies the table. Returns the exit code."""
    rows = [row for row in parse(read(options.table)) if options.family in (None, row.family)]
    if not rows:
        print(f"error: {options.table} has no family '{options.family}'", file=sys.stderr)
        return 2
    plan = Plan(options.root, rows, options.again)
    allow_missing = options.allow_missing or options.again
    missing = [problem for problem in plan.problems if problem.is_missing]
    wrong = [problem for problem in plan.problems if not problem.is_missing]
    for problem in missing:
        level = "warning" if allow_missing else "error"
        print(f"{level}: {options.table}:{problem.number}: {problem.text}")
    if wrong or (missing and not allow_missing):
        raise TableError(wrong)
    if options.command == "apply":
        count, files = plan.write()
        print(f"renamed {count} occurrences in {files} files, moved {len(plan.moves)} files")
    else:
        print(f"{len(rows)} rows can be applied, {len(missing)} match nothing")
    return 0


def main(arguments: List[str]) -> int:
    """Runs the program. Returns its exit code."""
    parser = argparse.ArgumentParser(description="Renames identifiers, files and keys of templates by a table.")
    parser.add_argument("command", choices=("check", "apply"))
    parser.add_argument("table", help="a CSV file with the columns path,old,new,kind")
    parser.add_argument("--allow-missing", action="store_true", help="only warn about rows that match nothing")
    parser.add_argument(
        "--again", action="store_true", help="the table was applied before: rename what still has an old name"
    )
    parser.add_argument("--family", metavar="NAME", help="use only the rows below the comment '# NAME'")
    default_root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--root", default=default_root, help="the repository [default: that of this file]")
    options = parser.parse_args(arguments)
    try:
        return run(options)
    except TableError as error:
        for problem in error.problems:
            print(f"error: {options.table}:{problem.number}: {problem.text}", file=sys.stderr)
        print("hint: nothing was changed; correct the rows and run it again", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

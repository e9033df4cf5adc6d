#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Proves that renames change no code: compares the object files of two builds.

Usage: python3 tests/language/compare_objects.py BEFORE AFTER --table renames.csv [--roots OLD NEW]
BEFORE and AFTER are build directories, both made with
  cmake -DHPCML_UNITY=OFF -DCMAKE_CXX_FLAGS=-DCATCH_CONFIG_DISABLE_STRINGIFICATION
The flag keeps the text of each REQUIRE, which a rename changes, out of the tests' code.
The functions, constants and data of each object are compared as multisets, with names mapped through the table.
Exit codes: 0 no difference but in texts that name what was renamed, 1 other differences, 2 usage.
"""

import argparse
import collections
import os
import re
import subprocess
import sys
from typing import Counter, Dict, Iterable, Iterator, List, NamedTuple, Sequence, Set, Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from elf_object import ALLOCATED, EXECUTABLE, MERGED, STRINGS, ElfError, ElfObject, Relocation, Section  # noqa: E402
from rename_table import CODE_KINDS, Row, TableError, parse, read  # noqa: E402

_PC_RELATIVE = {2, 4, 9, 26, 41, 42}  # PC32, PLT32, GOTPCREL, GOTPC32, GOTPCRELX, REX_GOTPCRELX
_MANGLED = re.compile(r"(?:_GLOBAL__(?:sub_)?[ID]_)?_Z\w")
_MANGLED_TYPE = re.compile(r"(?:^|\.)_ZTS")
_WORD = re.compile(r"[A-Za-z_]\w*")
_LENGTH = re.compile(r"S[0-9A-Z]*_|[TE]\d+_|(\d+)")  # after what refers to earlier parts: the length of an identifier
_SECTION = re.compile(r"(?:\.(?:text|rodata|data|bss|rel|ro|local)\b)*")  # the beginning of a section's name


class Item(NamedTuple):
    """A section in the form in which it is compared."""

    name: str
    flags: int
    content: bytes
    relocations: Tuple[str, ...]


class _Collector(dict):
    """Collects the names that are looked up."""

    def __init__(self, names: Set[str]):
        super().__init__()
        self._names = names

    def get(self, key: str, default: str = "") -> str:  # type: ignore[override]
        self._names.add(key)
        return default


class Names:
    """Maps names through the table: an old and its new names have one representative."""

    def __init__(self, rows: Iterable[Row]):
        self._rows = [row for row in rows if row.kind in CODE_KINDS]
        self._files = {row.old: row.new for row in rows if row.kind == "file"}
        self._in_texts = _representatives(self._rows)
        self._in_symbols: Dict[str, str] = {}
        self._demangled: Dict[str, str] = {}

    def use_symbols(self, before: Set[str], after: Set[str]) -> None:
        """Maps in symbols only what is in them, so that names of variables make no functions equal."""
        self._in_symbols = _representatives([row for row in self._rows if row.old in before and row.new in after])

    def words(self, symbols: Iterable[str]) -> Set[str]:
        """Returns the identifiers in the C++ names of symbols."""
        words = set()
        for name in symbols:
            text = self._demangled.get(_mangled_part(name), name)
            words.update(_WORD.findall(text))
            if text == _mangled_part(name):
                map_source_names(text, _Collector(words))
        return words

    def text(self, text: str) -> str:
        """Returns a text with the identifiers and names of files in it mapped."""
        for old, new in self._files.items():
            text = text.replace(old, new)
        return _WORD.sub(lambda match: self._in_texts.get(match.group(), match.group()), text)

    def path(self, path: str) -> str:
        """Returns the path that an object has after the renames of files."""
        parent, name = os.path.split(path)
        stem = name[: -len(".o")]
        return os.path.join(parent, self._files.get(stem, stem) + ".o")

    def demangle(self, names: Iterable[str]) -> None:
        """Reads the C++ names of symbols and sections, all at once."""
        new = sorted({name for name in map(_mangled_part, names) if name and name not in self._demangled})
        if not new:
            return
        result = subprocess.run(
            ["c++filt"], input="\n".join(new) + "\n", capture_output=True, encoding="utf-8", check=True
        )
        self._demangled.update(zip(new, result.stdout.split("\n")))

    def symbol(self, name: str) -> str:
        """Returns the mapped C++ name of a symbol or section."""
        mangled = _mangled_part(name)
        text = self._demangled[mangled] if mangled else name
        start = name[: len(name) - len(mangled)] if mangled else _SECTION.match(name).group()
        if text == mangled:
            return start + map_source_names(mangled, self._in_symbols)
        text = text if mangled else name[len(start) :]
        return start + _WORD.sub(lambda match: self._in_symbols.get(match.group(), match.group()), text)


def map_source_names(mangled: str, names: Dict[str, str]) -> str:
    """Returns a mangled name that c++filt cannot read, such as one with a generic lambda, with the identifiers in it
    mapped. Each stands after its length."""
    result, at = "", 0
    match = _LENGTH.search(mangled)
    while match:
        end = match.end() + int(match.group(1) or 0)
        name = mangled[match.end() : end]
        if end <= len(mangled) and _WORD.fullmatch(name):
            mapped = names.get(name, name)
            result += f"{mangled[at : match.start()]}{len(mapped)}{mapped}"
            at = end
        match = _LENGTH.search(mangled, max(at, match.end()))
    return result + mangled[at:]


def _representatives(rows: Iterable[Row]) -> Dict[str, str]:
    """Returns for each name of the rows the representative of all names that rows connect with it."""
    parents: Dict[str, str] = {}

    def root_of(name: str) -> str:
        while parents.get(name, name) != name:
            name = parents[name]
        return name

    for row in rows:
        parents[root_of(row.old)] = root_of(row.new)
    return {name: root_of(name) for row in rows for name in (row.old, row.new)}


def _mangled_part(name: str) -> str:
    match = _MANGLED.search(name)
    return name[match.start() :] if match else ""


def _load(path: str) -> ElfObject:
    with open(path, "rb") as file:
        return ElfObject(file.read())


def _symbols(elf: ElfObject) -> List[str]:
    """Returns the names of the sections, and of what relocations refer to."""
    sections = [re.sub(r"\.str\d.*", "", section.name) for section in elf.sections]
    return sections + [row.symbol.name for rows in elf.relocations.values() for row in rows]


class Reader:
    """Reads the objects of one build."""

    def __init__(self, names: Names, root: str):
        self._names = names
        self._root = root.encode()

    def read(self, path: str) -> "Tuple[Counter[Item], Counter[Item]]":
        """Returns the sections of an object: as they are, and with the texts in them mapped. Throws ElfError."""
        elf = _load(path)
        self._names.demangle(_symbols(elf))
        exact: Counter[Item] = collections.Counter()
        mapped: Counter[Item] = collections.Counter()
        for section in elf.sections:
            if section.flags & ALLOCATED and section.name != ".eh_frame":
                for maps_texts, items in ((False, exact), (True, mapped)):
                    items.update(self._items(elf, section, maps_texts))
        return exact, mapped

    def _items(self, elf: ElfObject, section: Section, maps_texts: bool) -> Iterator[Item]:
        relocations = elf.relocations.get(section.index, [])
        if section.flags & STRINGS and not relocations:
            # The linker merges these strings, so that their order means nothing.
            name = self._names.symbol(re.sub(r"\.str\d.*", "", section.name))
            for text in section.data.split(b"\0"):
                if text:
                    yield Item(name, section.flags, self._text(text, maps_texts), ())
            return
        content = section.data or b"%d bytes" % section.size
        if _MANGLED_TYPE.search(section.name):
            content = b""  # the mangled name of the type, which the name of the section has as well
        if not section.flags & (EXECUTABLE | MERGED) and not relocations:
            content = self._text(content, maps_texts)
        rows = tuple(self._relocation(elf, row, maps_texts) for row in relocations)
        yield Item(self._names.symbol(section.name), section.flags, content, rows)

    def _text(self, text: bytes, maps_texts: bool) -> bytes:
        text = text.replace(self._root, b"") if self._root else text
        return self._names.text(text.decode("latin-1")).encode("latin-1") if maps_texts else text

    def _relocation(self, elf: ElfObject, row: Relocation, maps_texts: bool) -> str:
        """Returns a relocation; one to a merged constant has its content in place of its offset, which others move."""
        symbol = row.symbol
        target = elf.sections[symbol.section] if symbol.section < len(elf.sections) else None
        if target and target.flags & MERGED and (symbol.is_section or symbol.name.startswith(".L")):
            begin, addend = symbol.value, row.addend
            if symbol.is_section:
                begin, addend = row.addend + (4 if row.type in _PC_RELATIVE else 0), 0
            if target.flags & STRINGS:
                text = self._text(target.data[max(0, begin) :].split(b"\0")[0], maps_texts)
            else:
                text = target.data[max(0, begin) :][: target.entry_size]
            return f"{row.offset} {row.type} {text!r} {addend}"
        return f"{row.offset} {row.type} {self._names.symbol(row.symbol.name)} {row.addend}"


class Report(NamedTuple):
    """The result of a comparison."""

    objects: int
    sections: int
    texts: List[str]  # differences that the table explains
    differences: List[str]

    def passed(self) -> bool:
        """True if something was compared and the code is the same."""
        return self.objects > 0 and not self.differences


def _objects(directory: str) -> List[str]:
    return sorted(
        os.path.relpath(os.path.join(parent, name), directory)
        for parent, _, files in os.walk(directory)
        for name in files
        if name.endswith(".o")
    )


def _describe(item: Item) -> str:
    size = f"{len(item.content)} bytes, {len(item.relocations)} relocations"
    text = f": {item.content[:60]!r}" if item.flags & STRINGS else ""
    return f"{item.name} ({size}){text}"


def _differences(path: str, before: "Counter[Item]", after: "Counter[Item]") -> List[str]:
    rows = [f"{path}: only before: {_describe(item)}" for item in (before - after).elements()]
    return rows + [f"{path}: only after: {_describe(item)}" for item in (after - before).elements()]


def compare(before: str, after: str, rows: Iterable[Row], roots: Sequence[str] = ("", "")) -> Report:
    """Compares the objects of two build directories. `roots` are what the paths in their texts begin with."""
    names = Names(rows)
    words = []
    for directory in (before, after):
        symbols = {name for path in _objects(directory) for name in _symbols(_load(os.path.join(directory, path)))}
        names.demangle(symbols)
        words.append(names.words(symbols))
    names.use_symbols(*words)
    readers = [Reader(names, root) for root in roots]
    report = Report(0, 0, [], [])
    expected = {names.path(path): path for path in _objects(before)}
    present = set(_objects(after))
    report.differences.extend(f"{path}: only before" for path in sorted(set(expected) - present))
    report.differences.extend(f"{path}: only after" for path in sorted(present - set(expected)))
    sections = objects = 0
    for path in sorted(set(expected) & present):
        old = readers[0].read(os.path.join(before, expected[path]))
        new = readers[1].read(os.path.join(after, path))
        objects += 1
        sections += sum(old[0].values())
        if old[0] == new[0]:
            continue
        different = _differences(path, old[1], new[1])
        (report.differences if different else report.texts).extend(different or _differences(path, old[0], new[0]))
    return report._replace(objects=objects, sections=sections)


def main(arguments: List[str]) -> int:
    """Runs the program. Returns its exit code."""
    parser = argparse.ArgumentParser(description="Compares the object files of two builds.")
    parser.add_argument("before", help="the build directory before the renames")
    parser.add_argument("after", help="the build directory after them")
    parser.add_argument("--table", required=True, help="the table of the renames")
    parser.add_argument("--roots", nargs=2, default=["", ""], metavar="DIR", help="the repositories of both builds")
    parser.add_argument("--texts", action="store_true", help="print the texts that name what was renamed")
    options = parser.parse_args(arguments)
    try:
        rows = parse(read(options.table))
        report = compare(options.before, options.after, rows, options.roots)
    except TableError as error:
        print("\n".join(f"error: {options.table}:{p.number}: {p.text}" for p in error.problems), file=sys.stderr)
        return 2
    except (OSError, ElfError, subprocess.SubprocessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(report.differences + (report.texts if options.texts else [])))
    print(
        f"{report.objects} objects with {report.sections} sections and strings compared: "
        f"{len(report.differences)} differences, {len(report.texts)} in texts that name what was renamed"
    )
    return 0 if report.passed() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: MIT
"""Sections, symbols and relocations of an object file (ELF, 64 bits, little endian)."""

import struct
from typing import Dict, List, NamedTuple

ALLOCATED = 0x2
WRITABLE = 0x1
EXECUTABLE = 0x4
MERGED = 0x10
STRINGS = 0x20
_SYMBOLS, _RELOCATIONS, _NO_BITS = 2, 4, 8
_SECTION_SYMBOL = 3


class Section(NamedTuple):
    """A section with its content; one without bits (.bss) has only a size."""

    index: int
    name: str
    type: int
    flags: int
    size: int
    data: bytes
    link: int
    info: int
    entry_size: int


class Symbol(NamedTuple):
    """A symbol; that of a section has the section's name."""

    name: str
    section: int
    value: int  # offset in its section
    is_section: bool


class Relocation(NamedTuple):
    """A place in a section that the linker fills in."""

    offset: int
    type: int
    symbol: Symbol
    addend: int


class ElfError(Exception):
    """The file is not an object file that can be read."""


class ElfObject:
    """One object file."""

    def __init__(self, data: bytes):
        """Reads an object file. Throws ElfError."""
        if data[:6] != b"\x7fELF\x02\x01":
            raise ElfError("not a 64-bit little-endian ELF file")
        try:
            self.sections = _sections(data)
            self.relocations = self._relocations(self._symbols())
        except (struct.error, IndexError) as error:
            raise ElfError(f"damaged ELF file: {error}") from error

    def _symbols(self) -> List[Symbol]:
        symbols: List[Symbol] = []
        for table in self.sections:
            if table.type != _SYMBOLS:
                continue
            names = self.sections[table.link].data
            for name, info, _, section, value, _ in struct.iter_unpack("<IBBHQQ", table.data):
                is_section = info & 0xF == _SECTION_SYMBOL
                text = self.sections[section].name if is_section else _text(names, name)
                symbols.append(Symbol(text, section, value, is_section))
        return symbols

    def _relocations(self, symbols: List[Symbol]) -> Dict[int, List[Relocation]]:
        """Returns the relocations of each section, by its index."""
        result: Dict[int, List[Relocation]] = {}
        for table in self.sections:
            if table.type != _RELOCATIONS:
                continue
            rows = result.setdefault(table.info, [])
            for offset, info, addend in struct.iter_unpack("<QQq", table.data):
                rows.append(Relocation(offset, info & 0xFFFFFFFF, symbols[info >> 32], addend))
        return result


def _text(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode("utf-8", "replace")


def _sections(data: bytes) -> List[Section]:
    (offset,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    first = struct.unpack_from("<IIQQQQIIQQ", data, offset)
    count = count or first[5]  # so many that they do not fit in the header
    names_index = first[6] if names_index == 0xFFFF else names_index
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + number * size) for number in range(count)]
    names = data[rows[names_index][4] :][: rows[names_index][5]]
    return [
        Section(number, _text(names, row[0]), row[1], row[2], row[5],
                b"" if row[1] == _NO_BITS else data[row[4] : row[4] + row[5]], row[6], row[7], row[9])
        for number, row in enumerate(rows)
    ]  # fmt: skip

# SPDX-License-Identifier: MIT
"""What the gate counts: for each measure the places of each pattern."""

import os
import re
import subprocess
from typing import Dict, List, Set, Tuple

import phrases
from corpora import CORPORA, CPP_SUFFIXES, Texts, files_below
from exceptions import Exceptions
from text_piece import LineIndex, Place

Places = Dict[str, List[Place]]  # by pattern

MAX_TEST_NAME_WORDS = 10
MAX_HELP_COLUMNS = 100
BANNED_IDENTIFIERS = ("said", "here", "there", "told", "asked")
VAGUE_IDENTIFIERS = ("given", "one", "other")

UNITS = {
    "docs": "private phrases in README.md, docs/ and the unreleased changes",
    "messages": "private phrases in string literals of src/ and include/",
    "templates": "private phrases in templates/",
    "comments": "private phrases in comments of src/ and include/",
    "test-names": "private phrases in names of test cases and sections",
    "test-name-length": f"test names of more than {MAX_TEST_NAME_WORDS} words",
    "identifiers": "identifiers said, here, there, told and asked; the goal is 0",
    "vague-identifiers": "identifiers given, one and other; the goal is 150",
    "basenames": "files of src/ whose name another directory has as well",
    "help-width": f"lines of --help wider than {MAX_HELP_COLUMNS} columns",
}
_BETTER_NAMES = {
    "said": "diagnostics",
    "told": "diagnostics",
    "here": "context",
    "asked": "requested",
    "given": "input",
}
_LENGTH_PATTERN = f"over-{MAX_TEST_NAME_WORDS}-words"
_WIDTH_PATTERN = f"over-{MAX_HELP_COLUMNS}-columns"


def hint_of(measure: str, pattern: str) -> str:
    """Returns what to do about an occurrence of a pattern."""
    if measure in CORPORA:
        return f"use instead: {phrases.INSTEAD[pattern]}"
    if measure.endswith("identifiers"):
        example = f", for example: {_BETTER_NAMES[pattern]}" if pattern in _BETTER_NAMES else ""
        return f"use a name for what it holds{example}"
    if measure == "basenames":
        return "name the file after its main type or topic"
    if measure == "help-width":
        return f"wrap or shorten the text to {MAX_HELP_COLUMNS} columns"
    return f"use '<unit> <does what> [when <condition>]' with at most {MAX_TEST_NAME_WORDS} words"


def private_phrases(texts: Texts, exceptions: Exceptions) -> Dict[str, Places]:
    """Returns the private phrases of each corpus, but for the exceptions."""
    result: Dict[str, Places] = {}
    for corpus, pieces in texts.corpora.items():
        places: Places = {name: [] for name in phrases.INSTEAD}
        for piece in pieces:
            for match in phrases.matches(piece):
                if not exceptions.allow(corpus, match.name, piece, match.begin, match.end):
                    places[match.name].append(piece.place(match.begin, match.end))
        result[corpus] = places
    return result


def test_name_length(texts: Texts) -> Places:
    """Returns the test names with too many words."""
    names = texts.corpora["test-names"]
    places = [
        Place(piece.path, piece.line_at(0), piece.text)
        for piece in names
        if len(piece.text.split()) > MAX_TEST_NAME_WORDS
    ]
    return {_LENGTH_PATTERN: places}


def identifiers(texts: Texts, names: Tuple[str, ...]) -> Places:
    """Returns the tokens of the code that are one of these names."""
    places: Places = {name: [] for name in names}
    pattern = re.compile(r"\b(?:" + "|".join(names) + r")\b")
    for path, code in texts.code:
        found = list(pattern.finditer(code))
        if not found:
            continue
        lines = LineIndex(code)
        rows = code.split("\n")
        for match in found:
            line = lines.line_of(match.start())
            places[match.group()].append(Place(path, line, " ".join(rows[line - 1].split())[:100]))
    return places


def basenames(root: str) -> Places:
    """Returns the files whose basename another directory of src/ has first; a header and its source are one file."""
    owners: Dict[str, str] = {}
    seen: Set[Tuple[str, str]] = set()
    places: List[Place] = []
    for path in files_below(root, "src", CPP_SUFFIXES):
        directory, name = os.path.split(path)
        stem = os.path.splitext(name)[0]
        owner = owners.setdefault(stem, directory)
        if owner != directory and (directory, stem) not in seen:
            seen.add((directory, stem))
            places.append(Place(path, 1, f"{stem} is also in {owner}/"))
    return {"repeated": places}


def _help_of(binary: str, arguments: List[str]) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HPCML_")}
    environment.update({"COLUMNS": str(MAX_HELP_COLUMNS), "LC_ALL": "C.UTF-8", "NO_COLOR": "1"})
    command = [binary, *arguments, "--help"]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, timeout=60, check=False)
    if result.returncode != 0:
        name = " ".join(["hpcml", *command[1:]])
        raise RuntimeError(f"'{name}' exited with {result.returncode}: {result.stderr.strip()[:200]}")
    return result.stdout


def commands_in(text: str) -> List[str]:
    """Returns the commands that a help text lists under headings other than those of options and examples."""
    commands: List[str] = []
    lists_commands = False
    for line in text.splitlines():
        heading = re.match(r"(\S.*):\s*$", line)
        if heading:
            lists_commands = not re.search(
                r"option|argument|positional|example|exit code|environment|usage|see also",
                heading.group(1),
                re.IGNORECASE,
            )
        names = re.match(r" {1,4}([a-z][a-z0-9-]*(?:, [a-z][a-z0-9-]*)*),?(?:\s{2,}\S|\s*$)", line)
        if lists_commands and names:
            commands += [name for name in names.group(1).split(", ") if name != "help"]
    return commands


def help_width(binary: str) -> Places:
    """Returns the lines of the help of hpcml and of its commands that are too wide."""
    texts: List[Tuple[str, str]] = []
    top = _help_of(binary, [])
    commands = commands_in(top)
    if not commands:
        raise RuntimeError("'hpcml --help' lists no command that the gate recognises")
    texts.append(("hpcml --help", top))
    for command in commands:
        text = _help_of(binary, [command])
        texts.append((f"hpcml {command} --help", text))
        for nested in commands_in(text):
            texts.append((f"hpcml {command} {nested} --help", _help_of(binary, [command, nested])))
    places = [
        Place(name, number, line[:80] + "…")
        for name, text in texts
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > MAX_HELP_COLUMNS
    ]
    return {_WIDTH_PATTERN: places}

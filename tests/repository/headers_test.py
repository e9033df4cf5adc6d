#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks which headers of src/ and include/ should be split or merged.

- A header defines one class with private members ("classes").
- A header of at most 30 lines with a single user is merged into it ("short"), unless a test includes it, it defines a type, its user
  is a header or in another directory, or the merged source would exceed 350 lines.

headers.csv lists the exceptions with their reasons. A row that no longer applies fails.
"""
import collections
import csv
import pathlib
import re
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
LIST = REPO / "tests/repository/headers.csv"
SHORT = 30
MERGED = 350
CLASS = re.compile(r"^class \w+(?: final)?(?:\s*:[^{;]*)?\s*\{", re.MULTILINE)
TYPE = re.compile(r"^(?:template <[^\n]*>\s*)?(?:class|struct|enum class|enum) \w+[^;{]*\{", re.MULTILINE)
INCLUDE = re.compile(r'^#include\s+["<]([^">]+)[">]', re.MULTILINE)


def read_sources():
    """Returns {path: text} of the C++ files."""
    paths = [path for root in ("src", "include", "tests") for kind in ("*.cpp", "*.hpp") for path in (REPO / root).rglob(kind)]
    return {path.relative_to(REPO).as_posix(): path.read_text(encoding="utf-8", errors="replace") for path in paths}


def code_of(text):
    """Returns the text without comments and strings."""
    text = re.sub(r'R"(\w*)\((.*?)\)\1"', '""', text, flags=re.DOTALL)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', re.sub(r"//[^\n]*", "", text))


def find_users(sources):
    """Returns {header: files that include it}."""
    users = collections.defaultdict(set)
    for path, text in sources.items():
        for name in INCLUDE.findall(text):
            for header in (f"src/{name}", f"include/{name}", f"tests/{name}", f"{path.rpartition('/')[0]}/{name}"):
                if header in sources:
                    users[header].add(path)
                    break
    return users


def line_count(text):
    return text.count("\n")


def is_to_be_merged(header, sources, users):
    """True if the header is short and has a single user into which it could be merged."""
    text = sources[header]
    source = header[: -len(".hpp")] + ".cpp"
    others = users[header] - {source}
    if line_count(text) > SHORT or len(others) != 1 or TYPE.search(code_of(text)):
        return False
    user = others.pop()
    is_near = user.startswith("src/") and user.rpartition("/")[0] == header.rpartition("/")[0]
    return is_near and user.endswith(".cpp") and line_count(sources[user]) + line_count(sources.get(source, "")) <= MERGED


def find_all(sources):
    """Returns {(header, kind)} of what breaks a rule."""
    users = find_users(sources)
    headers = [path for path in sources if path.endswith(".hpp") and not path.startswith("tests/")]
    found = {(header, "classes") for header in headers if len(CLASS.findall(code_of(sources[header]))) > 1}
    return found | {(header, "short") for header in headers if is_to_be_merged(header, sources, users)}


def check_find_all():
    """Rules that find nothing would pass whatever the sources have."""
    short = {"src/a/b.hpp": "#pragma once\nint f();\n", "src/a/b.cpp": '#include "a/b.hpp"\n', "src/a/c.cpp": '#include "a/b.hpp"\n'}
    assert find_all(short) == {("src/a/b.hpp", "short")}
    for path, text in (
        ("tests/a/b_test.cpp", '#include "a/b.hpp"\n'),
        ("src/a/d.cpp", '#include "a/b.hpp"\n'),
        ("src/a/b.hpp", "#pragma once\nstruct B {\n};\n"),
        ("src/a/b.hpp", "#pragma once\n" + "int f();\n" * SHORT),
        ("src/a/c.cpp", '#include "a/b.hpp"\n' + "\n" * MERGED),
    ):
        assert not find_all({**short, path: text}), (path, text)
    assert find_all({"src/a.hpp": "class A {\n};\nclass B final : public A {\n};\n"}) == {("src/a.hpp", "classes")}
    assert not find_all({"src/a.hpp": "class A;\nclass B {\n};\n// class C {\n"})


def main():
    check_find_all()
    found = find_all(read_sources())
    with open(LIST, encoding="utf-8", newline="") as file:
        listed = {(row["header"], row["rule"]): row["reason"] for row in csv.DictReader(file)}
    advice = {"classes": "split it", "short": "merge it into its user"}
    wrong = [f"{header}: {advice[rule]}, or list it in {LIST.name} with a reason" for header, rule in sorted(found - listed.keys())]
    wrong += [f"{header}: its row '{rule}' in {LIST.name} no longer applies: remove it" for header, rule in sorted(listed.keys() - found)]
    wrong += [f"{header}: its row in {LIST.name} has no reason" for (header, _), reason in sorted(listed.items()) if not reason]
    print("\n".join(wrong) or f"{len(found)} exceptions, all listed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

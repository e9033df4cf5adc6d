# SPDX-License-Identifier: MIT
"""The C++ interface, from the headers in include/hpcml."""
import pathlib
import re
from typing import List, Tuple

from man_page import prose
from page_set import block

_HEADERS = (
    "ddp/process_group.hpp",
    "ddp/group_options.hpp",
    "ddp/distributed_data_parallel.hpp",
    "ddp/options.hpp",
    "ddp/distributed_sampler.hpp",
    "ddp/checkpoint.hpp",
    "ddp/latest_checkpoint.hpp",
    "ddp/error.hpp",
    "ddp/own_connections.hpp",
    "rank_env.hpp",
)


def _end_of_block(text: str, start: int) -> int:
    """Returns the place after the bracket that closes the one at `start`."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return len(text)


def _without_bodies(declaration: str) -> str:
    """Returns a declaration without the bodies of functions."""
    text, begin, index = "", 0, 0  # `begin`: of the current statement in `text`
    while index < len(declaration):
        char = declaration[index]
        statement = re.sub(r"//.*", "", text[begin:])
        is_body = char == "{" and "(" in statement and not statement.rstrip().endswith(("=", ",", "("))
        if is_body:
            index = _end_of_block(declaration, index)
            head = re.sub(r"\)(\s*noexcept)?\s*: .*", r")\1", text[begin:].rstrip(), flags=re.S)  # members that a constructor sets
            text = text[:begin] + head + ";"
            begin = len(text)
            continue
        text += char
        if char in ";{}" and not (char in "{}" and "(" in statement):
            begin = len(text)
        index += 1
    return text


def _public_part(declaration: str) -> str:
    """Returns a class without its private part and without the bodies of functions."""
    return _without_bodies(re.sub(r"\n+ *private:\n.*?(?=\n *public:|\n\};)", "", declaration, flags=re.S))


def _entities(text: str) -> List[Tuple[str, str]]:
    """Returns the comment and the declaration of everything that is documented in a header's namespace."""
    found = []
    for match in re.finditer(r"^((?:/// .*\n)+)((?!///)(?:.*\n)*?)(?=\n|\Z)", text, flags=re.M):
        comment = " ".join(line[4:] for line in match.group(1).splitlines())
        start = match.start(2)
        end = text.find("\n\n/// ", start)
        declaration = text[start : end if end >= 0 else len(text)].partition("\n} // namespace")[0]
        found.append((comment, _public_part(declaration).rstrip()))
    return found


def write(root: pathlib.Path) -> str:
    """Returns the page."""
    text = ""
    for header in _HEADERS:
        source = (root / "include/hpcml" / header).read_text(encoding="utf-8")
        about = re.search(r"^// (?!SPDX)(.*(?:\n// .*)*)$", source, flags=re.M)
        title = pathlib.Path(header).stem.replace("_", " ").capitalize()
        text += f"## {title}\n\n`#include <hpcml/{header}>`\n\n"
        if about:
            text += prose(about.group(1).replace("\n// ", " ")) + "\n\n"
        for comment, declaration in _entities(source):
            text += prose(comment) + "\n\n" + block(declaration, "cpp") + "\n"
    return text

# SPDX-License-Identifier: MIT
"""Generated pages of one directory, and the parts that they are made of."""
import unicodedata
from typing import Dict, Iterable, List, NamedTuple, Sequence


class PageSet(NamedTuple):
    """Pages and pictures by their path below docs/, and their navigation for mkdocs."""

    pages: Dict[str, str]
    nav: List[object]


def code(text: str) -> str:
    """Returns a text as code that may be in a cell of a table."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text.replace('|', chr(92) + '|')}{fence}" if text else ""


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def block(text: str, language: str = "text") -> str:
    """Returns a block of code."""
    return f"```{language}\n{visible(text).rstrip()}\n```\n"


def visible(text: str) -> str:
    """Returns a text whose invisible characters are escapes."""

    def shown(char: str) -> str:
        hidden = unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") and char not in "\n\t"
        return f"\\u{ord(char):04x}" if hidden or char == "\u00a0" else char

    return "".join(map(shown, text))

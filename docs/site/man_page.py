# SPDX-License-Identifier: MIT
"""Converts the manual pages that `hpcml man` prints into Markdown."""
import html
import re
from typing import List

_ESCAPES = {"aq": "'", "ga": "`", "ha": "^", "ti": "~"}
_TOKEN = re.compile(r"\\f([BIR])|\\\((\w\w)|\\\[u([0-9A-F]+)\]|\\(.)|([^\\]+)")


def plain(line: str) -> str:
    """Returns a line of roff without its escapes and fonts."""

    def replace(match: "re.Match[str]") -> str:
        _, name, code, other, text = match.groups()
        if name:
            return _ESCAPES[name]
        if code:
            return chr(int(code, 16))
        return {"e": "\\", "&": ""}.get(other, other) if other else text or ""

    return _TOKEN.sub(replace, line)


def prose(text: str) -> str:
    """Returns a plain text as Markdown: what looks like code becomes code, and nothing else is markup."""
    parts = re.split(r"(`[^`]+`)", text)
    for index in range(0, len(parts), 2):
        part = html.escape(parts[index], quote=False)
        part = re.sub(r"([*\\|]|(?<!\w)_|_(?!\w))", r"\\\1", part)
        parts[index] = re.sub(r"(?<![\w-])(--?[a-z][\w-]*(?:=[\w./=-]*\w)?)", r"`\1`", part)
    return "".join(parts)


def _term(line: str) -> str:
    """Returns the head of an option: its names as code, its value in italics."""
    parts = re.split(r"\\f([BIR])", line)
    text = prose(plain(parts[0]))
    for font, part in zip(parts[1::2], parts[2::2]):
        shown = plain(part)
        text += {"B": f"`{shown}`", "I": f"*{prose(shown)}*", "R": prose(shown)}[font] if shown else ""
    return text


class _Page:
    """Reads the lines of a page one after the other."""

    def __init__(self) -> None:
        self.out: List[str] = []
        self.section = ""
        self.in_block = self.after_tp = self.in_item = False

    def heading(self, level: int, title: str) -> None:
        self.in_item = False
        self.section = title
        if title not in ("NAME", "SEE ALSO"):
            title = title.capitalize() if title.isupper() else title
            self.out += ["", "#" * level + " " + title, ""]

    def request(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        if name in (".SH", ".SS"):
            self.heading(2 if name == ".SH" else 3, plain(rest).strip('"'))
        elif name == ".TP":
            self.after_tp, self.in_item = True, False
        elif name == ".nf":
            self.in_block = True
            self.out += ["", "```text"]
        elif name == ".br" and self.in_item:
            self.out[-1] += "<br>"
        elif name == ".BR" and self.after_tp:  # a command with a page of its own
            command = plain(rest).split(" ")[0]
            self.start_item(f"[`{command.replace('-', ' ', 1)}`]({command.split('-', 1)[1]}.md)")
        elif name == ".PP":
            self.in_item = False
            self.out.append("")

    def start_item(self, term: str) -> None:
        self.out += ["", term]
        self.after_tp, self.in_item = False, True

    def line(self, line: str) -> None:
        if self.in_block:
            if line == ".fi":
                self.in_block = False
                self.out += ["```", ""]
            elif line != ".RS" and line != ".RE":
                self.out.append(plain(line))
        elif line.startswith("."):
            self.request(line)
        elif self.section == "NAME":
            name, _, about = plain(line).partition(" - ")
            self.out += ["# " + name.replace("-", " ", 1), "", prose(about) + "."]
        elif self.section == "SYNOPSIS":
            self.out += ["```text", plain(line), "```"]
        elif self.section == "SEE ALSO":
            pass
        elif self.after_tp:
            self.start_item(_term(line))
        elif self.in_item:
            first = self.out[-1] and not self.out[-1].startswith((":   ", "    "))
            self.out.append((":   " if first else "    ") + prose(plain(line)))
        else:
            self.out.append(prose(plain(line)))


def to_markdown(roff: str) -> str:
    """Returns a manual page as Markdown."""
    page = _Page()
    for line in roff.splitlines():
        page.line(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(page.out)) + "\n"

# SPDX-License-Identifier: MIT
"""One page for each command, from `hpcml man`, and the pages that collect what several commands have in common."""
import pathlib
import re
from typing import Callable, Dict, List, NamedTuple, Tuple

from man_page import plain, prose, to_markdown
from page_set import PageSet, code, table

_COMMAND = re.compile(r"^\.BR hpcml\\-(\S+) \(1\)$", re.M)
_GIVEN_WITH_THE_FILE = ("--site", "--job", "--only")


class Option(NamedTuple):
    """An option in a manual page."""

    section: str
    command: str
    names: Tuple[str, ...]
    value: str
    choices: str
    text: str


def options_of(roff: str) -> List[Option]:
    """Returns the options of a manual page."""
    section, command, found = "", "", []
    lines = roff.splitlines()
    for index, line in enumerate(lines):
        name, _, rest = line.partition(" ")
        if name == ".SH":
            section = plain(rest).strip('"')
        elif name == ".SS":
            command = plain(rest).strip('"')
        elif name == ".TP" and r"\-" in lines[index + 1]:
            head = plain(re.sub(r"\\f[BIR]", "", lines[index + 1]))
            match = re.match(r"((?:--?[\w-]+(?:, )?)+)(?: ([^(]*?))?(?: \((.*)\))?$", head)
            if match:
                names = tuple(match.group(1).split(", "))
                found.append(Option(section, command, names, match.group(2) or "", match.group(3) or "", plain(lines[index + 2])))
    return found


def variable_of(key: str) -> str:
    """Returns the variable of a key of the job file."""
    return "HPCML_" + key.upper().replace("-", "_")


def list_keys(root: pathlib.Path) -> List[str]:
    """Returns the keys of the job file that are lists, which have no variable."""
    rows = (root / "src/core/config/job_keys.cpp").read_text(encoding="utf-8")
    return re.findall(r'\b(?:list_key|env_key)\("([\w-]+)"', rows)


def _job_keys(gen: List[Option], lists: List[str]) -> str:
    text = ""
    keys = [option for option in gen if option.section != "OPTIONS" and option.names[0] not in _GIVEN_WITH_THE_FILE]
    names = {option.names[-1] for option in keys}
    keys = [option for option in keys if option.names[-1].replace("--no-", "--", 1) not in names - {option.names[-1]}]
    for section in dict.fromkeys(option.section for option in keys):
        text += f"## {section.capitalize()}\n\n"
        rows = []
        for option in (option for option in keys if option.section == section):
            key = option.names[-1].removeprefix("--").removeprefix("no-")
            value = prose(option.value) if option.value else "`true` or `false`"
            if key in lists:
                value = "list of " + value
            rows.append((code(key), value, "" if key in lists else code(variable_of(key)), ("`false`: " if "--no-" in option.names[-1] else "") + prose(option.text)))
        text += table(("Key", "Value", "Variable", "Meaning"), rows) + "\n"
    return text


def _formats(manuals: Dict[str, str]) -> str:
    rows = []
    for name, roff in manuals.items():
        for option in options_of(roff):
            if "--format" in option.names and not (name == "internal"):
                command = option.command if option.section == "COMMANDS" else f"hpcml {name}"
                in_text = re.search(r" *\[possible values: ([^\]]*)\]", option.text)
                choices = in_text.group(1) if in_text else option.choices
                text = option.text.replace(in_text.group(), "") if in_text else option.text
                rows.append((f"[{code(command)}](cli/{name}.md)", code(choices), prose(text)))
    return table(("Command", "`--format`", "Meaning"), rows)


def _one_line(roff: str) -> str:
    """Returns a part of a page as one line. Lines of a block that begin with a number are separated by semicolons."""
    text, in_block = "", False
    for line in roff.splitlines():
        in_block = line == ".nf" or (in_block and line != ".fi")
        if not line.startswith("."):
            words = plain(line).strip()
            text += (";" if in_block and re.match(r"\d", words) else "") + " " + words
    return re.sub(r" *:; *", ": ", re.sub(r"\s+", " ", text))


def _exit_codes(manuals: Dict[str, str]) -> str:
    text = ""
    for name, roff in manuals.items():
        for part in re.split(r"^\.(?:PP|SH).*$", roff, flags=re.M):
            found = re.search(r"Exit codes?\b.*", _one_line(part))
            if found:
                text += f"[{code('hpcml ' + name)}](cli/{name}.md)" if name else "All commands"
                text += f"\n:   {prose(found.group().strip())}\n\n"
    return "## Commands\n\n" + text


def _torchrun_options(text: str) -> str:
    """Returns the table of torchrun's options as a list."""
    listed = ""
    for line in text.splitlines()[2:]:
        cells = re.split(r" *(?<!\\)\| *", line.replace("`", ""))[1:-1]
        flag, variable, meaning, kind, reason = (cell.replace("\\|", "|") for cell in cells)
        name = f", or the variable `{variable}`" if variable else ""
        listed += f"`{flag}`{name}\n:   {prose(meaning)}.<br>*{kind}*{': ' + prose(reason) if reason else ''}\n\n"
    return listed


def names_of(main: str) -> List[str]:
    """Returns the names of the commands in the manual page of hpcml."""
    return [plain(name) for name in _COMMAND.findall(main)]


def write(hpcml: Callable[..., str], root: pathlib.Path) -> PageSet:
    """Returns the pages of all commands."""
    main = hpcml("man")
    names = names_of(main)
    manuals = {name: hpcml("man", name) for name in names}
    pages = {f"reference/cli/{name}.md": to_markdown(roff) for name, roff in manuals.items()}
    pages["reference/cli/index.md"] = to_markdown(main).partition("## Synopsis")[2].partition("```\n\n")[2]
    pages["reference/job-file.md"] = _job_keys(options_of(manuals["gen"]), list_keys(root))
    pages["reference/output-formats.md"] = _formats(manuals)
    pages["reference/exit-codes.md"] = _exit_codes({"": main, **manuals})
    pages["reference/torchrun-options.md"] = _torchrun_options(hpcml("torchrun", "--help-markdown"))
    nav = ["reference/cli/index.md", *({f"hpcml {name}": f"reference/cli/{name}.md"} for name in names)]
    return PageSet(pages, nav)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws messages of all sources by a seed, for a reader who rates whether each says what happened and what to do.

Usage: python3 tests/messages/sample.py SEED [--count N] [--places]
"""

import argparse
import os
import random
import re
import sys
from typing import Dict, List, NamedTuple, Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
from message_scan import WITHOUT_MESSAGES, is_hint, statements  # noqa: E402  (also finds tests/language)

from corpora import files_below, read  # noqa: E402
from cpp_tokens import CppSource  # noqa: E402

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# A statement that reports: an error with a hint, a log line, a finding of the plan or of a profile.
REPORTS = re.compile(
    r"\b(?:(?:util::)?Error|print_error|print_note|log_(?:error|warning|info)|log_without_waiting|print_line"
    r"|narrator\.\w+|x_porting\.(?:error|warn|note)|porting\.(?:error|warn|note)|x_said\.note"
    r"|(?:diagnostics|remarks|findings|notes|warnings|words|x_words|x_said|refusals)\.\w+|report(?:_value|_text|_faulty)?"
    r"|refuse\w*|failure\.print|CoordinatorError|Failure|CheckpointProblem|throw\s+[\w:]+|mount_failed|failed|cannot\w*)\s*[({]"
)
# Texts of rules have their own pages; help, Markdown and Lua are not messages.
SKIPPED = re.compile(r"^src/(?:check/rules|core/site_rules)/|_(?:help|page|rows)\.cpp$|/help/")
MIN_WORDS = 4


# A function that writes hints.
_HINT_FUNCTION = re.compile(r"\b(\w*hint(?:_\w+)?|\w+_advice|like)\(")
_FIELD = re.compile(r"\{(\d*)(?::[^{}]*)?\}")


class Drawn(NamedTuple):
    """A message with its hints; values are written as the expressions that give them."""

    path: str
    line: int
    text: str
    hints: List[str]


def _arguments(code: str, begin: int) -> List[str]:
    """Returns the arguments that follow a literal in its call."""
    found, depth, start = [], 0, begin
    for index in range(begin, min(len(code), begin + 2000)):
        char = code[index]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and char in ",;"):
            found.append(" ".join(code[start:index].split()))
            start = index + 1
            if char != ",":
                break
    return found[1:] if found and found[0] in ("", ":") else []


def _with_names(text: str, arguments: List[str]) -> str:
    """Returns the text with the expressions of its values between braces."""
    position = -1

    def name(match: "re.Match[str]") -> str:
        nonlocal position
        position = int(match.group(1)) if match.group(1) else position + 1
        return "{" + arguments[position] + "}" if position < len(arguments) else match.group()

    return _FIELD.sub(name, text)


def _end_of_block(code: str, begin: int) -> int:
    """Returns the offset of the brace that closes the one at `begin`."""
    depth = 0
    for index in range(begin, len(code)):
        depth += {"{": 1, "}": -1}.get(code[index], 0)
        if depth == 0:
            return index
    return len(code)


def _written_hints(root: str) -> Dict[str, str]:
    """Returns the hints that functions write, by the function's name; alternatives are separated by bars."""
    found: Dict[str, List[str]] = {}
    for path in files_below(root, "src", (".cpp", ".hpp")):
        source = CppSource(path, read(root, path))
        code = source.code()
        for match in re.finditer(_HINT_FUNCTION.pattern + r"[^;{}]*\)(?: const)?\s*\{", code):
            end = _end_of_block(code, match.end() - 1)
            inside = [literal for literal in source.literal_texts() if match.end() <= literal.begin < end]
            texts = [_with_names(literal.text, _arguments(code, literal.end)) for literal in inside]
            found.setdefault(match.group(1), []).extend(text for text in texts if is_hint(text))
    return {name: " | ".join(dict.fromkeys(texts)) for name, texts in found.items() if texts}


def messages(root: str) -> List[Drawn]:
    """Returns the messages of all sources, in their order."""
    found: List[Drawn] = []
    written = _written_hints(root)
    for path in files_below(root, "src", (".cpp", ".hpp")):
        if SKIPPED.search(path) or path in WITHOUT_MESSAGES:
            continue
        source = CppSource(path, read(root, path))
        code = source.code()
        for statement, literals in statements(source):
            if not REPORTS.search(statement):
                continue
            texts: List[Tuple[int, str]] = []
            # A statement ends with its last literal; the hint's function is often called after it.
            rest = code[literals[-1][2] :].partition(";")[0]
            calls = [match.group(1) for match in _HINT_FUNCTION.finditer(statement + rest)]
            hints = [written[name] for name in calls if name in written]
            for line, text, end in literals:
                if is_hint(text):
                    hints.append(_with_names(text, _arguments(code, end)))
                elif len(text.partition("\nhint: ")[0].split()) >= MIN_WORDS:
                    message, _, hint = _with_names(text, _arguments(code, end)).partition("\nhint: ")
                    hints.extend([hint] if hint else [])
                    texts.append((line, message))
            found.extend(Drawn(path, line, text, hints) for line, text in texts if "\n" not in text)
    return found


def main() -> int:
    """Prints the messages that the seed draws."""
    parser = argparse.ArgumentParser(description="Draws messages of all sources by a seed.")
    parser.add_argument("seed", type=int)
    parser.add_argument("--count", type=int, default=20, help="number of messages [default: 20]")
    parser.add_argument("--places", action="store_true", help="print the files and lines as well")
    options = parser.parse_args()
    found = messages(ROOT)
    for number, drawn in enumerate(random.Random(options.seed).sample(found, options.count), 1):
        place = f" [{drawn.path}:{drawn.line}]" if options.places else ""
        print(f"{number}. {drawn.text}{place}")
        for hint in drawn.hints:
            print(f"   hint: {hint}")
    print(f"(of {len(found)} messages)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())

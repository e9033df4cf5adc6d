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
from typing import List, NamedTuple

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


class Drawn(NamedTuple):
    """A message with its hints."""

    path: str
    line: int
    text: str
    hints: List[str]


def messages(root: str) -> List[Drawn]:
    """Returns the messages of all sources, in their order."""
    found: List[Drawn] = []
    for path in files_below(root, "src", (".cpp", ".hpp")):
        if SKIPPED.search(path) or path in WITHOUT_MESSAGES:
            continue
        for code, literals in statements(CppSource(path, read(root, path))):
            if not REPORTS.search(code):
                continue
            texts = [(line, *text.partition("\nhint: ")[::2]) for line, text in literals]
            hints = [hint for _, text, hint in texts if hint] + [text for _, text, _ in texts if is_hint(text)]
            found.extend(
                Drawn(path, line, text, hints)
                for line, text, _ in texts
                if len(text.split()) >= MIN_WORDS and not is_hint(text) and "\n" not in text
            )
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

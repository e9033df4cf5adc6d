# SPDX-License-Identifier: MIT
"""Messages in the sources of what runs inside a job: string literals of at least three words, with their hints."""

import os
import re
import sys
from typing import Dict, Iterator, List, NamedTuple, Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "language"))
# pylint: disable=wrong-import-position
from corpora import files_below, read  # noqa: E402
from cpp_tokens import CppSource  # noqa: E402

FILES_OF_LAUNCH = ["src/core/failures/log_messages.cpp", "src/core/failures/log_messages.hpp", "src/core/util/signal_names.cpp"]
# The products in the order of the page, each with the directories and files that write its messages.
PRODUCTS: Dict[str, List[str]] = {
    "launch": ["src/run/resolve", "src/run/launch", "src/run/find_torch", *FILES_OF_LAUNCH],
    "agent": ["src/run/agent", "src/core/failures/failure_report.cpp"],
    "store": ["src/run/store"],
    "batch": ["src/run/batch"],
    "torchrun": ["src/run/torchrun"],
    "preflight": ["src/torch/helper", "src/diagnose/preflight"],
}
# Sources there without messages: help texts, and texts of other programs that are searched in their output.
WITHOUT_MESSAGES = (
    "src/run/agent/error_file.cpp",
    "src/run/agent/failure_order.cpp",
    "src/run/agent/stack_tools.cpp",
    "src/run/torchrun/torchrun_page.cpp",
    "src/run/torchrun/torchrun_rows.cpp",
    "src/torch/helper/helper_main.cpp",
)
MIN_WORDS = 3
_HINT = re.compile(r"(?:; )?(?:hint: )?(?:use|set|add|remove|run|request|check) ")
_ESCAPES = {"n": "\n", "t": "\t"}


class Message(NamedTuple):
    """One literal with the hints of its statement."""

    product: str
    path: str
    line: int
    text: str
    hints: List[str]


def messages(root: str) -> List[Message]:
    """Returns the messages of all products, in the order of the sources."""
    found: List[Message] = []
    for product, directories in PRODUCTS.items():
        for directory in directories:
            parent = os.path.dirname(directory) if directory.endswith((".cpp", ".hpp")) else directory
            for path in files_below(root, parent, (".cpp", ".hpp")):
                if path.startswith(directory) and path not in WITHOUT_MESSAGES:
                    found.extend(_messages_of(product, CppSource(path, read(root, path))))
    return found


def _unescape(text: str) -> str:
    """Returns the text of a literal."""
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match.group(1), match.group(1)), text)


def is_hint(text: str) -> bool:
    """Returns whether a literal says what to do: it starts with a verb of the style guide."""
    return bool(_HINT.match(text))


def _messages_of(product: str, source: CppSource) -> Iterator[Message]:
    for _, found in statements(source):
        literals = [(line, text.strip()) for line, text, _ in found]
        hints = []
        for _, text in literals:
            hint = text if is_hint(text) else text.partition("\nhint: ")[2]
            if hint and hint != "{}":
                hints.append(hint.removeprefix("hint: "))
        for line, text in literals:
            text = text.partition("\nhint: ")[0]
            if len(text.split()) >= MIN_WORDS and not is_hint(text):
                yield Message(product, source.path, line, text, hints)


def statements(source: CppSource) -> Iterator[Tuple[str, List[Tuple[int, str, int]]]]:
    """Yields the code of each statement that has literals, and these with their lines and the offsets of their ends."""
    code = source.code()
    literals: List[Tuple[int, str, int]] = []
    begin, end = 0, 0
    for literal in source.literal_texts():
        between = code[end : literal.begin]
        if ";" in between and literals:
            yield code[begin:end], literals
            literals = []
        if not literals:
            begin = end + between.rfind(";") + 1
        literals.append((source.lines.line_of(literal.begin), _unescape(literal.text), literal.end))
        end = literal.end
    if literals:
        yield code[begin:end], literals

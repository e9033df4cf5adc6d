# SPDX-License-Identifier: MIT
"""How long the sentences of the documentation are, and how often they address the reader."""

import re
from typing import Dict, Iterator, List, NamedTuple, Tuple

from markdown_prose import Block
from text_piece import FILLER, prose_of

LONG, TOO_LONG = 25, 40  # words

# Pages that are not guides: generated ones, and those for contributors.
_NOT_GUIDES = re.compile(r"^docs/(?:development|reference|concepts|examples)/")
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\"'*_]*\s+(?=[\"'(*_\[`]*(?:[A-Z\0`]|hpcml\b))")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx|no|fig)\.$", re.IGNORECASE)
_WORD = re.compile(r"[\w\0][\w\0'’.,:/+=%-]*")
_YOU = re.compile(r"\b(?:you|your|yours|yourself)\b")


class Readability(NamedTuple):
    """Counts of one page or of several."""

    words: int = 0
    sentences: int = 0
    long: int = 0
    too_long: int = 0
    you: int = 0

    def plus(self, other: "Readability") -> "Readability":
        """Returns the sum of both."""
        return Readability(*(a + b for a, b in zip(self, other)))

    def row(self) -> str:
        """Returns the figures in words."""
        sentences, words = max(1, self.sentences), max(1, self.words)
        return (
            f"{self.words / sentences:.1f} words per sentence, {100 * self.long / sentences:.0f} % over {LONG}, "
            f"{self.too_long} over {TOO_LONG}, 'you' {1000 * self.you / words:.1f} per 1,000 words "
            f"({self.words:,} words)"
        )


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a paragraph."""
    parts = _SENTENCE_END.split(text)
    sentence = ""
    for part in parts:
        sentence = f"{sentence} {part}" if sentence else part
        if not _ABBREVIATION.search(part):
            yield sentence
            sentence = ""
    if sentence:
        yield sentence


def measure(blocks: List[Block]) -> Readability:
    """Returns the figures of a page: of its paragraphs and list items."""
    total = Readability()
    for block in blocks:
        if block.kind not in ("paragraph", "item"):
            continue
        # The text in its own case, with what is not prose masked as elsewhere.
        text = block.piece.text
        masked = "".join(FILLER if mask == FILLER else char for char, mask in zip(text, prose_of(text)))
        for sentence in sentences(masked):
            words = len(_WORD.findall(sentence))
            if words:
                you = len(_YOU.findall(sentence.lower()))
                total = total.plus(Readability(words, 1, int(words > LONG), int(words > TOO_LONG), you))
    return total


def of_pages(pages: List[Tuple[str, List[Block]]]) -> Dict[str, Readability]:
    """Returns the figures of each page."""
    return {path: measure(blocks) for path, blocks in pages}


def of_guides(pages: Dict[str, Readability]) -> Readability:
    """Returns the figures of all guides and tutorials together."""
    total = Readability()
    for path, page in pages.items():
        if path.startswith("docs/") and not _NOT_GUIDES.match(path):
            total = total.plus(page)
    return total

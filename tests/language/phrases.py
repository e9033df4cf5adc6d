# SPDX-License-Identifier: MIT
"""The private phrases of docs/development/style-guide.md, and how to find them in a text."""

import re
from typing import Dict, Iterator, List, NamedTuple, Optional, Pattern, Tuple

from text_piece import Piece, prose_of

# What ends a clause: punctuation, or a word that joins another clause.
_PUNCTUATION = r"\s*(?:[^\w\s`\"'\0]|[\"'](?!\w)|$)"
_JOINING = r"and|or|but|if|when|where|while|unless|because|since|so|then"
_CLAUSE_END = rf"(?={_PUNCTUATION}|\s+(?:{_JOINING})\b)"
# The same, or a word that adds a circumstance.
_PHRASE_END = rf"(?={_PUNCTUATION}|\s+(?:{_JOINING}|which|that|as|at|by|for|from|in|on|of|to|with|after|before|than)\b)"
# Up to four words of the same clause.
_FEW_WORDS = r"(?:\s+[^\s.;:,()]+){0,4}?"


class Phrase(NamedTuple):
    """A private phrase: one of its words, and what has to be before and after it."""

    name: str
    example: str
    instead: str
    words: str
    after: str = ""
    before: str = ""


PHRASES: Tuple[Phrase, ...] = (
    Phrase("mend", "mend, mends", "fix", "mend mends mended mending"),
    Phrase("hear", "hears, heard, unheard", "receive, detect, be notified", "hear hears heard hearing unheard"),
    Phrase(
        "is-said",
        "is said, are said",
        "is reported; the actor and a verb (hpcml warns)",
        "is are was were be been being",
        r"\s+(?:(?:not|also|only|never|always|then|all|now|once)\s+)?said\b",
    ),
    Phrase(
        "say-so",
        "say so, say which, say --x",
        "use, set, pass; report",
        "say says saying",
        r"\s+(?:(?:so|which|how)\b|[\"'`(]?--(?=[a-z\0]))",
    ),
    Phrase("go-on", "goes on, gone on", "continue, resume; is appended to", "go goes going gone went", r"\s+on\b"),
    Phrase("behind", "behind", "after", "behind"),
    Phrase("beside", "beside", "next to, in addition to, compared with", "beside"),
    Phrase("anew", "anew", "again", "anew"),
    Phrase("once-more", "once more", "again", "once", r"\s+more\b"),
    Phrase(
        "nobody", "nobody, somebody, whoever", "the name of the process or user; the passive", "nobody somebody whoever"
    ),
    Phrase(
        "so-many",
        "so many, so often, so long, so much",
        "N; up to N times; for N seconds",
        "so",
        r"\s+(?:many|often|long|much)\b",
    ),
    Phrase(
        "as-it-is",
        "as it is, as they are",
        "unchanged, as is",
        "as",
        r"\s+(?:it\s+(?:is|was)|they\s+(?:are|were))\b" + _PHRASE_END,
    ),
    Phrase(
        "stands",
        "stands, stood",
        "is, appears",
        "stand stands stood standing",
        r"(?!-)(?!\s+(?:for|in\s+for)\b)",
        r"(?<!-)",
    ),
    Phrase("lies", "lies, lying", "is, is stored", "lie lies lain lying"),
    Phrase(
        "held-against",
        "held against",
        "checked against, compared with",
        "hold holds held holding",
        _FEW_WORDS + r"\s+against\b",
    ),
    Phrase(
        "meet",
        "meet, met, meeting",
        "rendezvous, connect",
        "meet meets met meeting meetings",
        r"(?!\s+(?:(?:the|a|its|their|all|this|that|these|those|each|every)\s+)?"
        r"(?:goals?|requirements?|criteria|deadlines?|needs?|conditions?|targets?|minimum)\b)",
    ),
    Phrase("folder", "folder", "directory", "folder folders subfolder subfolders"),
    Phrase("blank", "blank", "space, whitespace", "blank blanks", r"(?!\s+(?:lines?|pages?)\b)"),
    Phrase("slip", "slip", "typo", "slip slips"),
    Phrase(
        "person", "person, people", "user", "person persons people", "", r"(?<!\bfirst\s)(?<!\bsecond\s)(?<!\bthird\s)"
    ),
    Phrase(
        "part-of-a-gpu",
        "part of a GPU",
        "MIG instance, GPU partition",
        "part parts",
        r"\s+of\s+(?:an?|the|its|one|each|every)\s+gpu\b(?!')",
    ),
    Phrase(
        "gpu-parts",
        "GPU parts, cut into parts",
        "MIG instance, GPU partition",
        "parts",
        "",
        r"(?:\bgpus?|\b(?:cut|divided)\s+into)\s+$",
    ),
    Phrase("kind-of-node", "kind of node", "node type", "kind kinds", r"\s+of\s+(?:[\w-]+\s+)?nodes?\b"),
    Phrase("for-want-of", "for want of", "out of memory; without", "for", r"\s+want\s+of\b"),
    Phrase("without-a-word", "without a word", "silently; without output", "without", r"\s+(?:a|any|another)\s+word\b"),
    Phrase(
        "all-the-same",
        "all the same",
        "anyway",
        "all",
        r"\s+the\s+same\b" + _PHRASE_END,
        r"(?<!\bare\s)(?<!\bis\s)(?<!\bbe\s)(?<!\bwere\s)(?<!\bwas\s)",
    ),
    Phrase(
        "is-no",
        "is no X",
        "is not a valid X, must be X",
        "is are was were",
        r"\s+no\s+(?!(?:longer|more|less|fewer|better|worse|different|such|match)\b)(?=\S)",
        r"(?<!\bthere\s)",
    ),
    Phrase(
        "leave-out",
        "leave X out",
        "omit, remove; exclude (nodes)",
        "leave leaves left leaving",
        _FEW_WORDS + r"\s+out\b",
    ),
    Phrase(
        "is-there",
        "is there, is not there",
        "exists; is available",
        "is are was were be been",
        r"\s+(?:(?:not|already|still|only|always|all|no\s+longer)\s+)?there\b(?!\s+(?:an?|any|no|some|anything)\b)",
        r"(?<![,;:.?!|(]\s)",
    ),
    Phrase(
        "blame", "blame, guilty, culprit", "cause; faulty rank", "blame blames blamed blaming guilty culprit culprits"
    ),
    Phrase("comma-too", ", too", "also", "too", _PHRASE_END, r",\s+$"),
    Phrase(
        "of-its-own",
        "of its own",
        "its own; separate, private",
        "of",
        r"\s+(?:its|their|your|his|her|our|hpcml's|one's)\s+own\b",
    ),
    Phrase("in-all", "in all", "in total", "in", r"\s+all\b" + _CLAUSE_END),
    Phrase("tell", "tells, told", "report, print, show", "tell tells telling told untold"),
    Phrase("judge", "judge, judged", "check, validate", "judge judges judged judging judgement judgements"),
    Phrase("verdict", "verdict", "result", "verdict verdicts"),
    Phrase("wants", "wants, wishes", "requires, expects", "wants wishes wished"),
)

INSTEAD: Dict[str, str] = {phrase.name: phrase.instead for phrase in PHRASES}


def markdown_table() -> str:
    """Returns the table of private phrases in docs/development/style-guide.md."""
    rows = [f"| `{phrase.name}` | `{phrase.example}` | {phrase.instead} |\n" for phrase in PHRASES]
    return "| pattern | phrase | use instead |\n|---|---|---|\n" + "".join(rows)


_Rule = Tuple[str, Optional[Pattern[str]], Optional[Pattern[str]]]


def _rules() -> Dict[str, List[_Rule]]:
    rules: Dict[str, List[_Rule]] = {}
    for phrase in PHRASES:
        before = phrase.before if not phrase.before or phrase.before.endswith("$") else phrase.before + r"$"
        rule = (phrase.name, re.compile(before) if before else None, re.compile(phrase.after) if phrase.after else None)
        for word in phrase.words.split():
            rules.setdefault(word, []).append(rule)
    return rules


_RULES = _rules()
_WORDS = re.compile(r"(?<![a-z0-9_])(?:" + "|".join(sorted(_RULES)) + r")(?![a-z0-9_])")
_BEFORE_WIDTH = 20


class Match(NamedTuple):
    """One private phrase in a piece, from its first word to the end of what follows."""

    name: str
    begin: int
    end: int


def matches(piece: Piece) -> Iterator[Match]:
    """Yields the private phrases of a piece."""
    if not _WORDS.search(piece.text.lower()):
        return
    text = prose_of(piece.text)
    for word in _WORDS.finditer(text):
        for name, before, after in _RULES[word.group()]:
            if before and not before.search(text[max(0, word.start() - _BEFORE_WIDTH) : word.start()]):
                continue
            end = word.end()
            if after:
                tail = after.match(text, end)
                if not tail:
                    continue
                end = tail.end()
            yield Match(name, word.start(), end)

# SPDX-License-Identifier: MIT
"""Occurrences of private phrases that are right, each with its reason, and commits that no rule applies to."""

import fnmatch
import json
from typing import Any, Dict, List

from text_piece import Piece

_KEYS = {"corpus", "pattern", "files", "text", "reason"}


class Exceptions:
    """The exceptions of tests/language/exceptions.json."""

    def __init__(self, content: Dict[str, Any]):
        self._phrases: List[Dict[str, str]] = content.get("phrases", [])
        self.commits: Dict[str, str] = content.get("commits", {})
        self._used = [False] * len(self._phrases)
        for entry in self._phrases:
            if set(entry) != _KEYS or not all(entry.values()):
                raise ValueError(f"an exception needs {', '.join(sorted(_KEYS))}: {json.dumps(entry)}")
        for commit, reason in self.commits.items():
            if len(commit) < 7 or not reason:
                raise ValueError(f"the exception for commit '{commit}' needs 7 digits and a reason")

    @staticmethod
    def load(path: str) -> "Exceptions":
        """Returns the exceptions of a file."""
        with open(path, encoding="utf-8") as file:
            return Exceptions(json.load(file))

    def allow(self, corpus: str, pattern: str, piece: Piece, begin: int, end: int) -> bool:
        """Returns whether an occurrence is an exception."""
        for index, entry in enumerate(self._phrases):
            if (
                entry["pattern"] != pattern
                or entry["corpus"] != corpus
                or not fnmatch.fnmatch(piece.path, entry["files"])
            ):
                continue
            if entry["text"] in piece.around(begin, end, len(entry["text"])):
                self._used[index] = True
                return True
        return False

    def unused(self) -> List[Dict[str, str]]:
        """Returns the exceptions that no occurrence needs."""
        return [entry for entry, used in zip(self._phrases, self._used) if not used]

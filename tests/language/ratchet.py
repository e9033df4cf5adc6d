# SPDX-License-Identifier: MIT
"""The counts that may only fall: tests/language/ratchet.json."""

import json
from typing import Any, Dict, List, NamedTuple

Counts = Dict[str, Dict[str, int]]  # by measure and pattern


class Difference(NamedTuple):
    """A count that differs from its limit."""

    measure: str
    pattern: str
    limit: int
    count: int


class Ratchet:
    """The limits of the counts, and the base commit of the history."""

    def __init__(self, content: Dict[str, Any]):
        self.base: str = content["base-commit"]
        self.counts: Counts = content["counts"]
        self.raises: List[Dict[str, Any]] = content.get("raises", [])

    @staticmethod
    def load(path: str) -> "Ratchet":
        """Returns the ratchet of a file. Raises ValueError if the file is not one (a merge conflict, for example)."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            return Ratchet(json.loads(text))
        except (KeyError, TypeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path} cannot be read: {error}") from error

    def limit(self, measure: str, pattern: str) -> int:
        """Returns the highest count that passes."""
        return self.counts.get(measure, {}).get(pattern, 0)

    def _differences(self, counts: Counts) -> List[Difference]:
        return [
            Difference(measure, pattern, self.limit(measure, pattern), count)
            for measure, patterns in counts.items()
            for pattern, count in patterns.items()
            if count != self.limit(measure, pattern)
        ]

    def above(self, counts: Counts) -> List[Difference]:
        """Returns the counts above their limits."""
        return [row for row in self._differences(counts) if row.count > row.limit]

    def below(self, counts: Counts) -> List[Difference]:
        """Returns the counts below their limits."""
        return [row for row in self._differences(counts) if row.count < row.limit]

    def lower(self, counts: Counts) -> None:
        """Lowers the limits to the counts that are below them; patterns that are not counted any more go."""
        for measure, patterns in counts.items():
            self.counts[measure] = {
                pattern: min(count, self.limit(measure, pattern)) for pattern, count in patterns.items()
            }

    def allow(self, differences: List[Difference], reason: str) -> None:
        """Raises the limits of these counts, and records the reason."""
        for row in differences:
            self.counts.setdefault(row.measure, {})[row.pattern] = row.count
            self.raises.append(
                {"count": f"{row.measure}/{row.pattern}", "from": row.limit, "to": row.count, "reason": reason}
            )

    def save(self, path: str) -> None:
        """Writes the file, one count a line, so that changes of different counts merge."""
        content = {"base-commit": self.base, "counts": self.counts, "raises": self.raises}
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")

# SPDX-License-Identifier: MIT
"""What the gate asks Git: the new commits, and the lines that changed since the ratchet was set."""

import re
import subprocess
from typing import Dict, List, NamedTuple, Optional, Set


class Commit(NamedTuple):
    """A commit and its whole message."""

    id: str
    message: str


class NewCommits(NamedTuple):
    """The commits to check, and what could not be checked (empty: all could)."""

    commits: List[Commit]
    note: str


class ChangedLines:
    """The lines of the working tree that differ from a commit."""

    def __init__(self, since: str, lines: Dict[str, Set[int]], new_files: Set[str]):
        self.since = since
        self._lines = lines
        self._new_files = new_files

    def has(self, path: str, line: int) -> bool:
        """Returns whether a line is new or changed."""
        return path in self._new_files or line in self._lines.get(path, ())


def _git(root: str, *arguments: str, stdin: Optional[str] = None) -> Optional[str]:
    """Returns the output of a Git command, or None if it fails or Git is not installed."""
    command = ["git", "-c", "core.quotePath=false", *arguments]
    try:
        result = subprocess.run(
            command, cwd=root, input=stdin, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError:
        return None
    return result.stdout if result.returncode == 0 else None


def _is_ancestor(root: str, base: str) -> bool:
    return _git(root, "merge-base", "--is-ancestor", base, "HEAD") is not None


def new_commits(root: str, base: str, marker: str) -> NewCommits:
    """Returns the commits after `base`, without merges.

    If the base is not in the history (a shallow clone, a rewritten history), the new commits are those that exist and
    have the file `marker`, which was added after the base.
    """
    if _git(root, "rev-parse", "--verify", "--quiet", "HEAD") is None:
        return NewCommits([], "Git reads no history here: no commit was checked")
    note = ""
    selection = ["HEAD"]
    is_known = _is_ancestor(root, base)
    if is_known:
        selection = [f"{base}..HEAD"]
    else:
        is_shallow = (_git(root, "rev-parse", "--is-shallow-repository") or "").strip() == "true"
        reason = "this clone is shallow" if is_shallow else "it is not in the history of HEAD"
        note = f"base commit {base[:7]} not found ({reason}): checked the commits that exist and have {marker}"
    log = _git(root, "log", "--no-merges", "-z", "--format=%H%n%B", *selection) or ""
    commits = [Commit(*entry.split("\n", 1)) for entry in log.split("\0") if "\n" in entry]
    if not is_known:
        query = "".join(f"{commit.id}:{marker}\n" for commit in commits)
        answers = (_git(root, "cat-file", "--batch-check", stdin=query) or "").splitlines()
        commits = [commit for commit, answer in zip(commits, answers) if not answer.endswith(" missing")]
    return NewCommits(commits, note)


def changed_lines(root: str, ratchet: str) -> Optional[ChangedLines]:
    """Returns the lines that changed since the last commit of the ratchet file, or None without Git."""
    since = (_git(root, "log", "-1", "--format=%H", "--", ratchet) or "").strip() or "HEAD"
    diff = _git(root, "diff", "-U0", "--no-color", "--no-ext-diff", "--no-prefix", "-M", since, "--")
    if diff is None:
        return None
    lines: Dict[str, Set[int]] = {}
    current: Set[int] = set()
    for row in diff.split("\n"):
        if row.startswith("+++ "):
            current = lines.setdefault(row[4:].rstrip("\t"), set())
            continue
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", row)
        if hunk:
            first = int(hunk.group(1))
            current.update(range(first, first + int(hunk.group(2) or 1)))
    untracked = _git(root, "ls-files", "--others", "--exclude-standard") or ""
    return ChangedLines(since[:7], lines, set(untracked.splitlines()))

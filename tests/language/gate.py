#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the language of the repository and compares the counts with the ratchet.

Usage: python3 tests/language/gate.py [--binary build/release/bin/hpcml]
The rules are in docs/development/style-guide.md. Exit codes: 0 passed, 1 a count rose or a commit message is wrong, 2 usage.
"""

import argparse
import os
import sys
from typing import Dict, List, Optional

sys.dont_write_bytecode = True  # the source tree stays as it is
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import commit_messages  # noqa: E402
import git_history  # noqa: E402
import measures  # noqa: E402
import readability  # noqa: E402
from corpora import Texts  # noqa: E402
from exceptions import Exceptions  # noqa: E402
from measures import Places  # noqa: E402
from ratchet import Counts, Difference, Ratchet  # noqa: E402
from text_piece import FILLER, Place  # noqa: E402

RATCHET = "tests/language/ratchet.json"
EXCEPTIONS = "tests/language/exceptions.json"
UPDATE = "python3 tests/language/gate.py --update"
MAX_PLACES = 15


class Failure(Exception):
    """The gate cannot measure: a file or the program is missing or wrong."""


class Gate:
    """One run of the gate over one repository."""

    def __init__(self, root: str, binary: Optional[str]):
        self.root = root
        self.skipped: Dict[str, str] = {}  # measures, with the reasons
        self.ratchet = Ratchet.load(os.path.join(root, RATCHET))
        self.exceptions = Exceptions.load(os.path.join(root, EXCEPTIONS))
        self.texts = Texts(root)
        self.places: Dict[str, Places] = measures.private_phrases(self.texts, self.exceptions)
        self.places["test-name-length"] = measures.test_name_length(self.texts)
        self.places["identifiers"] = measures.identifiers(self.texts, measures.BANNED_IDENTIFIERS)
        self.places["vague-identifiers"] = measures.identifiers(self.texts, measures.VAGUE_IDENTIFIERS)
        self.places["basenames"] = measures.basenames(root)
        if binary is None:
            self.skipped["help-width"] = "no binary: give --binary PATH or set HPCML_BINARY"
        elif not os.access(binary, os.X_OK):
            raise Failure(f"no program at {binary}: build hpcml first, or leave --binary and HPCML_BINARY unset")
        else:
            self.places["help-width"] = measures.help_width(os.path.abspath(binary))

    def counts(self) -> Counts:
        """Returns the counts of what was measured."""
        return {
            measure: {name: len(found) for name, found in places.items()} for measure, places in self.places.items()
        }

    def print_summary(self) -> None:
        """Prints one line for each measure."""
        for measure in measures.UNITS:
            if measure in self.skipped:
                print(f"{measure}: skipped: {self.skipped[measure]}")
                continue
            total = sum(self.counts()[measure].values())
            limit = sum(self.ratchet.counts.get(measure, {}).values())
            print(f"{measure}: {total} of at most {limit} ({measures.UNITS[measure]})")
        print(f"guides: {readability.of_guides(readability.of_pages(self.texts.pages)).row()} (not limited)")

    def print_rise(self, row: Difference, changed: Optional[git_history.ChangedLines]) -> None:
        """Prints a count above its limit, and where its occurrences are: those in changed lines first."""
        places = self.places[row.measure][row.pattern]
        print(f"error: {rise(row)}")
        fresh = [place for place in places if changed and changed.has(place.path, place.line)]
        if fresh and changed:
            print(f"  in lines changed since {changed.since}:")
        print_places(fresh or places, row)
        print(f"hint: {measures.hint_of(row.measure, row.pattern)}")

    def check_counts(self) -> bool:
        """Reports counts above and below their limits. Returns whether none is above."""
        above = self.ratchet.above(self.counts())
        below = self.ratchet.below(self.counts())
        if above:
            changed = git_history.changed_lines(self.root, RATCHET)
            for row in above:
                self.print_rise(row, changed)
        if below:
            fallen = ", ".join(f"{row.measure}/{row.pattern} {row.limit} -> {row.count}" for row in below[:8])
            print(f"note: {len(below)} counts fell: {fallen}{', ...' if len(below) > 8 else ''}")
            print(f"hint: lower the ratchet: {UPDATE}")
        return not above

    def check_exceptions(self) -> bool:
        """Reports exceptions that no text needs. Returns whether there are none."""
        unused = self.exceptions.unused()
        for entry in unused:
            pattern = f"{entry['corpus']}/{entry['pattern']}"
            print(f"error: {EXCEPTIONS}: no text needs the exception '{entry['text']}' for {pattern}")
            print("hint: remove it")
        return not unused

    def check_commits(self) -> bool:
        """Reports new commits with a wrong message. Returns whether there are none."""
        new = git_history.new_commits(self.root, self.ratchet.base, RATCHET)
        wrong = 0
        for commit in new.commits:
            if any(commit.id.startswith(known) for known in self.exceptions.commits):
                continue
            problems = commit_messages.message_problems(commit.message)
            for problem in problems:
                print(f"error: commit {commit.id[:7]}: {problem}: {commit.message.splitlines()[0][:100]}")
            wrong += bool(problems)
        print(f"commits: {len(new.commits)} new since {self.ratchet.base[:7]}, {wrong} with a wrong message")
        if new.note:
            print(f"note: {new.note}")
        if wrong:
            print("hint: reword them (git rebase -i); enable the hook: git config core.hooksPath .githooks")
        return not wrong

    def update(self, reason: Optional[str]) -> bool:
        """Lowers the ratchet, and raises it if a reason is given. Returns whether no count is above its limit."""
        counts = self.counts()
        above, below = self.ratchet.above(counts), self.ratchet.below(counts)
        self.ratchet.lower(counts)
        if reason:
            self.ratchet.allow(above, reason)
        self.ratchet.save(os.path.join(self.root, RATCHET))
        print(f"{RATCHET}: lowered {len(below)} counts" + (f", raised {len(above)}" if reason else ""))
        for measure, why in self.skipped.items():
            print(f"note: {measure} is unchanged: {why}")
        for row in above if not reason else []:
            print(f"error: {rise(row)}, which --update does not raise")
        if above and not reason:
            print("hint: remove the new occurrences, or add --allow-raise REASON")
        return bool(reason) or not above

    def print_list(self, selection: str) -> bool:
        """Prints all places of a measure, or of one of its patterns ("docs", "docs/tell")."""
        measure, _, pattern = selection.partition("/")
        if measure in self.skipped:
            raise Failure(f"{measure} was skipped: {self.skipped[measure]}")
        if measure not in self.places or (pattern and pattern not in self.places[measure]):
            raise Failure(f"unknown measure '{selection}': use one of {', '.join(self.places)}, or MEASURE/PATTERN")
        for name, places in self.places[measure].items():
            for place in places if name == (pattern or name) else []:
                print(f"{place.path}:{place.line}: {name}: {shown(place)}")
        return True

    def print_report(self) -> bool:
        """Prints the readability of each page."""
        pages = readability.of_pages(self.texts.pages)
        for path, page in sorted(pages.items()):
            if page.words:
                print(f"{path}: {page.row()}")
        print(f"all guides: {readability.of_guides(pages).row()}")
        return True


def rise(row: Difference) -> str:
    """Returns what is wrong with a count above its limit."""
    return f"{row.measure}: {row.count} occurrences of '{row.pattern}' exceed the limit of {row.limit}"


def shown(place: Place) -> str:
    """Returns the text of a place as it can be printed."""
    return place.text.replace(FILLER, "~")


def print_places(places: List[Place], row: Difference) -> None:
    """Prints the first places, and how to see all of them."""
    for place in places[:MAX_PLACES]:
        print(f"  {place.path}:{place.line}: {shown(place)}")
    if len(places) > MAX_PLACES:
        command = f"python3 tests/language/gate.py --list {row.measure}/{row.pattern}"
        print(f"  ... and {len(places) - MAX_PLACES} more: {command}")


def check_message(path: str) -> int:
    """Checks the message of a commit that is being made, for the commit-msg hook. Returns the exit code."""
    with open(path, encoding="utf-8", errors="replace") as file:
        problems = commit_messages.hook_problems(file.read())
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    if problems:
        print("hint: see docs/development/style-guide.md; the message is kept: git commit -e -F " + path, file=sys.stderr)
    return 1 if problems else 0


def parse_arguments(arguments: List[str]) -> argparse.Namespace:
    """Returns the options of the command line."""
    parser = argparse.ArgumentParser(
        description="Measures the language of the repository and compares it with its ratchet."
    )
    default_root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--root", default=default_root, help="the repository [default: that of this file]")
    parser.add_argument(
        "--binary",
        default=os.environ.get("HPCML_BINARY"),
        help="the hpcml whose help is measured [default: $HPCML_BINARY]",
    )
    parser.add_argument("--update", action="store_true", help="lower the ratchet to the counts of today")
    parser.add_argument(
        "--allow-raise", metavar="REASON", help="with --update: raise counts as well, and record the reason"
    )
    parser.add_argument("--list", metavar="MEASURE[/PATTERN]", help="print all places of a measure or of one pattern")
    parser.add_argument("--report", action="store_true", help="print the length of sentences on each page")
    parser.add_argument("--commit-msg", metavar="FILE", help="check one commit message, as a hook")
    options = parser.parse_args(arguments)
    if options.allow_raise is not None and not (options.update and options.allow_raise.strip()):
        parser.error("--allow-raise needs --update and a reason")
    return options


def run(options: argparse.Namespace) -> bool:
    """Runs the gate. Returns whether it passed."""
    gate = Gate(options.root, options.binary or None)
    if options.list:
        return gate.print_list(options.list)
    if options.report:
        return gate.print_report()
    if options.update:
        return gate.update(options.allow_raise)
    gate.print_summary()
    checks = [gate.check_commits(), gate.check_counts(), gate.check_exceptions()]
    return all(checks)


def main(arguments: List[str]) -> int:
    """Runs the program. Returns its exit code."""
    options = parse_arguments(arguments)
    if options.commit_msg:
        return check_message(options.commit_msg)
    try:
        return 0 if run(options) else 1
    except (Failure, RuntimeError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        if RATCHET in str(error):
            print(f"hint: after a merge conflict take either side of the file, then run {UPDATE}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests the catalogue of messages and its page. Usage: python3 tests/messages/catalogue_test.py"""

import os
import sys
import tempfile
import unittest
from typing import List

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
# pylint: disable=wrong-import-position
import catalogue  # noqa: E402
import message_scan  # noqa: E402
import sample  # noqa: E402
from message_scan import Message  # noqa: E402

SOURCE = '''
int start() {
  if (failed) return Error{fmt::format("cannot start rank {}: {}", rank, why), "check `ulimit -u`"};
  log_warning("the node is " "very slow\\nhint: use another node");
  say(count == 1 ? "rank" : "ranks");
}
'''


def scan(source: str) -> List[Message]:
    """Returns the messages of one source of launch."""
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "src/run/launch"))
        with open(os.path.join(root, "src/run/launch/x.cpp"), "w", encoding="utf-8") as file:
            file.write(source)
        return message_scan.messages(root)


def product(*texts: str) -> List[catalogue.Entry]:
    """Returns a catalogue of launch with these messages."""
    entries = [{"text": text, "meaning": "A reason."} for text in texts]
    return [{"product": "launch", "intro": "", "messages": entries, "reasons": [], "no_messages": []}]


class ScanTest(unittest.TestCase):
    """message_scan.py finds messages and hints."""

    def test_scan_finds_messages_with_their_hints(self) -> None:
        found = [(message.text, message.hints) for message in scan(SOURCE)]
        self.assertEqual(
            found,
            [
                ("cannot start rank {}: {}", ["check `ulimit -u`"]),
                ("the node is very slow", ["use another node"]),
            ],
        )


class SampleTest(unittest.TestCase):
    """sample.py draws messages of all products."""

    def test_sample_finds_messages_of_all_products(self) -> None:
        found = sample.messages(catalogue.ROOT)
        self.assertGreater(len(found), 800)
        products = {drawn.path.split("/")[1] for drawn in found}
        self.assertEqual(products, {"cli", "core", "ddp", "diagnose", "emulate", "generate", "run", "torch"})


class CatalogueTest(unittest.TestCase):
    """catalogue.py compares the catalogue with the sources."""

    def test_catalogue_reports_message_without_entry(self) -> None:
        lines = catalogue.problems(product("the node is very slow"), scan(SOURCE))
        self.assertEqual(lines, ["src/run/launch/x.cpp:3: no entry for 'cannot start rank {}: {}'"])

    def test_catalogue_reports_entry_without_message(self) -> None:
        texts = ("cannot start rank {}: {}", "the node is very slow", "the node is gone")
        lines = catalogue.problems(product(*texts), scan(SOURCE))
        self.assertIn("tests/messages/catalogue.json: no source has 'the node is gone'", lines)

    def test_page_shows_meaning_and_action(self) -> None:
        found = scan(SOURCE)
        page = catalogue.render(product("cannot start rank {}: {}", "the node is very slow"), found)
        self.assertIn("- `cannot start rank …: …`\n    - A reason.\n    - **What to do:** Check `ulimit -u`.\n", page)

    def test_catalogue_matches_sources(self) -> None:
        found = message_scan.messages(catalogue.ROOT)
        self.assertGreater(len(found), 300)
        self.assertEqual(catalogue.problems(catalogue.load(catalogue.ROOT), found), [])

    def test_page_is_generated(self) -> None:
        with open(os.path.join(catalogue.ROOT, catalogue.PAGE), encoding="utf-8") as file:
            page = file.read()
        expected = catalogue.render(catalogue.load(catalogue.ROOT), message_scan.messages(catalogue.ROOT))
        self.assertEqual(page, expected, "run python3 tests/messages/catalogue.py --write")


if __name__ == "__main__":
    unittest.main()

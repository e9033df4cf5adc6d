# SPDX-License-Identifier: MIT
"""Each private phrase is found where it is one, and not where the words mean something else."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import phrases  # noqa: E402
from exceptions import Exceptions  # noqa: E402
from text_piece import LineIndex, Piece  # noqa: E402

# By phrase: texts that have it once, and texts that do not have it.
CASES = {
    "mend": (["--fix mends it", "the mend", "can be mended"], ["amend the commit", "recommended"]),
    "hear": (["ranks hear of it", "is heard of", "signal-unheard"], ["a shear", "the heart"]),
    "is-said": (["it is said", "what was not said", "They are\nsaid once"], ["he said so", "is it said-like to"]),
    "say-so": (
        ["and says so", "say which", "saying how", "say --time", "say `--time`", "say '--time'"],
        ["says that it is", "say more"],
    ),
    "go-on": (["goes on", "has gone on", "to go\n on", "Going on"], ["goes only once", "go to on-call", "ongoing"]),
    "behind": (["behind the colon"], ["behindhand"]),
    "beside": (["beside hpcml"], ["besides, it is"]),
    "anew": (["start anew"], ["a new one"]),
    "once-more": (["Once more"], ["once, more"]),
    "nobody": (["nobody looks", "somebody's", "whoever runs it"], ["no body", "nobodyelse"]),
    "so-many": (["so many times", "so often", "for so long", "so much"], ["so, many do", "also much"]),
    "as-it-is": (
        ["stays as it is.", "as they are", "as it is on the site", "as it was, and"],
        ["as it is the first", "as they are compiled"],
    ),
    "stands": (
        ["what stands after it", "stood", "A stand."],
        ["stands for hours", "a stand-in", "understands", "long-standing"],
    ),
    "lies": (["it lies in", "lying", "may lie"], ["replies", "a lay person's"]),
    "held-against": (["is held against the goal", "hold a live node against"], ["holds a lock. Against", "against"]),
    "meet": (
        ["ranks meet at", "they met", "a meeting point"],
        ["meets the goal", "does not meet all requirements", "meter"],
    ),
    "folder": (["a folder", "Folders", "subfolder"], ["FolderName", "the my_folder variable", "`folder`"]),
    "blank": (["a blank or a tab", "blanks"], ["a blank line", "blank lines", "blanket"]),
    "slip": (["a slip of the name"], ["slipped", "slipstream"]),
    "person": (["a person", "for people"], ["personal", "in persona", "in the third person"]),
    "part-of-a-gpu": (
        ["a part of a GPU", "Parts of the GPU that"],
        ["a part of its GPUs", "the part of the GPU's share", "part of a job"],
    ),
    "gpu-parts": (["GPU parts", "are cut into parts", "cut\ninto parts"], ["the GPU takes part", "spare parts"]),
    "kind-of-node": (["a kind of node", "kinds of GPU nodes"], ["a kind of job", "kinds of work on nodes"]),
    "for-want-of": (["for want of memory"], ["for what", "want of"]),
    "without-a-word": (["without a word", "without another word"], ["without a warning"]),
    "all-the-same": (["it ends all the same.", "runs all the same, and"], ["are all the same.", "all the same nodes"]),
    "is-no": (
        ["is no number", "are no files", "was no rank"],
        ["there is no file", "is no longer", "is no more than", "is none"],
    ),
    "leave-out": (
        ["leave it out", "left out", "leaves the bad node out", "leave {} out"],
        ["leave the job. Out of", "leave it without"],
    ),
    "is-there": (
        ["is not there", "what is there already", "must be there"],
        ["there is one", "is there a file?", ", is there internet", "is therefore"],
    ),
    "blame": (["to blame", "the culprit", "guilty"], ["blameless"]),
    "comma-too": (
        ["this one, too.", "ranks, too, are", "it, too and"],
        ["it is too large", ", too many nodes", "too late"],
    ),
    "of-its-own": (["a store of its own", "of their own"], ["its own store", "of own"]),
    "in-all": (["4 in all.", "in all, and"], ["in all of them", "in all forms", "in alliance"]),
    "tell": (["tells the ranks", "is told", "untold"], ["retell", "intelligent"]),
    "judge": (["judged by", "a judge", "judgement"], ["prejudge"]),
    "verdict": (["the verdict"], ["verdigris"]),
    "wants": (["the site wants it", "their wishes"], ["if you want it", "you wish"]),
}


def found(text):
    return [match.name for match in phrases.matches(Piece("a", LineIndex(text), [(0, text)]))]


class Phrases(unittest.TestCase):
    def test_every_phrase_has_cases(self):
        self.assertEqual(set(CASES), set(phrases.INSTEAD))

    def test_phrases_are_found(self):
        for name, (texts, _) in CASES.items():
            for text in texts:
                with self.subTest(name, text=text):
                    self.assertEqual(found(text).count(name), 1)

    def test_other_meanings_are_not_found(self):
        for name, (_, texts) in CASES.items():
            for text in texts:
                with self.subTest(name, text=text):
                    self.assertNotIn(name, found(text))

    def test_plain_text_has_none(self):
        text = """hpcml rejects the request if the partition does not exist. Use `--partition` to select it.
        The agent restarts all ranks after a failure, up to N times, and reports the rank that failed first.
        Output is appended to the existing log file. With one task per rank, no hpcml process remains."""
        self.assertEqual(found(text), [])

    def test_the_style_page_has_the_table_of_phrases(self):
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/development/style-guide.md")
        with open(path, encoding="utf-8") as file:
            self.assertIn(phrases.markdown_table(), file.read(), "put this table into docs/development/style-guide.md")


class ExceptionList(unittest.TestCase):
    ENTRY = {
        "corpus": "docs",
        "pattern": "nobody",
        "files": "docs/*",
        "text": "user nobody",
        "reason": "A user of that name.",
    }

    def allowed(self, entry, path, text):
        exceptions = Exceptions({"phrases": [entry]})
        piece = Piece(path, LineIndex(text), [(0, text)])
        match = next(phrases.matches(piece))
        return exceptions.allow("docs", match.name, piece, match.begin, match.end), exceptions.unused()

    def test_an_exception_is_for_its_text_and_files_only(self):
        self.assertEqual(self.allowed(self.ENTRY, "docs/a.md", "as user nobody on the node"), (True, []))
        self.assertEqual(self.allowed(self.ENTRY, "docs/a.md", "nobody looks"), (False, [self.ENTRY]))
        self.assertEqual(self.allowed(self.ENTRY, "README.md", "as user nobody"), (False, [self.ENTRY]))

    def test_an_exception_needs_a_reason(self):
        with self.assertRaisesRegex(ValueError, "an exception needs"):
            Exceptions({"phrases": [{**self.ENTRY, "reason": ""}]})
        with self.assertRaisesRegex(ValueError, "needs 7 digits and a reason"):
            Exceptions({"commits": {"0123456": ""}})


if __name__ == "__main__":
    unittest.main()

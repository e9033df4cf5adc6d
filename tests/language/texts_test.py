# SPDX-License-Identifier: MIT
"""What the gate reads of C++, Markdown and templates."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import corpora  # noqa: E402
import markdown_prose  # noqa: E402
import readability  # noqa: E402
from cpp_tokens import CppSource  # noqa: E402
from text_piece import prose_of  # noqa: E402


def source_of(text):
    return CppSource("a.cpp", text)


def literals_of(text):
    return [piece.text for piece in source_of(text).literals()]


def comments_of(text):
    return [piece.text for piece in source_of(text).comments()]


def names_of(text):
    source = source_of(text)
    return [piece.text for piece in source.test_names(source.code())]


class CppTokens(unittest.TestCase):
    def test_literals_of_all_forms_are_found(self):
        cases = {
            'f("a b");': ["a b"],
            'f("a // b", "c /* d */");': ["a // b", "c /* d */"],
            r'f("a \"b\" c");': [r'a  "b " c'],
            r'f("a\nb\x1b[0m");': ["a  b\0\0\0\0[0m"],
            'f(R"(a "b"\nc)");': ['a "b"\nc'],
            'f(R"re(a)" b)re");': ['a)" b'],
            'f(u8"a", L"b", U"c", u"d", LR"(e)", u8R"x(f)x");': ["a", "b", "c", "d", "e", "f"],
            'f("a "\n  "b" /* joined */ "c" R"(d)", "e");': ["a bcd", "e"],
            'f("a \\\nb");': ["a   b"],
            "char c = '\"'; char d = '\\''; f(\"a\");": ["a"],
            "int n = 1'000'000; f(\"a\"); int m = 0xFF'FF;": ["a"],
            'int isR = 1; f(isR, "a(b)");': ["a(b)"],
            '#include "said.hpp"\n#include <said>\n#if __has_include("x.hpp")\n#endif\nf("a");': ["a"],
            '#error don\'t\nf("a");': ["a"],
            '// "a"\n/* "b" */': [],
            'f("open\n); g("a");': ["open", "a"],
        }
        for text, expected in cases.items():
            with self.subTest(text):
                self.assertEqual(literals_of(text), expected)

    def test_comments_of_consecutive_lines_are_one_piece(self):
        self.assertEqual(comments_of("/// One\n/// two.\n\n// Three\nint x; // four\n"), ["One\ntwo.", "Three", "four"])
        self.assertEqual(comments_of("/* One\n * two */ int x;"), ["One\ntwo   "])
        self.assertEqual(comments_of("// One \\\ntwo\nint x;"), ["One \ntwo"])
        self.assertEqual(comments_of('auto u = "http://x"; auto v = \'/\'; auto w = R"(// no)";'), [])

    def test_code_has_no_comments_literals_or_directives(self):
        text = '#include "said.hpp"\nint told = 1\'000; // said\nf("here", R"(there)", \'x\');'
        text += " /* other\none */ int asked;\n"
        code = source_of(text).code()
        self.assertEqual(code.count("\n"), text.count("\n"))
        for word in ("said", "here", "there", "other", "one"):
            self.assertNotIn(word, code)
        self.assertIn("int told = 1'000;", code)
        self.assertIn("int asked;", code)

    def test_pieces_know_the_lines_of_their_text(self):
        piece = source_of('\nf("so "\n  "many",\n  R"(x\nmany)");\n').literals()
        self.assertEqual(piece[0].line_at(piece[0].text.index("many")), 3)
        self.assertEqual(piece[1].line_at(piece[1].text.index("many")), 5)
        comment = source_of("int x;\n// one\n//   two\n").comments()[0]
        self.assertEqual(comment.line_at(comment.text.index("two")), 3)

    def test_names_of_cases_and_sections_are_found(self):
        text = """TEST_CASE("first name",
                  "[slurm]") { SECTION("second") {} DYNAMIC_SECTION("third " << x) {} f("no name"); }
TEST_CASE_METHOD(Fixture, "fourth " "name") {}
TEMPLATE_TEST_CASE("fifth", "", int) {}
TEST_CASE(
    R"(sixth)") {}
// TEST_CASE("commented")
const char* text = "TEST_CASE(\\"quoted\\")";
MY_SECTION("other macro");
"""
        self.assertEqual(names_of(text), ["first name", "second", "third ", "fourth name", "fifth", "sixth"])


class Masks(unittest.TestCase):
    def test_code_is_no_prose(self):
        cases = {
            "Run `hpcml tell` now": "run `0000000000` now",
            "say --meet-timeout 5": "say --000000000000 5",
            "see https://told.example and": "see 00000000000000000000 and",
            "the asked_for of store::meet": "the 000000000 of 00000000000",
            "in src/launch/meet.cpp or /dev/blank": "in 0000000000000000000 or 0000000000",
            "leave {folder} out, ${folder} and {{{folder}}}": "leave 00000000 out, 000000000 and 000000000000",
            "Either/or a Folder": "either/or a folder",
        }
        for text, expected in cases.items():
            with self.subTest(text):
                self.assertEqual(prose_of(text).replace("\0", "0"), expected)
                self.assertEqual(len(prose_of(text)), len(text))


class Markdown(unittest.TestCase):
    def test_blocks_are_paragraphs_items_headings_and_rows(self):
        page = """# A title

One line
and the next.

- an item
  that goes further
- another

| a | b |
|---|---|

> quoted
"""
        found = [(block.kind, block.piece.text) for block in markdown_prose.blocks("p.md", page)]
        self.assertEqual(
            found,
            [
                ("heading", "# A title"), ("paragraph", "One line\nand the next."),
                ("item", "an item\n  that goes further"), ("item", "another"),
                ("row", "| a | b |"), ("row", "|---|---|"), ("paragraph", "quoted"),
            ],
        )  # fmt: skip

    def test_code_comments_and_link_targets_are_left_out(self):
        page = """Text [name](folder/meet.md "folder") <a href="folder">.

```bash
folder
```

1. Item:

   ~~~~
   folder
   ~~~
   folder
   ~~~~

<!-- folder
folder -->

    folder

[ref]: folder
End.
"""
        text = "\n".join(block.piece.text for block in markdown_prose.blocks("p.md", page))
        self.assertNotIn("folder", text)
        self.assertIn("Item:", text)
        self.assertIn("End.", text)

    def test_lines_are_those_of_the_page(self):
        block = markdown_prose.blocks("p.md", "# T\n\n- a\n  b folder\n")[1]
        self.assertEqual(block.piece.line_at(block.piece.text.index("folder")), 4)

    def test_the_unreleased_section_ends_at_the_next_one(self):
        self.assertEqual(
            markdown_prose.top_section("# C\n\n## Unreleased\na\n\n## 0.1\nb\n"), "# C\n\n## Unreleased\na\n\n"
        )
        self.assertEqual(markdown_prose.top_section("# C\n"), "# C\n")


class Templates(unittest.TestCase):
    def test_comments_of_consecutive_lines_are_one_piece(self):
        pieces = corpora.template_pieces("t.mustache", "#!/bin/bash\n# one\n# two\n\necho three\n# four\n")
        self.assertEqual([piece.text for piece in pieces], ["#!/bin/bash", "one\ntwo", "echo three", "four"])
        self.assertEqual(pieces[1].line_at(4), 3)


class Sentences(unittest.TestCase):
    def test_sentences_end_at_full_stops_before_capitals(self):
        text = 'One thing. Another (e.g. Two). hpcml runs. Version 1.2 of x. Is it? "Yes."'
        self.assertEqual(
            list(readability.sentences(text)),
            ["One thing.", "Another (e.g. Two).", "hpcml runs.", "Version 1.2 of x.", "Is it?", '"Yes."'],
        )

    def test_counts_of_a_page_are_those_counted_by_hand(self):
        long = " ".join(["word"] * 26) + "."
        too_long = " ".join(["word"] * 41) + "."
        page = f"# You and a title\n\nYou run `hpcml gen --site x` here. {long.capitalize()}\n\n"
        page += f"- {too_long} Use your own.\n\n| you |\n"
        counts = readability.measure(markdown_prose.blocks("p.md", page))
        self.assertEqual(counts, readability.Readability(words=4 + 26 + 41 + 3, sentences=4, long=2, too_long=1, you=2))

    def test_guides_are_the_pages_for_users(self):
        one = readability.Readability(1, 1, 0, 0, 0)
        pages = {path: one for path in ("README.md", "docs/index.md", "docs/tutorials/lumi.md", "docs/guides/a.md")}
        others = {
            path: one for path in ("docs/reference/job-file.md", "docs/concepts/a.md", "docs/development/decisions/1.md", "CHANGELOG.md")
        }
        self.assertEqual(readability.of_guides({**pages, **others}).words, 3)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: MIT
"""The comparison of objects: a rename passes, and each planted change is found."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from typing import Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_objects  # noqa: E402

HEADER = """#pragma once
#include <string>
#include <vector>
namespace plan {
struct Told { std::vector<std::string> said; int goes(int step) const; };
int hear_node(const Told& told, const std::string& text);
template <class T> [[gnu::noinline]] T sum(const std::vector<T>& items) {
  T all{};
  for (const T& one : items) all += one;
  return all;
}
}
"""
FIRST = """#include "told.hpp"
#include <cassert>
namespace plan {
namespace { int limit_of(int given) { return given * 3 + 1; } int (*chosen)(int) = limit_of; }
extern const int table[];
const int table[] = {1, 2, 3};
int counter = 7;
const char* name_of(int number) { return number > 4 ? "first" : "other"; }
int Told::goes(int given) const {
  assert(given > 0);
  return given == 1 ? table[given] : chosen(given);
}
int hear_node(const Told& told, const std::string& text) {
  if (text == "a message") return told.goes(counter);
  throw text + " in " + __FILE__;
}
}
"""
SECOND = """#include "told.hpp"
#include <functional>
int main(int count, char** words) {
  plan::Told told;
  for (int i = 0; i < count; ++i) told.said.push_back(words[i]);
  std::function<int(const plan::Told&)> size_of = [](const plan::Told& one) { return int(one.said.size()); };
  if (size_of(told) > 100) return 0;
  auto print = [&](const auto& one) { return one.size() + std::string("another message").size(); };
  return plan::hear_node(told, told.said[0]) + plan::sum<int>({1, 2}) + print(told.said[0]);
}
"""
TABLE = """path,old,new,kind
**,Told,StepResult,identifier
**,told,result,identifier
**,said,diagnostics,identifier
**,goes,continues,identifier
**,hear_node,read_launcher_configuration,identifier
**,one,item,identifier
**/first.cpp,given,value,identifier
**,told.hpp,step_result.hpp,file
"""
RENAMES = [
    ("told.hpp", "step_result.hpp"), ("Told", "StepResult"), ("told", "result"), ("said", "diagnostics"),
    ("goes", "continues"), ("hear_node", "read_launcher_configuration"), ("const auto& one", "const auto& item"),
    ("one.size", "item.size"), ("StepResult& one)", "StepResult& item)"), ("one.diagnostics", "item.diagnostics"),
    ("const T& one", "const T& item"), ("+= one", "+= item"), ("given", "value"),
]  # fmt: skip


def renamed(text: str) -> str:
    """Returns a source with the renames of the table."""
    for old, new in RENAMES:
        text = text.replace(old, new)
    return text


@unittest.skipUnless(shutil.which("g++") and shutil.which("c++filt"), "needs g++ and c++filt")
class CompareObjectsTest(unittest.TestCase):
    """Two builds of two small sources."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.files = {
            "told.hpp": HEADER,
            "first.cpp": FIRST,
            "second.cpp": SECOND,
        }

    def build(self, name: str, files: dict, *flags: str) -> str:
        """Compiles sources. Returns the directory of the objects."""
        root = os.path.join(self.folder, name)
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        for path, text in files.items():
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        for path in files:
            if path.endswith(".cpp"):
                source = os.path.join(root, path)
                command = ["g++", "-std=c++20", "-O1", "-ffunction-sections", "-fdata-sections", *flags, "-c", source]
                subprocess.run([*command, "-o", source + ".o"], check=True)
        return root

    def compare(self, before: dict, after: dict, *flags: str) -> Tuple[int, str]:
        """Compares two versions. Returns the exit code and what was printed."""
        table = os.path.join(self.folder, "renames.csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write(TABLE)
        roots = [self.build("a", before, *flags), self.build("after", after, *flags)]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = compare_objects.main([*roots, "--table", table, "--roots", *roots])
        return code, output.getvalue()

    def renamed_files(self) -> dict:
        """Returns the sources with the renames."""
        return {renamed(path): renamed(text) for path, text in self.files.items()}

    def test_renames_make_no_difference(self) -> None:
        code, output = self.compare(self.files, self.renamed_files(), "-DNDEBUG")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"2 objects with \d\d+ sections and strings compared: 0 differences, 0 in texts")

    def test_texts_that_name_what_was_renamed_are_reported(self) -> None:
        code, output = self.compare(self.files, self.renamed_files())  # assert() contains the expression
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r": 0 differences, [1-9]\d* in texts")

    def test_planted_changes_are_found(self) -> None:
        planted = {
            "an operand": ("first.cpp", "* 3", "* 5", "limit_of"),
            "a constant of a table": ("first.cpp", "{1, 2, 3}", "{1, 2, 4}", "table"),
            "a constant that code uses": ("first.cpp", "value * 3 + 1", "value * 3 + 2", "limit_of"),
            "initialised data": ("first.cpp", "counter = 7", "counter = 8", "counter"),
            "a message": ("first.cpp", '"a message"', '"a massage"', "massage"),
            "another function that is called": ("first.cpp", "= limit_of;", "= abs;", "continues"),
            "exchanged messages": ("first.cpp", '"first" : "other"', '"other" : "first"', "name_of"),
            "a template": ("step_result.hpp", "all += item", "all -= item", "sum"),
            "a new function": ("second.cpp", "int main", "int added() { return 1; }\nint main", "added"),
        }
        for name, (path, old, new, shown) in planted.items():
            with self.subTest(name):
                after = self.renamed_files()
                self.assertIn(old, after[path])
                after[path] = after[path].replace(old, new)
                code, output = self.compare(self.files, after, "-DNDEBUG")
                self.assertEqual(code, 1, output)
                self.assertIn(shown, output)

    def test_a_name_that_the_table_does_not_have_is_found(self) -> None:
        after = self.renamed_files()
        after = {path: text.replace("sum", "total") for path, text in after.items()}
        code, output = self.compare(self.files, after, "-DNDEBUG")
        self.assertEqual(code, 1, output)
        self.assertIn("total", output)

    def test_names_that_cannot_be_demangled_are_mapped(self) -> None:
        names = {"Told": "StepResult", "goes": "continues"}
        mangled = "_ZSt3refIZN4plan12_GLOBAL__N_14goesERKNS5_4ToldEEUlPKT_E1_EEv"
        expected = "_ZSt3refIZN4plan12_GLOBAL__N_19continuesERKNS5_10StepResultEEUlPKT_E1_EEv"
        self.assertEqual(compare_objects.map_source_names(mangled, names), expected)
        self.assertEqual(compare_objects.map_source_names(expected, names), expected)

    def test_a_missing_object_is_found(self) -> None:
        after = {path: text for path, text in self.renamed_files().items() if path != "second.cpp"}
        code, output = self.compare(self.files, after)
        self.assertEqual(code, 1, output)
        self.assertIn("second.cpp.o: only before", output)

    def test_nothing_to_compare_is_an_error(self) -> None:
        code, output = self.compare({}, {})
        self.assertEqual(code, 1, output)


if __name__ == "__main__":
    unittest.main()

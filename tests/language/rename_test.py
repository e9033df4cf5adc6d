# SPDX-License-Identifier: MIT
"""Renames by a table: what a row changes, and which rows are refused."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from typing import Dict, Tuple

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rename  # noqa: E402

PLAN = """#include "plan/guard.hpp"
/// Reads what `said` holds; hear_node is called. Things said here.
int hear_node(Remarks& said) {
  // said, `said`: hear_node
  said.add("said", 'x', R"(said)");
  return step.said + plan::said;
}

void narrate(const std::string& said) { print(said); }
"""
FILES = {
    "README.md": "Use `hear_node` or `said so`, said.\n",
    "src/plan/plan.cpp": PLAN,
    "src/plan/guard.hpp": "struct Guard {};\n",
    "src/run/watch.cpp": '#include "../plan/guard.hpp"\n#include "guard.hpp"\n'
    "void watch(Remarks& said) { use(said); }\n",
    "src/run/guard.hpp": "struct Other {};\n",
    "docs/page.md": "See `src/plan/guard.hpp` and `said`.\n",
    "templates/job.mustache": "{{#meet}}{{{ meet }}} meet {{/meet}}{{meeting}}\n",
    "src/render/keys.cpp": 'auto key = "meet";\nauto text = "to meet";\n',
}


class RenameTest(unittest.TestCase):
    """The tool on a small repository."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        for path, text in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(self.root, path)), exist_ok=True)
            with open(os.path.join(self.root, path), "w", encoding="utf-8") as file:
                file.write(text)
        git = ["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "Start"]):
            subprocess.run([*git, *command], check=True)

    def run_tool(self, rows: str, *arguments: str) -> Tuple[int, str]:
        """Applies a table. Returns the exit code and what was printed."""
        table = os.path.join(self.root, "table.csv")
        with open(table, "w", encoding="utf-8") as file:
            file.write("path,old,new,kind\n" + rows)
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            code = rename.main(["apply", table, "--root", self.root, *arguments])
        return code, output.getvalue()

    def read(self, path: str) -> str:
        """Returns the text of a file."""
        with open(os.path.join(self.root, path), encoding="utf-8") as file:
            return file.read()

    def changes(self) -> Dict[str, str]:
        """Returns the files that are no longer as at the start."""
        return {path: self.read(path) for path, text in FILES.items() if self.read(path) != text}

    def assert_refused(self, rows: str, text: str) -> None:
        """Checks that a table is refused for one reason, and that nothing changed."""
        code, output = self.run_tool(rows)
        self.assertEqual(code, 1, output)
        self.assertIn(text, output)
        self.assertEqual(self.changes(), {})

    def test_identifiers_change_outside_literals(self) -> None:
        code, output = self.run_tool("src/plan/plan.cpp,said,diagnostics,identifier\n")
        self.assertEqual(code, 0, output)
        expected = (
            PLAN.replace("`said`", "`diagnostics`")
            .replace("Remarks& said", "Remarks& diagnostics")
            .replace("said.add", "diagnostics.add")
            .replace("step.said + plan::said", "step.diagnostics + plan::diagnostics")
            .replace("string& said", "string& diagnostics")
            .replace("print(said)", "print(diagnostics)")
        )
        self.assertEqual(self.changes(), {"src/plan/plan.cpp": expected})

    def test_a_docstring_changes_if_the_name_is_no_word(self) -> None:
        self.run_tool("src/**,hear_node,read_node,identifier\n")
        text = self.read("src/plan/plan.cpp")
        self.assertIn("holds; read_node is called", text)
        self.assertIn("// said, `said`: hear_node", text)
        self.assertIn("int read_node(", text)

    def test_a_variable_is_not_a_member(self) -> None:
        self.run_tool("src/plan/plan.cpp,said,diagnostics,variable\n")
        self.assertIn("return step.said + plan::said;", self.read("src/plan/plan.cpp"))
        self.assertIn("diagnostics.add", self.read("src/plan/plan.cpp"))

    def test_a_member_is_not_a_variable(self) -> None:
        self.run_tool("src/plan/plan.cpp,said,diagnostics,member\n")
        self.assertIn("return step.diagnostics + plan::said;", self.read("src/plan/plan.cpp"))
        self.assertIn("said.add", self.read("src/plan/plan.cpp"))

    def test_a_family_is_applied_alone(self) -> None:
        rows = "# First\nsrc/**,hear_node,read_node,identifier\n# Second\nsrc/plan/plan.cpp,said,text,identifier\n"
        code, output = self.run_tool(rows, "--family", "First")
        self.assertEqual(code, 0, output)
        expected = PLAN.replace("hear_node is", "read_node is").replace("hear_node(", "read_node(")
        self.assertEqual(self.read("src/plan/plan.cpp"), expected)
        self.assertEqual(self.run_tool(rows, "--family", "Third")[0], 2)

    def test_a_comment_names_a_function_before_a_parenthesis(self) -> None:
        with open(self.root + "/src/plan/guard.hpp", "w", encoding="utf-8") as file:
            file.write("/// `hello` is what `hello()` takes.\nvoid hello(Hello hello);\n")
        self.run_tool("src/plan/*,hello,greet,function\nsrc/plan/*,hello,greeting,variable\n")
        self.assertEqual(
            self.read("src/plan/guard.hpp"), "/// `greeting` is what `greet()` takes.\nvoid greet(Hello greeting);\n"
        )

    def test_a_kept_name_is_excepted(self) -> None:
        rows = "src/**,said,diagnostics,identifier\nsrc/plan/plan.cpp#narrate,said,said,keep\n"
        code, output = self.run_tool(rows)
        self.assertEqual(code, 0, output)
        self.assertIn("narrate(const std::string& said) { print(said); }", self.read("src/plan/plan.cpp"))
        self.assertIn("watch(Remarks& diagnostics)", self.read("src/run/watch.cpp"))

    def test_a_function_is_before_a_parenthesis(self) -> None:
        rows = "src/plan/plan.cpp,narrate,report,function\nsrc/plan/plan.cpp,said,text,variable\n"
        rows += "src/plan/plan.cpp,x,y,function\n"
        code, output = self.run_tool(rows)
        self.assertEqual(code, 1, output)
        self.assertIn("'x' does not occur", output)
        self.run_tool(rows.replace("src/plan/plan.cpp,x,y,function\n", ""))
        self.assertIn("void report(const std::string& text)", self.read("src/plan/plan.cpp"))

    def test_a_qualified_name_is_after_its_scope(self) -> None:
        self.run_tool("src/plan/plan.cpp,said,diagnostics,qualified\n")
        self.assertEqual(self.read("src/plan/plan.cpp"), PLAN.replace("plan::said", "plan::diagnostics"))

    def test_a_scope_limits_a_row_and_outranks_others(self) -> None:
        rows = "src/plan/plan.cpp,said,diagnostics,identifier\nsrc/plan/plan.cpp#narrate,said,text,identifier\n"
        code, output = self.run_tool(rows)
        self.assertEqual(code, 0, output)
        self.assertIn("narrate(const std::string& text) { print(text); }", self.read("src/plan/plan.cpp"))
        self.assertIn("hear_node(Remarks& diagnostics)", self.read("src/plan/plan.cpp"))

    def test_a_used_name_is_refused_unless_merged(self) -> None:
        self.assert_refused("src/plan/plan.cpp,said,step,identifier\n", "'step' is already used in src/plan/plan.cpp:6")
        code, output = self.run_tool("src/plan/plan.cpp,said,step,identifier merge\n")
        self.assertEqual(code, 0, output)

    def test_a_type_of_the_new_name_is_refused_in_all_files_of_the_pattern(self) -> None:
        self.assert_refused("src/**,Remarks,Other,identifier\n", "'Other' is already used in src/run/guard.hpp:1")

    def test_a_name_used_in_another_scope_is_free(self) -> None:
        code, output = self.run_tool("src/plan/plan.cpp#narrate,said,step,identifier\n")
        self.assertEqual(code, 0, output)

    def test_a_member_of_the_new_name_is_free(self) -> None:
        code, output = self.run_tool("src/plan/plan.cpp,said,add,variable\n")
        self.assertEqual(code, 0, output)

    def test_two_names_with_one_new_name_are_refused(self) -> None:
        rows = "src/plan/plan.cpp,said,x,identifier\nsrc/plan/plan.cpp,step,x,identifier\n"
        self.assert_refused(rows, "'x' is the new name of")

    def test_a_renamed_new_name_is_refused(self) -> None:
        rows = "src/plan/plan.cpp,said,step,identifier\nsrc/plan/plan.cpp,step,move,identifier\n"
        self.assert_refused(rows, "'step' is itself renamed")

    def test_a_row_without_a_match_is_refused_unless_allowed(self) -> None:
        self.assert_refused("src/plan/plan.cpp,told,reply,identifier\n", "'told' does not occur in src/plan/plan.cpp")
        rows = "src/gone.cpp,said,x,identifier\nsrc/plan/plan.cpp,hear_node,read_node,identifier\n"
        code, output = self.run_tool(rows, "--allow-missing")
        self.assertEqual(code, 0, output)
        self.assertIn("warning: ", output)
        self.assertIn("int read_node(", self.read("src/plan/plan.cpp"))

    def test_a_name_of_several_types_needs_a_row_for_each_path(self) -> None:
        self.assert_refused("src/**,said,diagnostics,identifier\n", "'said' names different things: Remarks (")
        rows = "src/**,said,diagnostics,identifier\nsrc/plan/plan.cpp#narrate,said,text,identifier\n"
        code, output = self.run_tool(rows)
        self.assertEqual(code, 0, output)

    def test_applying_a_table_twice_changes_nothing_more(self) -> None:
        rows = "src/plan/plan.cpp,said,diagnostics,identifier\nsrc/**,hear_node,read_node,identifier\n"
        self.run_tool(rows)
        before = self.changes()
        code, output = self.run_tool(rows, "--allow-missing")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.changes(), before)

    def test_a_table_can_be_applied_again_to_new_uses(self) -> None:
        rows = "src/**,Remarks,Diagnostics,identifier\n"
        self.run_tool(rows)
        self.assertEqual(self.run_tool(rows, "--allow-missing")[0], 0)
        with open(self.root + "/src/plan/guard.hpp", "w", encoding="utf-8") as file:
            file.write("Diagnostics added(Remarks);\n")
        code, output = self.run_tool(rows)
        self.assertEqual(code, 1, output)
        code, output = self.run_tool(rows, "--again")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.read("src/plan/guard.hpp"), "Diagnostics added(Diagnostics);\n")

    def test_a_file_moves_with_its_includes_and_pages(self) -> None:
        code, output = self.run_tool("src/plan/guard.hpp,guard.hpp,reaper.hpp,file\n")
        self.assertEqual(code, 0, output)
        self.assertEqual(self.read("src/plan/reaper.hpp"), FILES["src/plan/guard.hpp"])
        self.assertFalse(os.path.exists(self.root + "/src/plan/guard.hpp"))
        self.assertIn('#include "plan/reaper.hpp"', self.read("src/plan/plan.cpp"))
        self.assertIn('"../plan/reaper.hpp"\n#include "guard.hpp"', self.read("src/run/watch.cpp"))
        self.assertIn("`src/plan/reaper.hpp`", self.read("docs/page.md"))

    def test_a_page_names_a_file_without_its_directory_if_that_is_clear(self) -> None:
        with open(self.root + "/docs/page.md", "w", encoding="utf-8") as file:
            file.write("`guard.hpp`, `watch.cpp`, `tools/watch.cpp`, watch.cpp\n")
        self.run_tool("src/plan/guard.hpp,guard.hpp,reaper.hpp,file\nsrc/run/watch.cpp,watch.cpp,observer.cpp,file\n")
        self.assertEqual(self.read("docs/page.md"), "`guard.hpp`, `observer.cpp`, `tools/watch.cpp`, watch.cpp\n")

    def test_a_file_does_not_replace_another(self) -> None:
        self.assert_refused("src/plan/guard.hpp,guard.hpp,plan.cpp,file\n", "src/plan/plan.cpp exists already")

    def test_a_key_of_a_template_changes_with_its_literal(self) -> None:
        self.run_tool('"{templates,src/render}/*",meet,join,template\n')
        self.assertEqual(self.read("templates/job.mustache"), "{{#join}}{{{ join }}} meet {{/join}}{{meeting}}\n")
        self.assertEqual(self.read("src/render/keys.cpp"), 'auto key = "join";\nauto text = "to meet";\n')

    def test_pages_change_in_code_spans_only(self) -> None:
        self.run_tool("README.md,said,diagnostics,docs\n")
        self.assertEqual(self.read("README.md"), "Use `hear_node` or `diagnostics so`, said.\n")

    def test_wrong_rows_are_refused(self) -> None:
        self.assert_refused("src/**,said,x,name\n", "unknown kind 'name'")
        self.assert_refused("src/**,said,x-y,identifier\n", "must be identifiers")
        self.assert_refused("src/**,said,said,identifier\n", "'said' is not renamed")
        self.assert_refused("src/**,said,x,identifier mix\n", "unknown flag 'mix'")
        self.assert_refused("src/**,said,x\n", "3 columns, must be 4")
        rows = "src/plan/*,said,x,identifier\nsrc/plan/*,said,y,identifier\n"
        self.assert_refused(rows, "line 2 is for 'said' in the same place")


if __name__ == "__main__":
    unittest.main()

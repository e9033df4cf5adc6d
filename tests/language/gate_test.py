# SPDX-License-Identifier: MIT
"""The gate as a whole: a small repository passes, and fails with each kind of violation."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HOME = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HOME)
import gate  # noqa: E402
import measures  # noqa: E402

FILES = {
    "README.md": "# Tool\n\nUse `tell` to print.\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- Added a gate.\n\n## 0.1\n\n- It tells.\n",
    "docs/page.md": "# Page\n\nThe store of its own is old.\n",
    "src/plan/plan.cpp": '#include "plan.hpp"\nconst char* text = "a message"; // A comment.\n',
    "src/plan/plan.hpp": "/// Returns the plan.\nint plan();\n",
    "include/tool/exit.hpp": "int code();\n",
    "templates/script.mustache": "#!/bin/bash\n# A comment\necho text\n",
    "tests/plan/plan_test.cpp": 'TEST_CASE("plan returns 0") {}\n',
    "tests/language/exceptions.json": '{"phrases": [], "commits": {}}\n',
}
# By measure and pattern: what is added to which file, and the line where the gate reports it.
PLANTED = {
    "docs/mend": ("docs/page.md", "\nhpcml mends\nit.\n", 5),
    "docs/tell": ("README.md", "\nIt tells.\n", 5),
    "docs/folder": ("CHANGELOG.md", None, 5),
    "messages/nobody": ("src/plan/plan.cpp", '\nauto t = f("a",\n  "nobody");\n', 5),
    "messages/leave-out": ("include/tool/exit.hpp", '\nauto t = "leave "\n  "it out";\n', 3),
    "templates/meet": ("templates/script.mustache", "# where ranks\n# meet\n", 5),
    "comments/beside": ("src/plan/plan.hpp", "\n/** Code\n * beside it. */\n", 5),
    "test-names/hear": ("tests/plan/plan_test.cpp", 'TEST_CASE(\n  "plan hears") {}\n', 3),
    "test-name-length/over-10-words": ("tests/plan/plan_test.cpp", 'TEST_CASE("a b c d e f g h i j k") {}\n', 2),
    "identifiers/said": ("tests/plan/plan_test.cpp", "int said;\n", 2),
    "identifiers/here": ("src/plan/plan.cpp", 'int here = f("here"); // here\n', 3),
    "identifiers/there": ("include/tool/exit.hpp", "bool is_there(int there);\n", 2),
    "identifiers/told": ("src/plan/plan.cpp", "int told;\n", 3),
    "identifiers/asked": ("src/plan/plan.cpp", "int asked;\n", 3),
    "vague-identifiers/given": ("src/plan/plan.cpp", "int given;\n", 3),
    "vague-identifiers/one": ("src/plan/plan.cpp", "int one;\n", 3),
    "vague-identifiers/other": ("src/plan/plan.cpp", "int other;\n", 3),
    "basenames/repeated": ("src/render/plan.hpp", "int x;\n", 1),
}
HELP = """Usage: hpcml [OPTIONS] SUBCOMMAND

Options:
  --help  Print this help

Commands:
  gen     Generate a script
  sites   Know sites

Examples:
  hpcml gen
"""
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@x",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@x",
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsync", "GIT_CONFIG_VALUE_0": "none",
}  # fmt: skip


class Repository:
    """A small repository with a ratchet of its own."""

    def __init__(self, root):
        self.root = root

    def create(self):
        for path, text in FILES.items():
            self.write(path, text)
        self.git("init", "-q", "-b", "main", "--template=")
        base = self.commit("the first commit; not one of ours.")
        self.write(gate.RATCHET, json.dumps({"base-commit": base, "counts": {}, "raises": []}))
        self.gate("--update", "--allow-raise", "first counts")
        self.commit("Add the ratchet")

    def path(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text, mode="w"):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), mode, encoding="utf-8") as file:
            file.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def git(self, *arguments, **options):
        return subprocess.run(
            ["git", *arguments], cwd=self.root, env=ENVIRONMENT, capture_output=True, text=True, check=True, **options
        ).stdout

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def gate(self, *arguments):
        """Runs the gate. Returns its exit code and what it printed."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            code = gate.main(["--root", self.root, "--binary", "", *arguments])
        return code, printed.getvalue()

    def limits(self):
        return json.loads(self.read(gate.RATCHET))["counts"]


@unittest.skipUnless(shutil.which("git"), "needs git")
class WithRepository(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.original = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.original.cleanup)
        repository = Repository(cls.original.name)
        repository.create()
        repository.git("repack", "-a", "-d", "-q")  # few files to copy

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.repository = Repository(os.path.join(directory.name, "copy"))
        shutil.copytree(self.original.name, self.repository.root)

    def assert_gate(self, expected, *arguments):
        code, printed = self.repository.gate(*arguments)
        self.assertEqual(code, expected, printed)
        return printed


class Violations(WithRepository):
    def test_a_repository_at_its_limits_passes(self):
        printed = self.assert_gate(0)
        self.assertIn("docs: 1 of at most 1 (private phrases", printed)
        self.assertIn("help-width: skipped: no binary: give --binary PATH or set HPCML_BINARY", printed)
        self.assertIn("commits: 1 new since", printed)
        self.assertNotIn("error:", printed)

    def test_each_planted_violation_fails_and_its_place_is_named(self):
        for name, (path, text, line) in PLANTED.items():
            with self.subTest(name):
                before = self.repository.read(path) if os.path.exists(self.repository.path(path)) else None
                changed = FILES["CHANGELOG.md"].replace("gate", "folder") if text is None else (before or "") + text
                self.repository.write(path, changed)
                printed = self.assert_gate(1)
                measure, pattern = name.split("/")
                limit = self.repository.limits()[measure][pattern]
                self.assertIn(
                    f"error: {measure}: {limit + 1} occurrences of '{pattern}' exceed the limit of {limit}\n", printed
                )
                self.assertEqual(printed.count("error:"), 1, printed)
                self.assertIn(f"\n  {path}:{line}: ", printed)
                self.assertIn("\nhint: ", printed)
                if before is None:
                    os.remove(self.repository.path(path))
                else:
                    self.repository.write(path, before)
        self.assert_gate(0)

    def test_every_measure_is_planted(self):
        planted = {name.split("/")[0] for name in PLANTED}
        self.assertEqual(planted | {"help-width"}, set(measures.UNITS))
        names = [f"identifiers/{name}" for name in measures.BANNED_IDENTIFIERS]
        names += [f"vague-identifiers/{name}" for name in measures.VAGUE_IDENTIFIERS]
        self.assertLessEqual(set(names), set(PLANTED))

    def test_occurrences_in_changed_lines_are_listed_alone(self):
        self.repository.write("docs/old.md", "The folder.\n")
        self.repository.gate("--update", "--allow-raise", "a test")
        self.repository.commit("Add an old page")
        self.repository.write("docs/new.md", "\n\nA folder.\n")
        printed = self.assert_gate(1)
        self.assertIn("in lines changed since", printed)
        self.assertIn("docs/new.md:3", printed)
        self.assertNotIn("docs/old.md", printed)

    def test_the_released_part_of_the_changelog_is_not_read(self):
        self.repository.write("CHANGELOG.md", "- A folder.\n", "a")
        self.assert_gate(0)

    def test_a_header_and_its_source_are_one_name(self):
        self.repository.write("src/render/script.hpp", "int x;\n")
        self.repository.write("src/render/script.cpp", "int y;\n")
        self.assert_gate(0)

    def test_an_exception_allows_a_phrase_and_fails_when_unused(self):
        entry = {"corpus": "docs", "pattern": "folder", "files": "docs/*", "text": "Folder API", "reason": "Its name."}
        self.repository.write(gate.EXCEPTIONS, json.dumps({"phrases": [entry]}))
        self.assertIn("no text needs the exception 'Folder API'", self.assert_gate(1))
        self.repository.write("docs/page.md", "\nThe Folder API.\n", "a")
        self.assert_gate(0)


class RatchetFile(WithRepository):
    def test_a_count_that_fell_passes_and_update_lowers_it(self):
        self.repository.write("docs/page.md", "# Page\n")
        printed = self.assert_gate(0)
        self.assertIn("note: 1 counts fell: docs/of-its-own 1 -> 0", printed)
        self.assertIn("hint: lower the ratchet: python3 tests/language/gate.py --update", printed)
        self.assert_gate(0, "--update")
        self.assertEqual(self.repository.limits()["docs"]["of-its-own"], 0)
        self.repository.write("docs/page.md", FILES["docs/page.md"])
        self.assert_gate(1)

    def test_update_raises_only_with_a_reason_which_is_recorded(self):
        self.repository.write("docs/page.md", "A folder.\n")
        printed = self.assert_gate(1, "--update")
        self.assertIn("which --update does not raise", printed)
        self.assertEqual(self.repository.limits()["docs"]["folder"], 0)
        self.assertEqual(self.repository.limits()["docs"]["of-its-own"], 0)  # lowered anyway
        self.assert_gate(1)
        self.assert_gate(0, "--update", "--allow-raise", "it is the name of a product")
        last = json.loads(self.repository.read(gate.RATCHET))["raises"][-1]
        self.assertEqual(last, {"count": "docs/folder", "from": 0, "to": 1, "reason": "it is the name of a product"})
        self.assert_gate(0)

    def test_update_keeps_the_limits_of_what_was_skipped(self):
        ratchet = json.loads(self.repository.read(gate.RATCHET))
        ratchet["counts"]["help-width"] = {"over-100-columns": 7}
        self.repository.write(gate.RATCHET, json.dumps(ratchet))
        self.assertIn("note: help-width is unchanged", self.assert_gate(0, "--update"))
        self.assertEqual(self.repository.limits()["help-width"], {"over-100-columns": 7})

    def test_a_raise_needs_update_and_a_reason(self):
        for arguments in (["--allow-raise", "why"], ["--update", "--allow-raise", " "]):
            with self.assertRaises(SystemExit) as caught, contextlib.redirect_stderr(io.StringIO()):
                gate.main(["--root", self.repository.root, *arguments])
            self.assertEqual(caught.exception.code, 2)

    def test_a_file_with_conflict_marks_is_an_error_with_a_hint(self):
        self.repository.write(gate.RATCHET, "<<<<<<< HEAD\n")
        printed = self.assert_gate(2)
        self.assertIn("ratchet.json cannot be read", printed)
        self.assertIn("hint: after a merge conflict take either side", printed)


class HelpWidth(WithRepository):
    def program(self, wide):
        """Returns a program whose command "sites list" has this line in its help."""
        path = self.repository.path("build/hpcml")
        listing = "Commands:\n  list  List sites\n"
        self.repository.write(
            "build/hpcml",
            f"#!/bin/sh\ncase \"$*\" in\n'--help') cat <<'END'\n{HELP}END\n;;\n"
            "'gen --help') echo 'Usage: hpcml gen';;\n"
            f"'sites --help') cat <<'END'\n{listing}END\n;;\n'sites list --help') echo '{wide}';;\n*) exit 2;;\nesac\n",
        )
        os.chmod(path, 0o755)
        return path

    def test_a_wide_line_of_a_nested_command_fails(self):
        self.assertIn("help-width: 0 of at most 0", self.assert_gate(0, "--binary", self.program("é" * 100)))
        printed = self.assert_gate(1, "--binary", self.program("x" * 101))
        self.assertIn("error: help-width: 1 occurrences of 'over-100-columns' exceed the limit of 0", printed)
        self.assertIn("hpcml sites list --help:1: xxx", printed)

    def test_a_binary_that_is_missing_or_fails_is_an_error(self):
        self.assertIn("no program at /nowhere/hpcml", self.assert_gate(2, "--binary", "/nowhere/hpcml"))
        self.assertIn("'hpcml --help' exited with 1", self.assert_gate(2, "--binary", "/bin/false"))
        self.assertIn("lists no command that the gate recognises", self.assert_gate(2, "--binary", "/bin/echo"))

    def test_commands_are_found_under_any_heading_but_those_of_options(self):
        text = HELP.replace("Commands:\n", "Create and check:\n").replace("  sites ", "\nKnow:\n  sites ")
        self.assertEqual(measures.commands_in(text), ["gen", "sites"])

    def test_commands_that_are_only_named_are_found(self):
        text = HELP.replace("Examples:", "Other commands:\n  rules, config,\n  man\n\nExamples:")
        self.assertEqual(measures.commands_in(text), ["gen", "sites", "rules", "config", "man"])


class Commits(WithRepository):
    def test_a_wrong_message_fails_until_it_is_an_exception(self):
        wrong = self.repository.commit("the gate counts more")
        printed = self.assert_gate(1)
        self.assertIn(
            f"error: commit {wrong[:7]}: the subject does not begin with a capital letter: the gate counts more",
            printed,
        )
        self.repository.write(gate.EXCEPTIONS, json.dumps({"commits": {wrong[:10]: "It was pushed before."}}))
        self.assert_gate(0)

    def test_a_wide_body_fails(self):
        self.repository.commit("Add a thing\n\n" + "word " * 16)
        self.assertIn("line 3 has 79 characters, more than 72", self.assert_gate(1))

    def test_merges_are_not_checked(self):
        self.repository.git("checkout", "-q", "-b", "topic")
        self.repository.commit("Add a thing")
        self.repository.git("checkout", "-q", "main")
        self.repository.git("merge", "-q", "--no-ff", "-m", "merged it.", "topic")
        self.assertIn("commits: 2 new since", self.assert_gate(0))

    def test_a_shallow_clone_checks_the_commits_that_exist(self):
        self.repository.commit("the gate counts more")
        self.repository.commit("Add a thing")
        for depth, number, code in ((1, 1, 0), (2, 2, 1)):
            with tempfile.TemporaryDirectory() as clone:
                url = "file://" + self.repository.root
                subprocess.run(["git", "clone", "-q", "--depth", str(depth), url, clone], env=ENVIRONMENT, check=True)
                shallow = self.repository
                shallow.root, root = clone, shallow.root
                printed = self.assert_gate(code)
                shallow.root = root
            self.assertIn("not found (this clone is shallow): checked the commits that exist", printed)
            self.assertIn(f"commits: {number} new since", printed)

    def test_without_the_base_commits_before_the_ratchet_are_not_checked(self):
        ratchet = json.loads(self.repository.read(gate.RATCHET))
        self.repository.write(gate.RATCHET, json.dumps({**ratchet, "base-commit": "0" * 40}))
        printed = self.assert_gate(0)
        self.assertIn("base commit 0000000 not found (it is not in the history of HEAD)", printed)
        self.assertIn("commits: 1 new since", printed)

    def test_without_a_repository_no_commit_is_checked(self):
        shutil.rmtree(self.repository.path(".git"))
        self.assertIn("note: Git reads no history here: no commit was checked", self.assert_gate(0))
        self.repository.write("docs/page.md", "A folder.\n")
        self.assertIn("docs/page.md:1: A folder.", self.assert_gate(1))


class Hook(WithRepository):
    def commit_with_hook(self, message):
        hooks = os.path.join(os.path.dirname(os.path.dirname(HOME)), ".githooks")
        target = self.repository.path("tests/language")
        for name in os.listdir(HOME):
            if name.endswith(".py") and not os.path.exists(os.path.join(target, name)):
                os.symlink(os.path.join(HOME, name), os.path.join(target, name))
        return subprocess.run(
            ["git", "-c", f"core.hooksPath={hooks}", "commit", "-q", "--allow-empty", "-m", message],
            cwd=self.repository.root, env=ENVIRONMENT, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def test_the_hook_accepts_a_good_message(self):
        self.assertEqual(self.commit_with_hook("Add a thing\n\nWhy it is needed.").returncode, 0)

    def test_the_hook_rejects_a_bad_message_and_keeps_it(self):
        result = self.commit_with_hook("Added a thing;\n\n" + "word " * 16)
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: the subject has a semicolon", result.stderr)
        self.assertIn("past tense", result.stderr)
        self.assertIn("error: line 3 has 79 characters", result.stderr)
        self.assertIn("hint: ", result.stderr)
        self.assertIn("Added a thing;", self.repository.read(".git/COMMIT_EDITMSG"))
        self.assertEqual(self.repository.git("log", "-1", "--format=%s").strip(), "Add the ratchet")


class Lists(WithRepository):
    def test_places_and_readability_are_printed(self):
        self.assertEqual(
            self.assert_gate(0, "--list", "docs/of-its-own"),
            "docs/page.md:3: of-its-own: The store of its own is old.\n",
        )
        self.assertEqual(self.assert_gate(0, "--list", "messages"), "")
        self.assertIn("unknown measure 'nothing'", self.assert_gate(2, "--list", "nothing"))
        self.assertIn("docs/page.md: 7.0 words per sentence", self.assert_gate(0, "--report"))


if __name__ == "__main__":
    unittest.main()

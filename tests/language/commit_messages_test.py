# SPDX-License-Identifier: MIT
"""Which commit messages are accepted."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import commit_messages  # noqa: E402

GOOD = """
Add the language gate
Reject --time above the partition limit
Deduplicate the checkpoint lookup
Skip shells that were visited before
Do not print JSON unless it was requested
Don't read the profile twice
Don't output colours by default
Rephrase the "checkpoint is missing" error
Always pass the host name to srun
Re-enable the fuzzers
Embed the site profiles
Focus the help on common options
Bring up the emulated cluster without systemd
Process signals in order
Partition the GPUs by the profile
Mention the exit code in the manual
Test names of more than 10 words
Bisect what is slow
Daemonize the store
Move, rename and document the readers
Use the launcher's own words
Launch one agent per node
Report which ranks are missing
""".strip().splitlines()

BAD = {
    "add the gate": "does not begin with a capital letter",
    "docs: add the gate": "does not begin with a capital letter",
    "--time above the limit is rejected": "does not begin with a capital letter",
    "Add the gate.": "ends with a full stop",
    "Add the gate; fix the docs": "has a semicolon",
    "Add " + "x" * 69: "has 73 characters, more than 72",
    "Added the gate": "past tense",
    "Adding the gate": "gerund",
    "Adds the gate": "third person or plural",
    "Documentation for the gate": "which is not a verb",
    "Renumeration of the ranks": "noun",
    "The gate counts words": "which is not a verb",
    "A gate for the language": "not with a verb",
    "It works again": "which is not a verb",
    "README: explain the gate": "not with a verb",
    "Docs: explain the gate": "not with a verb",
    "GPUs that no rank takes are reported": "not with a verb",
    "Initial gate": "which is not a verb",
    "Made the gate faster": "which is not a verb",
    "New gate": "which is not a verb",
    "Files keep to the umask": "third person or plural",
    "Launch binds the only rank": "is a sentence",
    "Checkpoint is complete": "is a sentence",
    "Safety rules are checked by what scripts use": "is a sentence",
    "Six rules are checked": "which is not a verb",
    "Completion lists the node types": "is a sentence",
    "When a rank fails, restart": "which is not a verb",
    "Nobody waits any longer": "which is not a verb",
}


class Subjects(unittest.TestCase):
    def test_good_subjects_are_accepted(self):
        for subject in GOOD:
            with self.subTest(subject):
                self.assertEqual(commit_messages.subject_problems(subject), [])

    def test_bad_subjects_are_rejected_with_the_reason(self):
        for subject, reason in BAD.items():
            with self.subTest(subject):
                problems = commit_messages.subject_problems(subject)
                self.assertEqual(len(problems), 1, problems)
                self.assertIn(reason, problems[0])

    def test_72_characters_are_accepted(self):
        self.assertEqual(commit_messages.subject_problems("Add " + "x" * 68), [])

    def test_all_problems_of_a_subject_are_reported(self):
        self.assertEqual(len(commit_messages.subject_problems("the gate; " + "x" * 70 + ".")), 4)

    def test_what_git_writes_is_accepted(self):
        for subject in ("Merge branch 'topic' into main", f'Revert "Add {"x" * 68}"'):
            self.assertEqual(commit_messages.message_problems(subject), [])


class Bodies(unittest.TestCase):
    def test_a_wrapped_body_is_accepted(self):
        wide = "x" * 80
        body = f"\n{'y ' * 36}\n\n- {wide}\n    $ {wide} x\n> {wide} x\nhttps://x/{wide}\n"
        body += f"Co-authored-by: A Name <{wide}@x>"
        self.assertEqual(commit_messages.message_problems("Add the gate\n" + body), [])

    def test_wide_lines_and_a_missing_empty_line_are_rejected(self):
        problems = commit_messages.message_problems("Add the gate\nat once\n" + "y " * 36 + "yy")
        self.assertEqual(problems, ["line 2 is not empty", "line 3 has 74 characters, more than 72"])

    def test_the_hook_reads_the_message_without_comments(self):
        message = (
            "\n# Please enter\nAdd the gate\n\nWhy.\n# ------------------------ >8 ------------------------\ndiff "
            + "x " * 80
        )
        self.assertEqual(commit_messages.cleaned(message), "Add the gate\n\nWhy.")
        self.assertEqual(commit_messages.hook_problems(message), [])

    def test_the_hook_leaves_messages_that_a_rebase_replaces(self):
        self.assertEqual(commit_messages.hook_problems("fixup! added the gate"), [])
        self.assertNotEqual(commit_messages.message_problems("fixup! added the gate"), [])
        self.assertEqual(commit_messages.hook_problems("# only comments\n"), [])
        self.assertNotEqual(commit_messages.hook_problems("added the gate"), [])


if __name__ == "__main__":
    unittest.main()

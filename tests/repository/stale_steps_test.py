#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of .ci/full: which steps are stale, and what it records. Each runs in a small repository with steps that do nothing."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
SETUP = 'say() { echo "== $*"; }\ndie() { echo "$*" >&2; exit 1; }\ninstall_packages() { :; }\n' + "".join(
    f"{kind}_packages=()\n" for kind in ("core", "slurm", "torch", "data", "test"))
INPUTS = "# comment\ntests . :!notes\nquickstart docs @run/agent\nquickstart sites\ntidy src\n"
FILES = {"docs/setup.sh": SETUP, "docs/quickstart.sh": "exit 0\n", "tests/run.sh": "echo fine\n", "tests/release/run.sh": "echo half; exit 3\n",
         "src/LAYERS": "core:\nrun: core\nwhy: run\n", "src/core/LAYERS": "util:\nmodel: util\n", "src/run/LAYERS": "agent: core\nstore: core\n",
         "src/core/util/a.cpp": "", "src/core/model/a.cpp": "", "src/run/agent/a.cpp": "", "src/run/store/a.cpp": "",
         "src/why/a.cpp": "", "sites/a.json": "", "notes": "", ".ci/full.inputs": INPUTS, ".ci/full.results": ""}


class StaleSteps(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for name, text in FILES.items():
            self.write(name, text)
        for name in ("full", "stale_steps.sh"):
            shutil.copy(REPO / ".ci" / name, self.folder / ".ci" / name)
        self.run_git("init", "-q")
        self.commit()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_git(self, *words):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        return subprocess.run(["git", *identity, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.run_git("add", "-A", ".", ":!build")
        self.run_git("commit", "-q", "--allow-empty", "-m", "change")
        return self.run_git("rev-parse", "--short", "HEAD")

    def full(self, *words, code=0):
        env = {name: value for name, value in os.environ.items() if name not in ("HPCML_BUILD_DIR", "SLURM_PREFIXES", "SLURM_SOURCES", "PROGRAM_SOURCES")}
        done = subprocess.run(["bash", ".ci/full", *words], cwd=self.folder, capture_output=True, text=True, env=env, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def staleness(self, step):
        lines = self.full("--stale").stdout.splitlines()
        return next(re.sub(" +", " ", line[len(step):].strip()) for line in lines if line.startswith(step + " "))

    def results(self):
        return (self.folder / ".ci/full.results").read_text(encoding="utf-8")

    def test_a_result_has_commit_and_minutes(self):
        commit = self.commit()
        self.full("tests")
        self.assertRegex(self.results(), rf"^tests         passed  \d{{4}}-\d\d-\d\d {commit} +0\.0 min  fine\n$")
        self.assertEqual(self.staleness("tests"), f"current no input changed since {commit} (0 commits ago)")

    def test_a_step_is_stale_without_a_result(self):
        self.assertEqual(self.staleness("tests"), "stale it has no result")

    def test_a_step_is_stale_when_an_input_has_changed(self):
        commit = self.commit()
        self.full("tests", "quickstart")
        self.write("notes", "more")
        self.commit()
        self.assertTrue(self.staleness("tests").startswith("current"))
        self.write("sites/a.json", "more")
        self.commit()
        for step in ("tests", "quickstart"):
            self.assertEqual(self.staleness(step), f"stale sites/a.json changed since {commit} (2 commits ago)")

    def test_an_uncommitted_change_of_an_input_counts(self):
        commit = self.commit()
        self.full("quickstart")
        self.write("sites/a.json", "more")
        self.assertEqual(self.staleness("quickstart"), f"stale sites/a.json changed since {commit} (0 commits ago)")

    def test_a_layer_is_an_input_with_all_that_it_may_include(self):
        self.full("quickstart")
        for directory in ("why", "run/store"):
            self.write(f"src/{directory}/a.cpp", "more")
        self.assertTrue(self.staleness("quickstart").startswith("current"))
        for directory in ("run/agent", "core/util"):
            self.write(f"src/{directory}/a.cpp", "more")
        self.assertTrue(self.staleness("quickstart").startswith("stale src/core/util/a.cpp and 1 more changed since"))

    def test_a_step_without_declared_inputs_depends_on_every_file(self):
        self.full("release", code=1)
        self.write(".ci/full.results", self.results().replace("FAILED", "passed"))
        self.assertTrue(self.staleness("release").startswith("current"))
        self.write("notes", "more")
        self.assertTrue(self.staleness("release").startswith("stale notes changed since"))

    def test_a_failed_step_is_recorded_and_stale(self):
        commit = self.commit()
        self.full("release", "tests", code=1)
        self.assertRegex(self.results(), rf"release +FAILED  \S+ {commit} +0\.0 min  half\ntests +passed")
        self.assertEqual(self.staleness("release"), f"stale it failed at {commit}")

    def test_a_step_that_exits_is_recorded(self):
        self.write("build/release/bin/x", "")
        self.write("docs/setup.sh", SETUP + "configure_and_build() { die 'cannot build'; }\n")
        self.commit()
        self.full("differential", "tests", code=1)
        self.assertRegex(self.results(), r"differential +FAILED .*  cannot build\ntests +passed")

    def test_a_result_of_an_uncommitted_tree_is_marked_and_stale(self):
        commit = self.commit()
        self.write("sites/a.json", "more")
        self.assertIn("warning: the source tree has uncommitted changes", self.full("quickstart").stderr)
        self.assertIn(f" {commit}+ ", self.results())
        self.assertEqual(self.staleness("quickstart"), f"stale it ran with uncommitted changes on {commit}")

    def test_results_that_are_not_committed_give_no_warning(self):
        self.full("quickstart")
        self.assertEqual(self.full("tests").stderr, "")

    def test_a_commit_outside_the_history_makes_a_step_stale(self):
        self.write("notes", "other")
        lost = self.commit()
        self.full("tests")
        text = self.results()
        self.run_git("reset", "-q", "--hard", "HEAD~1")
        self.write(".ci/full.results", text)
        self.assertEqual(self.staleness("tests"), f"stale its commit {lost} is not in the history of HEAD")

    def test_stale_runs_the_stale_steps_alone(self):
        script = re.sub(r"set -- tests .*", "set -- tests quickstart", (self.folder / ".ci/full").read_text(encoding="utf-8"), count=1)
        self.write(".ci/full", script)
        self.commit()
        self.full("tests", "quickstart")
        self.assertEqual(self.full("stale").stdout, "no step is stale\n")
        self.write("notes", "more")
        self.write("src/core/util/a.cpp", "more")
        self.commit()
        self.full("tests")
        self.assertEqual(re.findall("== (.*) \\(log", self.full("stale").stdout), ["quickstart"])

    def test_an_input_that_does_not_exist_is_an_error(self):
        for word, message in (("sites/b.json", "no tracked file matches 'sites/b.json'"), ("@nothing", "no LAYERS has a directory 'nothing'")):
            self.write(".ci/full.inputs", f"tests {word}\n")
            for mode in ("--stale", "stale"):
                self.assertIn(f".ci/full.inputs: step tests: {message}", self.full(mode, code=1).stderr)

    def test_the_declared_inputs_of_every_step_exist(self):
        if not (REPO / ".git").exists():
            self.skipTest("not a git checkout")
        done = subprocess.run(["bash", ".ci/full", "--stale"], cwd=REPO, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = re.findall(r"^step_(\S+)\(\)", (REPO / ".ci/full").read_text(encoding="utf-8"), re.M)
        declared = {line.split()[0] for line in (REPO / ".ci/full.inputs").read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")}
        self.assertGreater(len(declared), 15)
        self.assertEqual(declared - set(steps), set())


if __name__ == "__main__":
    unittest.main()

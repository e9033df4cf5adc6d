#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The wheel maker, with a script in the place of the program: layout, digests, same bytes, and what pip makes of it."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.insert(0, str(REPO / "tests/python"))
import skip  # noqa: E402

MAKER = REPO / "cmake/release/make_wheel.py"


def make_wheel(directory, name="one", arch="x86_64", when="1700000000"):
    """A wheel with a program that prints what it was called with, one beside it, and a man page."""
    work = directory / name
    (work / "share/man/man1").mkdir(parents=True)
    (work / "share/man/man1/hpcml.1").write_text(".TH HPCML 1\n")
    (work / "hpcml").write_text('#!/bin/sh\necho "ran $*"\n')
    other = work / "hpcml-aarch64"
    other.write_text("#!/bin/sh\necho other\n")
    (work / "README").write_text("# hpcml\n")
    made = subprocess.run(
        [sys.executable, str(MAKER), "--version", "1.2.3", "--arch", arch, "--program", str(work / "hpcml"), "--beside", str(other),
         "--share", str(work / "share"), "--readme", str(work / "README"), "--licence", str(REPO / "LICENSE"), "--out", str(work)],
        env={**os.environ, "SOURCE_DATE_EPOCH": when}, check=True, stdout=subprocess.PIPE, universal_newlines=True)
    return pathlib.Path(made.stdout.strip())


class Wheel(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def test_its_name_says_glibc_and_processor_and_no_python_version(self):
        self.assertEqual(make_wheel(self.directory, arch="aarch64").name, "hpcml-1.2.3-py3-none-manylinux_2_28_aarch64.whl")

    def test_programs_are_scripts_of_the_environment_and_may_be_run(self):
        with zipfile.ZipFile(str(make_wheel(self.directory))) as wheel:
            for name in "hpcml", "hpcml-aarch64":
                self.assertEqual(wheel.getinfo("hpcml-1.2.3.data/scripts/" + name).external_attr >> 16, 0o100755)
            self.assertIn("hpcml-1.2.3.data/data/share/man/man1/hpcml.1", wheel.namelist())

    def test_each_file_has_its_digest_and_size_in_record(self):
        with zipfile.ZipFile(str(make_wheel(self.directory))) as wheel:
            rows = list(csv.reader(io.StringIO(wheel.read("hpcml-1.2.3.dist-info/RECORD").decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(wheel.namelist()))
            for name, digest, size in rows[:-1]:
                payload = wheel.read(name)
                wanted = base64.urlsafe_b64encode(hashlib.sha256(payload).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), ("sha256=" + wanted, len(payload)), name)

    def test_the_same_files_give_the_same_bytes(self):
        one, two = make_wheel(self.directory), make_wheel(self.directory, "two")
        os.utime(str(two.parent / "hpcml"), (1, 1))
        self.assertEqual(one.read_bytes(), two.read_bytes())

    def test_a_date_before_zip_began_is_moved_to_its_first_day(self):
        with zipfile.ZipFile(str(make_wheel(self.directory, when="0"))) as wheel:
            self.assertEqual({entry.date_time[0] for entry in wheel.infolist()}, {1980})

    def test_pip_installs_it_and_the_module_finds_the_program(self):
        python = os.environ.get("HPCML_TEST_PYTHON", sys.executable)
        if subprocess.run([python, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            skip.report_missing("release-wheel", "pip for " + python)
            self.skipTest("no pip")
        wheel, target = make_wheel(self.directory, arch=os.uname().machine), self.directory / "target"
        # The tag of this machine's C library is not what is tested here.
        plain = wheel.with_name("hpcml-1.2.3-py3-none-any.whl")
        wheel.rename(plain)
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--prefix", str(target), "--ignore-installed",
                        "--disable-pip-version-check", str(plain)], check=True, stderr=subprocess.DEVNULL)
        module = next(target.rglob("hpcml/__init__.py"))
        reported = subprocess.run([python, "-c", "import hpcml; print(hpcml.__version__, hpcml.path)"], check=True, stdout=subprocess.PIPE,
                              universal_newlines=True, env={**os.environ, "PYTHONPATH": str(module.parents[1])}).stdout.split()
        self.assertEqual(reported[0], "1.2.3")
        self.assertEqual(pathlib.Path(reported[1]).name, "hpcml")
        ran = subprocess.run([reported[1], "gen"], check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
        self.assertEqual(ran, "ran gen\n")
        beside = pathlib.Path(reported[1]).with_name("hpcml-aarch64")
        self.assertTrue(os.access(str(beside), os.X_OK))


if __name__ == "__main__":
    unittest.main()

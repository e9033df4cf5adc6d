#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What cmake --install and cpack make of a build, as the person has it who gets it: package_test.py BUILD_FOLDER"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True  # nothing is left in the source tree
sys.path.insert(0, str(REPO / "tests/python"))
import skip  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, **more)
    if done.returncode:
        raise AssertionError("%s ended with %d:\n%s" % (" ".join(map(str, words)), done.returncode, done.stdout))
    return done.stdout


def files_in(directory):
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if not path.is_dir())


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.holder.cleanup)
        cls.directory = pathlib.Path(cls.holder.name)
        cls.installed = cls.directory / "installed"
        run("cmake", "--install", BUILD, "--prefix", cls.installed)
        # The usual compression of a Debian package takes most of the time.
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", cls.directory / "packages", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", cwd=str(BUILD))
        cls.version = re.search(r"project\(hpcml VERSION ([0-9.]+)", (REPO / "CMakeLists.txt").read_text()).group(1)

    def runs(self, program):
        """As somebody who has nothing else of it, in another folder."""
        empty = self.directory / "empty"
        empty.mkdir(exist_ok=True)
        plain = {"PATH": "/usr/bin:/bin", "HOME": str(empty)}
        self.assertEqual(run(program, "--version", env=plain, cwd=str(empty)), "hpcml %s\n" % self.version)
        script = run(program, "gen", "--site", "lumi", "--nodes", "1", "--gpus-per-node", "8", "--account", "project_1", "--time", "10", "--",
                     "python", "train.py", env=plain, cwd=str(empty))
        self.assertIn(str(program), script)
        self.assertNotIn(str(BUILD), script)

    def test_an_installation_is_moved_and_scripts_name_its_new_place(self):
        moved = self.directory / "moved" / "elsewhere"
        moved.parent.mkdir()
        shutil.copytree(str(self.installed), str(moved), symlinks=True)
        self.runs(moved / "bin/hpcml")
        for path in files_in(moved):
            if not path.startswith(("bin/", "lib", "share/man")):
                self.assertNotIn(str(self.installed).encode(), (moved / path).read_bytes(), path)

    def test_another_project_finds_the_program_and_checks_its_jobs_with_it(self):
        moved, project = self.directory / "found" / "hpcml", self.directory / "project"
        moved.parent.mkdir()
        shutil.copytree(str(self.installed), str(moved), symlinks=True)
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(jobs LANGUAGES NONE)\nfind_package(hpcml 0.1 REQUIRED)\n"
            "message(STATUS \"found ${hpcml_EXECUTABLE} ${hpcml_VERSION}\")\nenable_testing()\n"
            "add_test(NAME right COMMAND hpcml::hpcml check ${CMAKE_SOURCE_DIR}/right.sh)\n"
            "add_test(NAME wrong COMMAND hpcml::hpcml check ${CMAKE_SOURCE_DIR}/wrong.sh)\n")
        (project / "right.sh").write_text("#!/bin/bash\n#SBATCH --nodes=2 --time=10\nsrun hostname\n")
        (project / "wrong.sh").write_text("#!/bin/bash\n#SBATCH --nodes=two\nsrun hostname\n")
        reported = run("cmake", "-S", project, "-B", project / "build", "-DCMAKE_PREFIX_PATH=%s" % moved)
        self.assertIn("found %s %s\n" % (moved / "bin/hpcml", self.version), reported)
        run("ctest", "-R", "right", cwd=str(project / "build"))
        with self.assertRaisesRegex(AssertionError, "1 tests failed"):
            run("ctest", "-R", "wrong", cwd=str(project / "build"))

    def test_the_archive_has_the_installation_and_the_texts_and_runs_where_it_is_unpacked(self):
        name = "hpcml-%s-linux-%s" % (self.version, platform.machine())
        shutil.unpack_archive(str(self.directory / "packages" / (name + ".tar.gz")), str(self.directory / "archive"))
        self.assertEqual(os.listdir(str(self.directory / "archive")), [name])
        unpacked = self.directory / "archive" / name
        self.assertEqual(files_in(unpacked), sorted(files_in(self.installed) + ["CHANGELOG.md", "LICENSE", "README.md"]))
        self.assertIn("Compiled in: ", (unpacked / "LICENSE").read_text())
        self.runs(unpacked / "bin/hpcml")

    def test_the_debian_package_has_the_installation_and_says_of_itself_what_the_releases_does(self):
        if not shutil.which("dpkg-deb"):
            skip.report_skip("release-package", "dpkg-deb is not installed")
            self.skipTest("no dpkg-deb")
        package, = (self.directory / "packages").glob("hpcml_%s_*.deb" % self.version)
        run("dpkg-deb", "-x", package, self.directory / "debian")
        self.assertEqual(files_in(self.directory / "debian"), sorted("usr/" + path for path in files_in(self.installed) + ["share/doc/hpcml/copyright"]))
        described = run("dpkg-deb", "-f", package)
        for line in (REPO / "cmake/release/control").read_text().splitlines():
            self.assertIn(line + "\n", described)
        self.assertRegex(described, r"Depends: .*libc6 \(>= [0-9.]+\)")
        self.runs(self.directory / "debian/usr/bin/hpcml")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The data of the tests stay small: tests/repository/data_size_test.py"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

TESTS = pathlib.Path(__file__).resolve().parents[1]
MOST_OF_DATA = 650_000
MOST_OF_A_PLAIN_FILE = 100_000
COMPRESSED = (".gz", ".xz")
CODE = (".cpp", ".hpp", ".py", ".sh", ".cmake", "CMakeLists.txt", ".md")  # grows with what is tested
sys.path.append(str(TESTS))
import test_data  # noqa: E402


def find_excess(sizes):
    """Returns what is too large in {name: bytes}, a sentence each."""
    faults = []
    data = {name: size for name, size in sizes.items() if not name.endswith(CODE)}
    total = sum(data.values())
    if total > MOST_OF_DATA:
        largest = sorted(data, key=data.get, reverse=True)[:10]
        faults.append(f"the data in tests/ has {total} bytes, more than {MOST_OF_DATA}; the largest files: " + ", ".join(f"{name} ({sizes[name]})" for name in largest))
    for name, size in sorted(sizes.items()):
        if size > MOST_OF_A_PLAIN_FILE and not name.endswith(COMPRESSED):
            faults.append(f"{name} has {size} bytes, more than {MOST_OF_A_PLAIN_FILE}: compress it (tests/README.md) or generate it in the test")
    return faults


def tracked_sizes():
    """Returns {name: bytes} of the files that git tracks; of all files if this is no git checkout."""
    done = subprocess.run(["git", "ls-files", "-z"], cwd=TESTS, capture_output=True, text=True, check=False)
    names = done.stdout.split("\0")[:-1] if done.returncode == 0 else []
    paths = [TESTS / name for name in names] or [path for path in TESTS.rglob("*") if "__pycache__" not in path.parts]
    return {str(path.relative_to(TESTS)): path.stat().st_size for path in paths if path.is_file()}


class DataSize(unittest.TestCase):
    def test_the_data_of_the_tests_is_small(self):
        sizes = tracked_sizes()
        self.assertGreater(len(sizes), 500)
        self.assertEqual(find_excess(sizes), [])

    def test_limits_are_inclusive(self):
        self.assertEqual(find_excess({"a.json": 100_000, "b.gz": 455_000, "c.cpp": 100_000}), [])

    def test_a_large_plain_file_is_named(self):
        self.assertEqual([fault.split(",")[0] for fault in find_excess({"a/b.json": 100_001, "c.gz": 100_001, "d.tar.xz": 100_001})],
                         ["a/b.json has 100001 bytes"])

    def test_the_largest_files_are_named_when_the_sum_is_too_large(self):
        sizes = {f"f{i:02}": 1000 + i for i in range(40)} | {"big.gz": MOST_OF_DATA - 30_000}
        (fault,) = find_excess(sizes)
        self.assertIn(f"the largest files: big.gz ({MOST_OF_DATA - 30_000}), f39 (1039), ", fault)
        self.assertNotIn("f00", fault)

    def test_every_compressed_file_is_reproducible(self):
        for path in TESTS.rglob("*.gz"):
            head = path.read_bytes()[:10]
            self.assertEqual(head, b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03", f"{path}: not written by gzip -9n")

    def test_data_is_read_in_both_forms(self):
        readme, cases = TESTS / "README.md", TESTS / "affinity/cases.json"
        self.assertEqual(test_data.read(str(readme)), readme.read_bytes())
        self.assertFalse(cases.exists())
        with tempfile.TemporaryDirectory() as directory:
            copy = pathlib.Path(test_data.unpack(str(cases), directory))
            self.assertEqual(copy, pathlib.Path(directory) / "cases.json")
            self.assertEqual(copy.read_bytes()[:1], b"{")


if __name__ == "__main__":
    unittest.main()

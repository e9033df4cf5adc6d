# SPDX-License-Identifier: MIT
"""Test data that the repository keeps compressed (README.md), for scripts."""
import gzip
import os


def read(path):
    """Returns the bytes of a file; if `path` does not exist, those of `path`.gz, decompressed."""
    if os.path.exists(path):
        with open(path, "rb") as file:
            return file.read()
    with gzip.open(path + ".gz", "rb") as file:
        return file.read()


def unpack(path, directory):
    """Writes the content into a directory, under the name without ".gz", and returns the path of the copy."""
    copy = os.path.join(directory, os.path.basename(path))
    with open(copy, "wb") as file:
        file.write(read(path))
    return copy

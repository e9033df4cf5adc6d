#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs programs into a wheel that pip, pipx and uv install: a program of any language, as a command.

    make_wheel.py --version 0.1.0 --arch x86_64 --program BIN --beside BIN... [--share DIRECTORY] [--readme FILE] [--licence FILE] --out DIRECTORY

Same files, same bytes: names are sorted, and every date is SOURCE_DATE_EPOCH.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import time
import zipfile

GLIBC = "2_28"

# RECORD says where the installer put the program: in an environment, for a user, under a directory of one's own.
PACKAGE = '''"""The program hpcml: where it is (`path`, None where it was not installed along) and its `__version__`."""
import csv as _csv
import pathlib as _pathlib

__version__ = "{version}"
__all__ = ["path", "__version__"]


def _find():
    site = _pathlib.Path(__file__).resolve().parent.parent
    record = site / "hpcml-{version}.dist-info" / "RECORD"
    if not record.is_file():
        return None
    with record.open(newline="", encoding="utf-8") as rows:
        for row in _csv.reader(rows):
            if row and _pathlib.PurePosixPath(row[0]).name == "hpcml":
                return str((site / row[0]).resolve())
    return None


path = _find()
'''

METADATA = """Metadata-Version: 2.1
Name: hpcml
Version: {version}
Summary: Slurm job scripts, checks, rehearsals and launches for distributed training
License: MIT
Keywords: slurm,hpc,torchrun,distributed,pytorch
Classifier: Development Status :: 4 - Beta
Classifier: Environment :: Console
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: C++
Requires-Python: >=3.6
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """Wheel-Version: 1.0
Generator: hpcml make_wheel
Root-Is-Purelib: false
Tag: {tag}
"""


def contents(options, tag):
    """Every file of the wheel but RECORD: name -> (bytes, is a program)."""
    data = "hpcml-%s.data" % options.version
    info = "hpcml-%s.dist-info" % options.version
    files = {"hpcml/__init__.py": (PACKAGE.format(version=options.version).encode(), False)}
    for program in [options.program] + options.beside:
        name = "hpcml" if program == options.program else program.name
        files["%s/scripts/%s" % (data, name)] = (program.read_bytes(), True)
    if options.share:
        for file in sorted(options.share.rglob("*")):
            if file.is_file():
                files["%s/data/share/%s" % (data, file.relative_to(options.share).as_posix())] = (file.read_bytes(), False)
    readme = options.readme.read_text(encoding="utf-8") if options.readme else ""
    files[info + "/METADATA"] = (METADATA.format(version=options.version, readme=readme).encode(), False)
    files[info + "/WHEEL"] = (WHEEL.format(tag=tag).encode(), False)
    if options.licence:
        files[info + "/LICENSE"] = (options.licence.read_bytes(), False)
    return files, info


def digest(payload):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(payload).digest()).rstrip(b"=").decode()


def write_wheel(options):
    tag = "py3-none-manylinux_%s_%s" % (GLIBC, options.arch)
    files, info = contents(options, tag)
    names = sorted(files, key=lambda name: (name.startswith(info), name))  # what describes comes last
    record = "".join("%s,%s,%d\n" % (name, digest(files[name][0]), len(files[name][0])) for name in names)
    files[info + "/RECORD"] = ((record + info + "/RECORD,,\n").encode(), False)
    # A zip knows no date before 1980.
    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]
    wheel = options.out / ("hpcml-%s-%s.whl" % (options.version, tag))
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in names + [info + "/RECORD"]:
            payload, program = files[name]
            entry = zipfile.ZipInfo(name, when)
            entry.create_system = 3
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, payload, compresslevel=9)
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--arch", required=True, choices=["x86_64", "aarch64"])
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--beside", nargs="*", default=[], type=pathlib.Path, help="hpcml-ARCH for other machines' nodes")
    parser.add_argument("--share", type=pathlib.Path, help="a directory that goes to share/ of the environment")
    parser.add_argument("--readme", type=pathlib.Path)
    parser.add_argument("--licence", type=pathlib.Path)
    parser.add_argument("--out", required=True, type=pathlib.Path)
    print(write_wheel(parser.parse_args()))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""seeds.py HPCML FOLDER: what the fuzzers begin with, as FOLDER/check (the examples of all rules), FOLDER/profile (the sites) and
FOLDER/store (one message of each kind), and what earlier runs found beside them (corpus/*.tar.xz)."""
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
(folder / "check").mkdir(parents=True, exist_ok=True)
rules = json.loads(subprocess.run([program, "rules", "--format", "json"], check=True, capture_output=True).stdout)
for rule in rules:
    for example in rule["bad"] + rule["good"]:
        text = example["script"].encode()
        (folder / "check" / hashlib.sha1(text).hexdigest()).write_bytes(text)
sites = pathlib.Path(__file__).resolve().parents[2] / "sites"
(folder / "profile").mkdir(exist_ok=True)
for file in sites.glob("*.json"):
    shutil.copy(file, folder / "profile")
(folder / "store").mkdir(exist_ok=True)
key, value, number = b"\1\0\0\0\0\0\0\0k", b"\2\0\0\0\0\0\0\0" + b"12", b"\3\0\0\0\0\0\0\0"
one = number.replace(b"\3", b"\1")
bodies = [b"", key + value, key + value + value, key, key + number, one + key, one + key, b"", key, key + value, one + key, one + key + value,
          b"", b"here", key + value, key, key, b"", key + number]
for op, body in enumerate(bodies):
    message = b"\0\xce\xf7\x85\x3c" + bytes([op]) * bool(op) + body
    (folder / "store" / str(op)).write_bytes(bytes([len(message) - 1]) + message)
corpus = pathlib.Path(__file__).resolve().parent / "corpus"
for reader in ("check", "profile"):
    with tarfile.open(corpus / f"{reader}.tar.xz") as archive:
        for member in archive:
            if member.isfile():
                (folder / reader / pathlib.Path(member.name).name).write_bytes(archive.extractfile(member).read())

#!/usr/bin/env python3
"""seeds.py HPCML FOLDER: what the fuzzers begin with, as FOLDER/check (the examples of all rules) and FOLDER/profile (the sites), and what
earlier runs found beside them (corpus/*.tar.xz)."""
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
corpus = pathlib.Path(__file__).resolve().parent / "corpus"
for reader in ("check", "profile"):
    with tarfile.open(corpus / f"{reader}.tar.xz") as archive:
        for member in archive:
            if member.isfile():
                (folder / reader / pathlib.Path(member.name).name).write_bytes(archive.extractfile(member).read())

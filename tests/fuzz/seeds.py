#!/usr/bin/env python3
"""seeds.py HPCML FOLDER: what the fuzzers begin with, as FOLDER/check (the examples of all rules), FOLDER/profile (the sites) and
FOLDER/store (one message of each kind), FOLDER/ports (handshakes and messages of each port and mode), and what earlier runs found beside them (corpus/*.tar.xz)."""
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile

program, directory = sys.argv[1], pathlib.Path(sys.argv[2])
(directory / "check").mkdir(parents=True, exist_ok=True)
rules = json.loads(subprocess.run([program, "rules", "--format", "json"], check=True, capture_output=True).stdout)
for rule in rules:
    for example in rule["bad"] + rule["good"]:
        text = example["script"].encode()
        (directory / "check" / hashlib.sha1(text).hexdigest()).write_bytes(text)
sites = pathlib.Path(__file__).resolve().parents[2] / "sites"
(directory / "profile").mkdir(exist_ok=True)
for file in sites.glob("*.json"):
    shutil.copy(file, directory / "profile")
(directory / "store").mkdir(exist_ok=True)
key, value, number = b"\1\0\0\0\0\0\0\0k", b"\2\0\0\0\0\0\0\0" + b"12", b"\3\0\0\0\0\0\0\0"
one = number.replace(b"\3", b"\1")
bodies = [b"", key + value, key + value + value, key, key + number, one + key, one + key, b"", key, key + value, one + key, one + key + value,
          b"", b"here", key + value, key, key, b"", key + number]
for op, body in enumerate(bodies):
    message = b"\0\xce\xf7\x85\x3c" + bytes([op]) * bool(op) + body
    (directory / "store" / str(op)).write_bytes(bytes([len(message) - 1]) + message)
(directory / "ports").mkdir(exist_ok=True)


def own(client, kind, *fields):
    """A message of hpcml's that nothing damages, sealed and not (ports_fuzz.cpp)."""
    return [bytes([action + client, kind, *fields, 0, 1]) for action in (9, 18)]


clients = range(3)
hands = b"".join(bytes([6 + client, client, 3]) for client in clients)
raw = bytes([0, 14]) + b"\0\xce\xf7\x85\x3c\3" + key[:8]
time = bytes([21, 1, 40])
ranks = [message for client in clients for message in own(client, 0, client, 0, 0)] + [m for kind in (1, 2, 3) for m in own(1, kind)]
agents = [message for client in clients for message in own(client, 4) + own(client, 6)]
for event in (0, 7, 1, 2, 3, 5, 6):  # serving, heartbeat, failed …
    agents += [m for client in clients for m in own(client, 5, event, 0, 1, 0, *([5, 3] + [65] * 10) * (event == 1)) + own(client, 6)]
for mode in range(8):
    for sealed in (0, 1):
        reported = b"".join((agents if mode & 2 else ranks)[1 - sealed::2])
        (directory / "ports" / f"{mode}-{sealed}").write_bytes(bytes([mode]) + hands * sealed + reported + raw + time + reported)
corpus = pathlib.Path(__file__).resolve().parent / "corpus"
for reader in ("check", "profile"):
    with tarfile.open(corpus / f"{reader}.tar.xz") as archive:
        for member in archive:
            if member.isfile():
                (directory / reader / pathlib.Path(member.name).name).write_bytes(archive.extractfile(member).read())

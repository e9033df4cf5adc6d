#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Damages files of torch.save in many ways, and checks what `hpcml checkpoint latest` prints:
archives.py HPCML   (a Python with torch)

The oracle is torch.load: `--verify` may accept only files that it loads with the values that were saved.
"""
import os
import random
import struct
import subprocess
import sys
import tempfile

import torch

VALUES = {"weights": torch.arange(300.0), "step": 10, "name": "model"}


def latest(program, directory, *options):
    done = subprocess.run(
        [program, "checkpoint", "latest", *options, directory], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.strip(), done.stderr


def loads_as_saved(path):
    try:
        loaded = torch.load(path)
        if loaded.keys() != VALUES.keys() or not torch.equal(loaded.pop("weights"), VALUES["weights"]):
            return False
        return loaded == {"step": 10, "name": "model"}
    except Exception:  # whatever a damaged pickle makes of itself
        return False


def main():
    program, wrong, seen = sys.argv[1], [], {"accepted": 0, "rejected": 0}
    with tempfile.TemporaryDirectory() as directory:
        older, newer = f"{directory}/step_9.pt", f"{directory}/step_10.pt"
        torch.save(VALUES, older)
        torch.save(VALUES, newer)
        os.utime(newer, (1, 1))  # the step counts, not the time
        for options in ((), ("--verify",)):
            if latest(program, directory, *options)[:2] != (0, newer):
                wrong.append(f"intact {options}")
        with open(newer, "rb") as file:
            intact = file.read()

        def write(data):
            with open(newer, "wb") as file:
                file.write(data)

        def check(what, options, must_reject):
            code, path, errors = latest(program, directory, *options)
            falls_back = (code, path, errors.count(newer), errors.count("\n")) == (0, older, 1, 1)
            accepted = (code, path, errors) == (0, newer, "")
            seen["accepted" if accepted else "rejected"] += 1
            if not falls_back and not accepted or accepted and (must_reject or not loads_as_saved(newer)):
                wrong.append(f"{what} {options}: {code} {path} {errors}")

        directories = [*range(64), *range(intact.index(b"PK\1\2"), len(intact))]
        for at in sorted({*directories, *random.Random(5).sample(range(len(intact)), 200)}):
            for mask in (0x01, 0xFF):
                write(intact[:at] + bytes([intact[at] ^ mask]) + intact[at + 1:])
                check(f"byte {at} ^ {mask}", ("--verify",), False)
        for length in sorted({*range(0, len(intact), 37), *range(len(intact) - 100, len(intact))}):
            write(intact[:length])
            check(f"{length} of {len(intact)} bytes", (), True)
        for tail in (b"\0", b"PK\5\6", intact):
            write(intact + tail)
            check(f"with {tail[:4]} appended", (), False)
        # A flipped byte of the tensor's data is found with --verify, and not looked for without.
        at = intact.index(struct.pack("300f", *VALUES["weights"].tolist())) + 200
        write(intact[:at] + bytes([intact[at] ^ 4]) + intact[at + 1:])
        check("data", ("--verify",), True)
        if latest(program, directory)[:2] != (0, newer):
            wrong.append("data, without --verify")
        torch.save(VALUES, newer, _use_new_zipfile_serialization=False)
        check("torch 1.5's format", (), True)
        if hasattr(torch.serialization, "set_crc32_options"):
            torch.serialization.set_crc32_options(False)
            torch.save(VALUES, newer)
            check("no checksums", ("--verify",), True)
        os.mkfifo(f"{directory}/step_11.pt")
        os.symlink("step_9.pt", f"{directory}/step_12.pt")
        if latest(program, directory)[:2] != (0, f"{directory}/step_12.pt"):
            wrong.append("link")
        os.remove(f"{directory}/step_12.pt")
        if "step_11.pt: the checkpoint is not a regular file" not in latest(program, directory)[2]:
            wrong.append("FIFO")
    print(f"torch {torch.__version__}: {len(wrong)} wrong of {seen}", *wrong[:20], sep="\n")
    return bool(wrong) or min(seen.values()) < 50


if __name__ == "__main__":
    sys.exit(main())

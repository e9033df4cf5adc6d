#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hangs that programs have, made on 4 ranks: the store names the rank that is waited for, its node and what it does.

    hangs.py HPCML [NAME…]      with the Python of a torch 2
"""
import hmac
import json
import os
import secrets
import signal
import socket
import struct
import subprocess
import sys
import time
from datetime import timedelta

os.environ["OMP_NUM_THREADS"] = "1"
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402

SIZE = 4
LIMIT = timedelta(seconds=300)


JOB, STEP = f"0.0.{os.getuid()}", "0"
SECRET = secrets.token_bytes(32)
os.environ["HPCML_JOB_SECRET"] = SECRET.hex()
SET, COMPARE_SET = 1, 2
VERSION = subprocess.run([sys.argv[1], "--version"], capture_output=True, text=True, check=True).stdout.strip()
SESSION_KEY = b"\x01hpcml/session"


def text(value):
    data = value if isinstance(value, bytes) else str(value).encode()
    return struct.pack("<Q", len(data)) + data


def texts(*values):
    return b"".join(map(text, values))


def code_of(key, label, message):
    return hmac.digest(key, label.encode() + b"\0" + message, "sha256")


def split_texts(data):
    values = []
    while data:
        (length,) = struct.unpack_from("<Q", data)
        values.append(data[8:8 + length])
        data = data[8 + length:]
    return values


def read_text(client):
    data = b""
    while len(data) < 8 or len(data) < 8 + struct.unpack_from("<Q", data)[0]:
        part = client.recv(4096)
        assert part, "the store ended the connection"
        data += part
    return data[8:]


def announce(port, rank):
    """Sends what hpcml's launcher sends before it becomes the program, in a session (docs/concepts/security.md). Ranks 0, 1 are on node001, 2, 3
    on node002."""
    words = [VERSION + " announcement", JOB, STEP, rank, SIZE, rank % 2, f"node00{rank // 2 + 1}", os.getpid(), ""]
    words += [1, "", 0, 0, "", 2, "node001", "node002", 2, 2, 2] if rank == 0 else [0, 0, 0]
    request = texts("hpcml session request", 1, 0, JOB, STEP, rank, secrets.token_bytes(16))
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(struct.pack("<BIB", 0, 0x3C85F7CE, COMPARE_SET) + texts(SESSION_KEY, "?", request))
        _, version, nonce, served_port, code = split_texts(read_text(client))
        transcript = texts("hpcml session transcript", request, nonce, served_port)
        assert (version, int(served_port)) == (b"1", port)
        assert hmac.compare_digest(code, code_of(SECRET, "hpcml session server", transcript))
        proof = texts("hpcml session proof", code_of(SECRET, "hpcml session client", transcript))
        sealed = bytes(8) + bytes([COMPARE_SET]) + texts("\x01hpcml/announce", texts(*words))
        sealed += hmac.digest(code_of(SECRET, "hpcml session to server", transcript), sealed, "sha256")
        client.sendall(bytes([SET]) + texts(SESSION_KEY, proof) + bytes([SET]) + texts(SESSION_KEY, sealed))
        read_text(client)


def leave(code):
    """Once all are connected: whoever still connects to a rank that goes fails itself."""
    dist.barrier()
    time.sleep(1)
    os._exit(code)


def init(rank, size=SIZE):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size))
    dist.init_process_group("gloo", timeout=LIMIT)


def wait_for_ever():
    time.sleep(1000)


def raises_before_init(rank):
    if rank == 3:
        raise SystemExit("no such data set")
    init(rank)


def comes_late(rank):
    if rank == 2:
        wait_for_ever()
    init(rank)


def dies_before_a_group(rank):
    init(rank)
    if rank == 1:
        leave(1)
    dist.barrier()
    dist.new_group(range(SIZE), timeout=LIMIT)


def ends_early(rank):
    init(rank)
    dist.barrier()
    if rank == 0:
        time.sleep(1)
        dist.destroy_process_group()
        os._exit(0)
    dist.new_group([0, 2, 3], timeout=LIMIT)
    wait_for_ever()


def skips_a_group(rank):
    init(rank)
    if rank != 2:
        dist.new_group(range(SIZE), timeout=LIMIT)
    wait_for_ever()


def skips_a_collective(rank):
    init(rank)
    if rank != 1:
        dist.all_reduce(torch.ones(1))
    dist.new_group(range(SIZE), timeout=LIMIT)


def other_order_of_groups(rank):
    init(rank)
    groups = [[0, 1], [2, 3]]
    for ranks in groups if rank != 3 else reversed(groups):
        dist.new_group(ranks, timeout=LIMIT)
    wait_for_ever()


def other_members_of_a_group(rank):
    init(rank)
    dist.new_group([0, 1, 2] if rank != 3 else [0, 1, 3], timeout=LIMIT)
    dist.new_group(range(SIZE), timeout=LIMIT)


def other_members_of_a_group_in_turn(rank):
    """Two of the members are whole with the wrong third, and have gone on, when the right one comes."""
    init(rank)
    if rank == 2:
        time.sleep(1)
    dist.new_group([0, 1, 2] if rank != 3 else [0, 1, 3], timeout=LIMIT)
    dist.new_group(range(SIZE), timeout=LIMIT)


def key_that_nobody_sets(rank):
    init(rank)
    store = dist.distributed_c10d._get_default_store()
    if rank != 2:
        store.wait(["model_ready"], LIMIT)
    wait_for_ever()


def same_rank_twice(rank):
    init(2 if rank == 3 else rank)


def other_world_size(rank):
    init(rank, 5 if rank == 1 else SIZE)
    wait_for_ever()


def stops_between_groups(rank):
    init(rank)
    dist.new_group(range(SIZE), timeout=LIMIT)
    if rank == 2:
        os.kill(os.getpid(), signal.SIGSTOP)
    dist.new_group(range(SIZE), timeout=LIMIT)


def waits_in_its_own_barrier(rank):
    init(rank)
    store = dist.PrefixStore("mine", dist.distributed_c10d._get_default_store())
    if rank == 1:
        wait_for_ever()
    if store.add("came", 1) == SIZE:
        store.set("all_came", "1")
    store.wait(["all_came"], LIMIT)


# What is made, who must be told to wait, who is missing, and words that the sentence must hold.
HANGS = [
    (raises_before_init, "012", "3", "rank 3/4 (node002, local 1) has not entered it: its task started"),
    (comes_late, "013", "2", "rank 2/4 (node002, local 0) has not entered it: its task started"),
    (dies_before_a_group, "023", "1", "rank 1/4 (node001, local 1) has not entered it: its program disconnected from the store"),
    (ends_early, "23", "01", "rank 0/4 (node001, local 0): its program disconnected from the store"),
    (skips_a_group, "013", "2", "rank 2/4 (node002, local 0) has not entered it: it last accessed the store"),
    (skips_a_collective, "1", "0", "rank 1/4 (node001, local 1) has waited"),
    (other_order_of_groups, None, None, "rank 3/4 (node002, local 1)"),
    (other_members_of_a_group, None, None, "rank 3/4 (node002, local 1)"),
    (other_members_of_a_group_in_turn, None, None, "rank 3/4 (node002, local 1)"),
    (key_that_nobody_sets, "013", "2", "rank 2/4 (node002, local 0) does not wait for it"),
    (same_rank_twice, None, None, "rank 2/4 (node002, local 0) and rank 3/4 (node002, local 1) both entered"),
    (other_world_size, None, "", "rank 1/4 (node001, local 1) waits for rank 4, but the step has 4 ranks"),
    (stops_between_groups, "013", "2", "rank 2/4 (node002, local 0) has not entered it: it last accessed the store"),
    (waits_in_its_own_barrier, "023", "1", "rank 1/4 (node001, local 1) does not wait for it"),
]


def start_rank(port, rank, hang):
    pid = os.fork()
    if pid:
        return pid
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        announce(port, rank)
        hang(rank)
        wait_for_ever()
    finally:
        os._exit(1)


def is_notified(stalls, waiters, missing, words):
    for stall in stalls:
        if stall["seconds"] < 2:  # on the way to the hang others are waited for, too
            continue
        right = waiters is None or stall["waiters"] == list(waiters)
        right = right and (missing is None or stall["missing_ranks"] == [int(rank) for rank in missing])
        if right and words in stall["text"]:
            return stall["text"]
    return None


def try_hang(hpcml, hang, waiters, missing, words):
    server = subprocess.Popen([hpcml, "internal", "store-serve", "--listen", "127.0.0.1", "--warn-after", "1"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    port = int(server.stdout.readline())
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), TORCHELASTIC_USE_AGENT_STORE="1")
    ranks = [start_rank(port, rank, hang) for rank in range(SIZE)]
    shown, notified = {"stalls": []}, None
    try:
        end = time.time() + 240
        while not notified and time.time() < end:
            time.sleep(0.3)
            answer = subprocess.run([hpcml, "store", "show", f"127.0.0.1:{port}", "--json"], capture_output=True, text=True)
            assert answer.returncode == 0, answer.stderr
            shown = json.loads(answer.stdout)
            notified = is_notified(shown["stalls"], waiters, missing, words)
        time.sleep(0.7)
    finally:
        for pid in ranks:
            os.kill(pid, signal.SIGKILL)
        for pid in ranks:
            os.waitpid(pid, 0)
        server.terminate()
        reported = server.communicate()[1]
    print(f"{hang.__name__}: {notified or 'NOT TOLD: ' + json.dumps(shown, indent=1)}", flush=True)
    # The server says it unasked, too, in the same words.
    rank_name = words[: words.index(")") + 1]
    if rank_name not in reported:
        print(f"{hang.__name__}: the server itself said: {reported}")
        return False
    return notified is not None


def main():
    hpcml, names = sys.argv[1], sys.argv[2:]
    hangs = [one for one in HANGS if not names or one[0].__name__ in names]
    good = sum(try_hang(hpcml, *one) for one in hangs)
    print(f"{good} of {len(hangs)} hangs are named")
    sys.exit(good != len(hangs))


main()

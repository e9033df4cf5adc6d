#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The store's answers beside those of torch's own server: the same random messages to both, every answer compared byte for byte.

    compare_with_torch.py HPCML SERVER SEED OPERATIONS      SERVER: libuv, poll (torch 2's older one) or torch1 (1.13)

Messages that torch's servers answer wrongly (src/run/store/store_table.hpp says which) or that end a connection in one dialect only are not drawn.
"""
import random
import select
import socket
import struct
import subprocess
import sys
import time
from datetime import timedelta

import torch.distributed as dist

(VALIDATE, SET, COMPARE_SET, GET, ADD, CHECK, WAIT, GET_NUM_KEYS, DELETE_KEY, APPEND, MULTI_GET, MULTI_SET, CANCEL_WAIT, PING,
 QUEUE_PUSH, QUEUE_POP, QUEUE_LEN, LIST_KEYS, BARRIER) = range(19)
MAGIC = 0x3C85F7CE


def text(value):
    return struct.pack("<Q", len(value)) + value


def texts(values):
    return struct.pack("<Q", len(values)) + b"".join(map(text, values))


class Ended(Exception):
    """The server ended the connection."""


class Client:
    """One connection to one server."""

    def __init__(self, port, torch1):
        self.torch1 = torch1
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not torch1:
            self.socket.sendall(struct.pack("<BI", VALIDATE, MAGIC))

    def send(self, op, body=b""):
        number = op if not self.torch1 else 8 if op == DELETE_KEY else op - 1
        message = bytes([number]) + body
        try:
            self.socket.sendall(message)
        except OSError as error:
            raise Ended from error

    def read(self, count):
        parts = []
        while count:
            try:
                part = self.socket.recv(min(count, 1 << 20))
            except socket.timeout:
                raise
            except OSError as error:
                raise Ended from error
            if not part:
                raise Ended
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def read_text(self):
        length = self.read(8)
        return length + self.read(struct.unpack("<Q", length)[0])

    def settle(self):
        """Returns once the server has done all that this client said before."""
        if self.torch1:
            self.send(GET_NUM_KEYS)
            return self.read(8)
        self.send(PING, b"here")
        return self.read(4)

    def begin_wait(self, op, body):
        """What it says at once: a message behind it is answered before the wait has ended."""
        try:
            self.send(op, body)
            self.send(GET_NUM_KEYS if self.torch1 else PING, b"" if self.torch1 else b"here")
            reported = self.read(8 if self.torch1 else 4)
            if reported[0] != 0:  # the wait goes on; keys there are at least one
                return b""
            self.read(1)
            return reported[:1]
        except Ended:
            return b"ended"

    def waiting_answer(self):
        """The byte that ended a wait, if it has come."""
        ready, _, _ = select.select([self.socket], [], [], 0)
        if not ready:
            return b""
        try:
            return self.read(1)
        except Ended:
            return b"ended"


def ask(client, op, body, answer):
    """What the server says; `answer` is how much of it there is."""
    try:
        client.send(op, body)
        reported = b""
        if answer == "text":
            reported = client.read_text()
        elif answer == "pop":
            reported = client.read(8)
            if reported != bytes(8):
                reported += client.read_text()
        elif answer == "list":
            reported = client.read(8)
            reported += b"".join(client.read_text() for _ in range(struct.unpack("<Q", reported)[0]))
        elif isinstance(answer, tuple):
            reported = b"".join(client.read_text() for _ in range(answer[0]))
        else:
            reported = client.read(answer)
        return reported + client.settle()
    except Ended:
        return b"ended"


class Pair:
    """One client of each server; they say the same."""

    def __init__(self, ports, torch1, queue=None):
        self.ports, self.torch1, self.queue = ports, torch1, queue
        self.awaits = None  # what it waits for
        self.renew()

    def renew(self):
        self.ends = [Client(port, self.torch1) for port in self.ports]
        self.awaits = None

    def close(self):
        for end in self.ends:
            end.socket.close()


class Comparison:
    def __init__(self, kind, ports, seed):
        self.kind, self.torch1 = kind, kind == "torch1"
        self.random = random.Random(seed)
        self.ports = ports
        self.keys = [b"", b"\0", b"a", b"store_based_barrier_key:1", b"k" * 300, bytes(range(256)), b"default_pg/0//0", "ü".encode(), b"n1", b"n2"]
        self.queues = [b"queue/1", b"queue/2"]
        self.values = {}  # what is there, as far as the draw needs it
        self.pairs = [Pair(ports, self.torch1) for _ in range(5)]
        if kind == "libuv":
            self.pairs += [Pair(ports, False, queue) for queue in self.queues for _ in range(2)]
        self.count = 0
        self.kinds = {}

    def fail(self, op, body, ours, theirs):
        sys.exit("operation %d (%d, %r): ours %r, torch's %r" % (self.count, op, body[:200], ours[:200], theirs[:200]))

    def both(self, pair, op, body, answer):
        self.count += 1
        self.kinds[op] = self.kinds.get(op, 0) + 1
        theirs, ours = (ask(end, op, body, answer) for end in pair.ends)
        if ours != theirs:
            self.fail(op, body, ours, theirs)
        if ours == b"ended":
            pair.close()
            pair.renew()
        self.look_at_waiting(op, body)
        return ours

    def look_at_waiting(self, op, body):
        for pair in self.pairs:
            if pair.awaits is None:
                continue
            theirs, ours = (end.waiting_answer() for end in pair.ends)
            if ours != theirs:
                self.fail(op, body, ours, theirs)
            if not ours:
                continue
            pair.awaits = None
            if pair.queue:  # torch's server goes on listing it under the queue
                pair.close()
                pair.renew()

    def awaited(self, key):
        return any(pair.awaits and key in pair.awaits for pair in self.pairs)

    def value(self):
        draw = self.random.random()
        if draw < 0.3:
            return self.random.choice([b"0", b"17", b" 5", b"-3x", b"9223372036854775807", b"+2", b"\n\t8 9"])
        if draw < 0.004 + 0.3:
            size = (8 << 20) if self.kind == "libuv" else (64 << 20)
            return self.random.randbytes(64) * (size // 64)
        return self.random.randbytes(self.random.choice([0, 1, 8, 40, 500, 5000]))

    def draw_key(self, there=False):
        if there and self.values:
            return self.random.choice(sorted(self.values))
        return self.random.choice(self.keys)

    def wait(self, pair):
        wanted = [pair.queue] if pair.queue else self.random.sample(self.keys, self.random.choice([1, 1, 2, 3]))
        self.begin_wait(pair, WAIT, texts(wanted), wanted)

    def begin_wait(self, pair, op, body, wanted):
        self.count += 1
        self.kinds[op] = self.kinds.get(op, 0) + 1
        theirs, ours = (end.begin_wait(op, body) for end in pair.ends)
        if ours != theirs:
            self.fail(op, body, ours, theirs)
        if ours == b"ended":
            pair.close()
            pair.renew()
        elif ours == b"":
            pair.awaits = wanted
        self.look_at_waiting(op, body)

    def cancel(self, pair):
        if self.torch1:
            return
        pair.awaits = None
        self.both(pair, CANCEL_WAIT, b"", 1)

    def die(self, pair):
        """In the middle of a message, of a wait, or between two."""
        if self.random.random() < 0.5:
            half = text(self.draw_key()) + struct.pack("<Q", 1000) + b"half"
            for end in pair.ends:
                end.send(SET, half)
        pair.close()
        pair.renew()
        if pair.queue:  # or one of the servers may wake who is not there any more
            for end in pair.ends:  # a new client is answered after the end of the old one was seen
                end.settle()
            time.sleep(0.02)

    def barrier(self, pair):
        key, world = b"barrier/%d" % self.random.randrange(3), self.random.choice([1, 2, 3, 100])
        self.values[key] = None
        self.begin_wait(pair, BARRIER, text(key) + struct.pack("<q", world), [key])

    def step(self):
        pair = self.random.choice(self.pairs)
        if pair.awaits is not None:
            draw = self.random.random()
            if draw < 0.2:
                self.cancel(pair)
            elif draw < 0.25:
                self.die(pair)
            return
        if pair.queue:
            return self.queue_step(pair)
        op = self.random.choice([SET, SET, COMPARE_SET, GET, GET, ADD, ADD, CHECK, WAIT, GET_NUM_KEYS, DELETE_KEY, DELETE_KEY]
                                + ([] if self.torch1 else [APPEND, MULTI_GET, MULTI_SET, CANCEL_WAIT, PING, LIST_KEYS, BARRIER]))
        self.plain_step(pair, op)
        if self.random.random() < 0.005:
            self.die(pair)

    def plain_step(self, pair, op):
        key, value = self.draw_key(), self.value()
        if op == SET:
            self.values[key] = None
            self.both(pair, op, text(key) + text(value), 0)
        elif op == COMPARE_SET:
            expected = self.random.choice([b"", value, self.random.choice([b"0", b"17"])])
            # libuv wakes who waits for nothing; the others wake nobody who should be.
            if self.awaited(key) and (expected or self.kind != "libuv"):
                return
            if key in self.values or not expected:
                self.values[key] = None
            self.both(pair, op, text(key) + text(expected) + text(value), "text")
        elif op == GET:
            if key in self.values or self.kind != "poll":  # torch 2's older server ends the connection
                self.both(pair, op, text(key), "text")
        elif op == ADD:
            if self.both(pair, op, text(key) + struct.pack("<q", self.random.choice([1, 1, -4, 0, 2**63 - 1])), 8) != b"ended":
                self.values[key] = None
        elif op == CHECK:
            keys = self.random.sample(self.keys, self.random.randrange(4)) + ([] if self.kind != "libuv" else self.queues[: self.random.randrange(2)])
            self.both(pair, op, texts(keys), 1)
        elif op == WAIT:
            self.wait(pair)
        elif op == GET_NUM_KEYS:
            self.both(pair, op, b"", 8)
        elif op == DELETE_KEY:
            self.values.pop(key, None)
            self.both(pair, op, text(key), 8)
        elif op == APPEND:
            self.values[key] = None
            self.both(pair, op, text(key) + text(value[:100000]), 0)
        elif op == MULTI_GET:
            keys = [self.draw_key(self.kind == "poll") for _ in range(self.random.randrange(4))]
            if self.kind != "poll" or self.values:
                self.both(pair, op, texts(keys), (len(keys),))
        elif op == MULTI_SET:
            keys = self.random.sample(self.keys, self.random.randrange(4))
            self.values.update(dict.fromkeys(keys))
            self.both(pair, op, struct.pack("<Q", len(keys)) + b"".join(text(one) + text(self.value()) for one in keys), 0)
        elif op == CANCEL_WAIT:
            self.both(pair, op, b"", 1)
        elif op == PING:
            self.both(pair, op, self.random.randbytes(4), 4)
        elif op == LIST_KEYS:
            self.both(pair, op, b"", "list")
        elif op == BARRIER:
            self.barrier(pair)

    def queue_step(self, pair):
        op = self.random.choice([QUEUE_PUSH, QUEUE_POP, QUEUE_POP, QUEUE_LEN, WAIT])
        if op == WAIT:
            length = self.both(pair, QUEUE_LEN, text(pair.queue), 8)
            if length[:8] == bytes(8):
                self.wait(pair)
        elif op == QUEUE_PUSH:
            self.both(pair, op, text(pair.queue) + text(self.value()), 0)
        elif op == QUEUE_POP:
            self.both(pair, op, text(pair.queue), "pop")
        else:
            self.both(pair, op, text(pair.queue), 8)


def main():
    hpcml, kind, seed, operations = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    options = {} if kind == "torch1" else {"use_libuv": kind == "libuv"}
    theirs = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False, timeout=timedelta(seconds=300), **options)
    ours = subprocess.Popen([hpcml, "internal", "store-serve", "--listen", "127.0.0.1"], stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL)
    try:
        comparison = Comparison(kind, [theirs.port, int(ours.stdout.readline())], seed)
        comparison.both(comparison.pairs[0], SET, text(b"always") + text(b"1"), 0)
        while comparison.count < operations:
            comparison.step()
        print("agree: %d operations, %s" % (comparison.count, comparison.kinds))
    finally:
        ours.terminate()
        ours.wait()


if __name__ == "__main__":
    main()

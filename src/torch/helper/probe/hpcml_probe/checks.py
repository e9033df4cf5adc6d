# SPDX-License-Identifier: MIT
# The checks of tensors (src/torch/helper/preflight_checks.cpp).
import ctypes
import struct
import time

import torch

from hpcml_probe.faulty_rank import partner_of, rounds_of

PERIOD = 251  # prime, so that a shift by a power of two (a chunk in the wrong place) shows
SEND_ROUNDS = 7  # of pairs that send: all pairs of up to eight ranks


class OwnFault(Exception):
    """A check failed because of what this rank itself brought to it."""


def pattern(count, device, seed=0):
    """Small whole numbers, whose sums over the ranks are exact in float32."""
    return ((torch.arange(count, dtype=torch.long) + seed).remainder(PERIOD) + 1).to(torch.float32).to(device)


def element_count(size):
    return max(1, size // 4)


def plain(value):
    return "%g" % value


def difference(got, expected, what):
    """Empty, or what is wrong in `got`."""
    wrong = got.ne(expected)
    count = int(wrong.sum())
    if count == 0:
        return ""
    at = int(wrong.nonzero()[0][0])
    return "%s is wrong in %d of %d elements; the first is element %d: %s instead of %s" % (
        what,
        count,
        got.numel(),
        at,
        plain(float(got[at])),
        plain(float(expected[at])),
    )


def input_fault(own, rank, seed, factor, more):
    """Empty, or what is wrong in a tensor that should be `factor` times the pattern plus `more`: computed on the CPU and
    without torch, because the device that made it may be what is broken."""
    copy = own.detach().cpu().contiguous()
    period = struct.pack("=%df" % PERIOD, *(((at + seed) % PERIOD + 1) * factor + more for at in range(PERIOD)))
    size = 4 * copy.numel()
    if ctypes.string_at(copy.data_ptr(), size) == (period * (size // len(period) + 1))[:size]:
        return ""
    here = copy.tolist()
    wrong = [at for at, value in enumerate(here) if value != ((at + seed) % PERIOD + 1) * factor + more]
    at = wrong[0]
    return (
        "its own tensor on %s (rank %d) is wrong in %d of %d elements before anything is sent; the first is element %d: "
        "%s instead of %d"
        % (own.device, rank, len(wrong), len(here), at, plain(here[at]), ((at + seed) % PERIOD + 1) * factor + more)
    )


def check_all_reduce(group, size):
    """Seconds per operation and gigabits per second; an error names the first wrong element."""
    torch.set_num_threads(1)
    base = pattern(element_count(size), group.device)
    # Rank r brings (r+1) times the pattern: a rank that is left out or counted twice changes the sum.
    own = base * (group.rank + 1)
    expected = base * (group.size * (group.size + 1) / 2)
    tensor = own.clone()

    def compare():
        wrong = difference(tensor, expected, "the sum over %d ranks" % group.size)
        if not wrong:
            return
        fault = input_fault(own, group.rank, 0, group.rank + 1, 0)
        raise OwnFault(fault) if fault else RuntimeError(wrong)

    group.all_reduce_sum(tensor)  # the first one also sets up connections, so it is checked but not timed
    compare()
    rounds, taken = 3, 0.0
    for _ in range(rounds):
        tensor.copy_(own)
        start = time.monotonic()
        group.all_reduce_sum(tensor)
        taken += (time.monotonic() - start) / rounds
        compare()
    moved = tensor.numel() * 4 * 2 * (group.size - 1) / group.size
    return taken, 8 * moved / taken / 1e9


def check_send_receive(group, size):
    """Each rank sends to seven others (all, in a world of eight) and receives what only that one should get."""
    torch.set_num_threads(1)
    base = pattern(element_count(size), group.device)
    taken, tensors = 0.0, 0
    for turn in range(min(rounds_of(group.size), SEND_ROUNDS)):
        other = partner_of(group.rank, group.size, turn)
        if other is None:
            continue
        out, into = base + other, torch.zeros_like(base)
        start = time.monotonic()
        # One after the other: two ranks that both send first may wait for each other for ever.
        if group.rank < other:
            group.send(out, other)
        group.receive(into, other)
        if group.rank > other:
            group.send(out, other)
        taken += time.monotonic() - start
        tensors += 2
        wrong = difference(into, base + group.rank, "what rank %d received from rank %d" % (group.rank, other))
        fault = input_fault(out, group.rank, 0, 1, other)
        if fault:
            raise OwnFault(fault)
        if wrong:
            raise RuntimeError(wrong)
    if tensors == 0:
        return 0.0, 0.0
    return taken / tensors, 8 * tensors * base.numel() * 4 / taken / 1e9


def check_pair(pair, size, turn):
    """What two ranks find alone: (own tensor, sum, message), empty where all is well."""
    torch.set_num_threads(1)
    count = element_count(size)
    seed, other_seed = ((turn * 2 + side) * 37 % PERIOD for side in (pair.rank, 1 - pair.rank))
    own = pattern(count, pair.device, seed)
    expected = pattern(count, "cpu", other_seed)
    fault = input_fault(own, pair.rank, seed, 1, 0)
    total = own.clone()
    pair.all_reduce_sum(total)
    wrong_sum = difference(total.cpu(), expected + pattern(count, "cpu", seed), "the sum over the two")
    into = torch.zeros_like(own)
    if pair.rank == 0:
        pair.send(own.clone(), 1)
    pair.receive(into, 1 - pair.rank)
    if pair.rank == 1:
        pair.send(own.clone(), 0)
    return fault, wrong_sum, difference(into.cpu(), expected, "what it received from the other")

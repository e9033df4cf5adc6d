# SPDX-License-Identifier: MIT
# After a fault that no rank owns up to, all meet in pairs (src/torch/helper/search_faulty_rank.cpp).
import time

from hpcml_probe.checks import check_pair
from hpcml_probe.group import Communicator
from hpcml_probe.faulty_rank import Observation, attribute_fault, partner_of, rounds_of
from hpcml_probe.rendezvous import PhaseFailure, list_ranks_and_hosts, public_phase

ANSWER, PAIR_LIMIT = 8.0, 20.0  # in which every rank that lives takes its part; of a pair's operation
SWEEPS, MOST_ROUNDS = 4, 24  # how often all pairs meet before it is given up; of one sweep
END = "end"


def sealed(text):
    """With its own checksum (FNV-1a): a rank that alters what it sends may alter this, too."""
    value = 14695981039346656037
    for byte in text.encode("utf-8", "replace"):
        value = ((value ^ byte) * 1099511628211) % (1 << 64)
    return "%d %s" % (value, text)


def pack(seen):
    return sealed("%d -%s %s" % (seen.other, seen.kinds, seen.text))


def unpack(rank, note):
    text = note.partition(" ")[2]
    if sealed(text) != note:
        reported = "the report of rank %d to rank 0 was altered" % rank
        return Observation(rank, 0, "B" if rank != 0 else "", reported)
    other, kinds, text = (text.split(" ", 2) + ["", ""])[:3]
    return Observation(rank, int(other), kinds.lstrip("-"), text)


class PairOptions:
    def __init__(self, options):
        self.backend, self.interface = options.backend, options.interface
        self.timeout = min(options.timeout, PAIR_LIMIT)


def test_pair(rendezvous, env, options, other, turn, size):
    """Meets `other` alone, in a group of two."""
    pair = "rank %d with rank %d: " % (env.rank, other)
    try:
        low, high = sorted((env.rank, other))
        name = "hpcml/pair%d/%d-%d" % (turn, low, high)
        group = Communicator(rendezvous.store, env, PairOptions(options), name, 0 if env.rank == low else 1, 2)
        fault, wrong_sum, message = check_pair(group, size, turn)
    except Exception as error:
        return Observation(env.rank, other, "B", pair + str(error))
    kinds = ("I" if fault else "") + ("S" if wrong_sum else "") + ("M" if message else "")
    first = message or wrong_sum
    return Observation(env.rank, other, kinds, fault or (pair + first if first else ""))


class Search:
    """One search, from the side of rank 0 (which leads it) or of another rank."""

    def __init__(self, rendezvous, env, options, size):
        self.rendezvous, self.env, self.options, self.size = rendezvous, env, options, size
        self.start, self.members, self.seen, self.absent, self.lost = time.monotonic(), [], [], [], []

    def run(self):
        leads = self.env.rank == 0
        self.rendezvous.note("search", "here")
        if leads:
            answers = self.rendezvous.collect("search", ANSWER)
            self.absent = [rank for rank, answer in enumerate(answers) if answer is None]
            there = [rank for rank, answer in enumerate(answers) if answer is not None]
            self.rendezvous.publish_result("search", "".join("%d " % rank for rank in there))
        self.members = [int(rank) for rank in self.rendezvous.wait_for_result("search", 2 * ANSWER).split()]
        turn = 0
        while self.env.rank in self.members and self._goes_on(turn):
            self._play(turn)
            turn += 1
        return attribute_fault(self.rendezvous.hosts, self.seen, self.absent) if leads else None

    def _sweep(self):
        return min(rounds_of(len(self.members)), MOST_ROUNDS)

    def _answer_timeout(self):
        """Rank 0 waits for the slowest pair; the others for rank 0."""
        return 5 * min(self.options.timeout, PAIR_LIMIT) + ANSWER

    def _goes_on(self, turn):
        """Rank 0 decides, so that all ranks make the same rounds."""
        if self.env.rank == 0:
            sweep = self._sweep()
            late = time.monotonic() - self.start > self.options.timeout
            done = sweep == 0 or turn >= SWEEPS * sweep or bool(self.lost) or (turn > 0 and late)
            if not done and turn > 0 and turn % sweep == 0 and not self.absent:
                done = bool(attribute_fault(self.rendezvous.hosts, self.seen, self.absent).faulty)
            self.rendezvous.publish_result("search%d" % turn, END if done else "go")
        return self.rendezvous.wait_for_result("search%d" % turn, self._answer_timeout()) != END

    def _play(self, turn):
        # In large worlds a sweep is a selection: rounds that lie far apart bring partners on other hosts.
        sweep = self._sweep()
        place = partner_of(self.members.index(self.env.rank), len(self.members), turn % sweep * rounds_of(len(self.members)) // sweep)
        seen = Observation(self.env.rank, self.env.rank)  # rests
        if place is not None:
            seen = test_pair(self.rendezvous, self.env, self.options, self.members[place], turn, self.size)
        self.rendezvous.note("search%d" % turn, pack(seen))
        if self.env.rank != 0:
            return
        notes = self.rendezvous.collect("search%d" % turn, self._answer_timeout() - ANSWER, self.members)
        for rank in self.members:
            if notes[rank] is None:
                self.lost.append(rank)
            else:
                self.seen.append(unpack(rank, notes[rank]))
        self.absent += self.lost


def search_faulty_rank(rendezvous, env, options, phase, size):
    """Ends with PhaseError on every rank."""
    found = Search(rendezvous, env, options, size).run()
    if env.rank != 0:
        rendezvous.fail("result", None, ANSWER)
    name = public_phase(phase)
    hosts = [rendezvous.hosts[rank] for rank in found.faulty]
    if found.faulty:
        who = list_ranks_and_hosts(found.faulty, hosts)
        what = "%s: %s; first seen in %s: %s" % (who, found.how, name, rendezvous.reason)
    else:
        what = "%s failed, and the faulty rank cannot be determined: %s; %s" % (name, rendezvous.reason, found.how)
    rendezvous.fail("result", PhaseFailure(name, found.faulty, hosts, what.replace("\n", " "), found.next), ANSWER)

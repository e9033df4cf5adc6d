# SPDX-License-Identifier: MIT
# The ranks meet at the store before they depend on each other (src/torch/helper/group_rendezvous.cpp).
import time

from hpcml_probe.group import Store
from hpcml_probe.faulty_rank import list_ranks
from hpcml_probe.network import host_name

POLL, GRACE = 0.01, 4.0
ARRIVAL, WELL, UNEXPLAINED = "arrival", "ok", "unexplained"
CRASH = "check the log of rank 0 for a crash or a kill"


def public_phase(phase):
    """The phase as users know it: arriving and connecting are one."""
    return "rendezvous" if phase in (ARRIVAL, "listen", "reach", "setup", "connect") else phase


class PhaseFailure:
    """Who stands in the way, in which phase, and what to do."""

    def __init__(self, phase, ranks, hosts, what, advice):
        self.phase, self.ranks, self.hosts, self.what, self.next = phase, ranks, hosts, what, advice
        self.is_reported = False  # rank 0 said so: this rank need not say it, too

    def pack(self):
        ranks = "".join("%d " % rank for rank in self.ranks)
        hosts = "".join("%s " % (host or "-") for host in self.hosts)
        return "\n".join((self.phase, ranks, hosts, self.what, self.next))

    @staticmethod
    def unpack(text):
        phase, ranks, hosts, what, advice = (text.split("\n") + [""] * 5)[:5]
        hosts = ["" if host == "-" else host for host in hosts.split()]
        return PhaseFailure(phase, [int(rank) for rank in ranks.split()], hosts, what, advice)


class PhaseError(Exception):
    def __init__(self, failure):
        super().__init__(failure.what)
        self.failure = failure


def list_ranks_and_hosts(ranks, hosts):
    names = list(dict.fromkeys(host for host in hosts if host))
    return list_ranks(ranks) + (" (%s)" % ", ".join(names) if names else "")


def open_store(env, timeout):
    try:
        return Store(env, timeout)
    except Exception as error:
        server = env.rank == 0
        raise PhaseError(
            PhaseFailure(
                "rendezvous",
                [0],
                [host_name() if server else env.master_addr],
                str(error),
                "use another MASTER_PORT if this one is in use, or check why this host cannot listen"
                if server
                else "check that rank 0 is running, and that MASTER_ADDR and MASTER_PORT are right and not filtered "
                "between the hosts",
            )
        )


class PhaseBarrier:
    """One meeting of all ranks; every call is bounded by the timeout plus a few seconds."""

    def __init__(self, env, timeout):
        self.env, self.timeout, self.peer_timeout = env, timeout, GRACE
        self.hosts, self.reason, self.first_host = [], "", env.master_addr
        deadline = time.monotonic() + timeout
        self.store = open_store(env, timeout)
        self.enter(ARRIVAL)
        self.store.set(self._key(ARRIVAL, "node", env.rank), str(env.node_rank))
        self.store.set(self._key(ARRIVAL, "done", env.rank), host_name())
        left = max(deadline - time.monotonic(), 0)
        if env.rank != 0:
            self._wait_for_outcome(ARRIVAL, left + GRACE)
            # While it is there: where rank 0 leaves, its store goes with it.
            self.first_host = self.store.get(self._key(ARRIVAL, "done", 0), timeout) or env.master_addr
            return
        self._wait_for_reports(ARRIVAL, left)
        self._name_the_missing()

    def _name_the_missing(self):
        env = self.env
        there = [self.store.has(self._key(ARRIVAL, "done", rank)) for rank in range(env.world_size)]
        self.hosts = [
            self.store.get(self._key(ARRIVAL, "done", rank), self.timeout) if here else "" for rank, here in enumerate(there)
        ]
        missing = [rank for rank, here in enumerate(there) if not here]
        if not missing:
            self.publish_result(ARRIVAL, WELL)
            return
        hosts = [self._probable_host(rank) for rank in missing]
        place = "%s:%d" % (env.master_addr, env.master_port)
        what = "%s did not connect to %s within %g s; %d of %d ranks connected" % (
            list_ranks_and_hosts(missing, hosts),
            place,
            self.timeout,
            env.world_size - len(missing),
            env.world_size,
        )
        advice = (
            "check the messages of these ranks; if there are none, check that they started with the same WORLD_SIZE and "
            "can reach %s" % env.master_addr
        )
        self.fail(ARRIVAL, PhaseFailure("rendezvous", missing, hosts, what, advice), GRACE)

    @staticmethod
    def _key(phase, what, rank):
        if phase == ARRIVAL and what == "done":
            return "hpcml/arrived/%d" % rank
        return "hpcml/%s/%s/%d" % (phase, what, rank)

    def _probable_host(self, rank):
        """A missing rank never told its host; where ranks lie in blocks on the nodes, its neighbours did."""
        width = self.env.local_world_size
        if width <= 0 or self.env.world_size % width != 0:
            return ""
        first = rank // width * width
        return next((host for host in self.hosts[first : first + width] if host), "")

    def _write(self, phase, what, text, before=""):
        try:
            self.store.set(self._key(phase, what, self.env.rank), text)
        except Exception as lost:
            message = "lost the connection to rank 0: %s" % lost + ("; before that: " + before if before else "")
            raise PhaseError(PhaseFailure(public_phase(phase), [0], [self.first_host], message, CRASH))

    def enter(self, phase):
        self._write(phase, "entered", "1")

    def _wait_for_all(self, ready, limit):
        deadline, rank = time.monotonic() + limit, 0
        while rank < self.env.world_size:
            if ready(rank):
                rank += 1
            elif time.monotonic() >= deadline:
                return
            else:
                time.sleep(POLL)

    def _has(self, phase, what, rank):
        return self.store.has(self._key(phase, what, rank))

    def _wait_for_reports(self, phase, limit):
        self._wait_for_all(lambda rank: self._has(phase, "done", rank) or self._has(phase, "failed", rank), limit)

    def _find_failure(self, phase):
        absent, silent, faulty, seen, confessed = [], [], [], "", ""
        for rank in range(self.env.world_size):
            if self._has(phase, "done", rank):
                continue
            if not self._has(phase, "failed", rank):
                (silent if self._has(phase, "entered", rank) else absent).append(rank)
                continue
            reported = self.store.get(self._key(phase, "failed", rank), self.timeout)
            if self._has(phase, "own", rank):
                faulty.append(rank)
                confessed = confessed or reported
            else:
                seen = seen or reported
        self.reason = seen
        ranks = faulty or absent or silent
        if not ranks:
            return None
        # A rank that says itself what is wrong with it explains the errors of the others, and so does one that fell
        # silent; not the other way round.
        name, hosts = public_phase(phase), [self.hosts[rank] for rank in ranks]
        who = list_ranks_and_hosts(ranks, hosts)
        if not faulty:
            what = who + (" did not start " if absent else " stopped responding in ") + name + " after connecting"
            what += "; other ranks reported: " + seen if seen else ""
            advice = (
                "check the log of that rank for a crash or a kill (out of memory?), or use --exclude if it recurs on one host"
            )
        else:
            what = "%s failed in %s: %s" % (who, name, confessed)
            advice = (
                "check what the message names on these hosts, or use --interface NAME for another network interface"
                if name == "rendezvous"
                else "use --exclude if it recurs on one host, or --backend gloo to test without the GPU network"
            )
        return PhaseFailure(name, ranks, hosts, what, advice)

    def _wait_for_outcome(self, phase, limit):
        outcome = self.wait_for_result(phase, limit)
        if outcome in (WELL, UNEXPLAINED):
            return outcome == WELL
        self.finish()
        failure = PhaseFailure.unpack(outcome)
        failure.is_reported = True
        raise PhaseError(failure)

    def conclude(self, phase, fault="", own=False):
        """True when all ranks ended the phase well; false where some saw faults and all still answer."""
        reported = fault.split("\n")[0]
        if own:
            self._write(phase, "own", "1", reported)
        self._write(phase, "failed" if reported else "done", reported or "1", reported)
        if self.env.rank != 0:
            return self._wait_for_outcome(phase, 2 * self.timeout + 2 * GRACE)
        self._wait_for_reports(phase, self.peer_timeout if reported else self.timeout + GRACE)
        failure = self._find_failure(phase)
        if failure:
            self.fail(phase, failure, GRACE)
        well = not self.reason
        self.publish_result(phase, WELL if well else UNEXPLAINED)
        return well

    def publish_result(self, matter, text):
        self.store.set("hpcml/%s/result" % matter, text)

    def wait_for_result(self, matter, limit):
        try:
            return self.store.get("hpcml/%s/result" % matter, limit)
        except Exception as error:
            place = "%s:%d" % (self.env.master_addr, self.env.master_port)
            what = "rank 0 at %s did not report the result of %s (%s)" % (place, public_phase(matter), error)
            raise PhaseError(PhaseFailure(public_phase(matter), [0], [self.first_host], what, CRASH))

    def fail(self, phase, failure, limit):
        """The end of a failed phase, on every rank: rank 0 says what was found, and all raise it."""
        if self.env.rank != 0 or failure is None:
            self._wait_for_outcome(phase, limit)
            raise RuntimeError("the preflight failed, but no rank reported a cause; check the logs of all ranks")
        self.publish_result(phase, failure.pack())
        self.finish()
        raise PhaseError(failure)

    def note(self, phase, text):
        self._write(phase, "note", text)

    def notes(self, phase):
        return [self.store.get(self._key(phase, "note", rank), self.timeout) for rank in range(self.env.world_size)]

    def collect(self, phase, limit, members=()):
        self._wait_for_all(lambda rank: (members and rank not in members) or self._has(phase, "note", rank), limit)
        return [
            self.store.get(self._key(phase, "note", rank), self.timeout) if self._has(phase, "note", rank) else None
            for rank in range(self.env.world_size)
        ]

    def finish(self):
        """The last call: rank 0 stays until the others need its store no more."""
        try:
            self.store.set(self._key("finish", "done", self.env.rank), "1")
            if self.env.rank == 0:
                self._wait_for_reports("finish", min(self.timeout, 2))
        except Exception:  # rank 0 has gone already; there is nothing left to say to it
            return

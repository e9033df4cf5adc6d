# SPDX-License-Identifier: MIT
# All phases as one rank, in JSON lines (src/torch/helper/preflight.cpp, helper_main.cpp).
import json
import os
import threading
import time

import torch
import torch.distributed as dist

from hpcml_probe import checks
from hpcml_probe.group import Communicator, has_nccl, resolve_backend
from hpcml_probe.json_line import line_of, write_line
from hpcml_probe.network import Listener, choose_interface, host_name, own_connections, wait_until_reachable
from hpcml_probe.rendezvous import PhaseError, PhaseBarrier
from hpcml_probe.search import search_faulty_rank

OK, PREFLIGHT_FAILED = 0, 6


def event(name, env, **members):
    write_line(dict({"event": name, "rank": env.rank, "host": host_name()}, **members))


class Watchdog:
    """A rank's own end: torch's time limits do not hold everywhere, and a preflight that hangs is worth nothing."""

    def __init__(self, env, limit):
        self.env, self.limit, self.phase = env, limit, "rendezvous"
        self.timer = threading.Timer(limit, self.end)
        self.timer.daemon = True
        self.timer.start()

    def end(self):
        what = "still waiting in %s after %d s; the library's own time limits did not end it" % (self.phase, self.limit)
        event("failed", self.env, phase="watchdog", what=what)
        os._exit(PREFLIGHT_FAILED)


def check_program_port(rendezvous, env, port, timeout):
    """MASTER_PORT is the program's: rank 0 can listen there, and all reach it."""
    place, listener = "%s:%d" % (env.master_addr, port), Listener()
    endpoint = "the rendezvous endpoint %s (MASTER_PORT)" % place
    rendezvous.enter("listen")
    reason = listener.open(port) if env.rank == 0 else ""
    if reason:
        reason = "%s cannot be used by rank 0: %s; another program on %s may use the port" % (endpoint, reason, host_name())
    rendezvous.conclude("listen", reason, True)
    rendezvous.enter("reach")
    if env.rank != 0:
        reason = wait_until_reachable(env.master_addr, port, time.monotonic() + timeout)
        if reason:
            reason = "%s cannot be reached from %s: %s" % (endpoint, host_name(), reason)
    rendezvous.conclude("reach", reason, True)
    listener.close()


class Phases:
    """What the phases share."""

    def __init__(self, env, options, watchdog):
        self.env, self.options, self.watchdog = env, options, watchdog
        self.start, self.size, self.group = time.monotonic(), options.bytes, None
        self.rendezvous = PhaseBarrier(env, options.timeout)

    def taken(self):
        return time.monotonic() - self.start

    def run(self, phase, work, works_alone=False):
        """Runs one phase on this rank and agrees with the others on its outcome."""
        self.watchdog.phase = phase
        self.rendezvous.enter(phase)
        fault, own, result = "", False, None
        try:
            result = work()
        except Exception as error:
            fault, own = str(error) or "unknown error", works_alone or isinstance(error, checks.OwnFault)
            # A rank that fails closes its connections, so that its peers fail now and not after their time limit.
            self.group = None
        if self.rendezvous.conclude(phase, fault, own):
            return result
        self.group = None
        self.watchdog.phase = "the search for the faulty rank in " + phase
        search_faulty_rank(self.rendezvous, self.env, self.options, phase, self.size)

    def set_up(self):
        gloo = resolve_backend(self.options.backend) == "gloo"
        if gloo:
            choose_interface(self.env, self.options.interface)
        else:
            self.rendezvous.peer_timeout = self.options.timeout + 4
        self.size = self.size or (4 if gloo else 64) << 20

    def connect(self):
        self.group = Communicator(self.rendezvous.store, self.env, self.options)

    def report(self, phase, measured):
        event(phase, self.env, ok=True, backend=self.group.backend, seconds=measured[0], gbps=measured[1], bytes=self.size)

    def send_and_note(self, reduced):
        sent = checks.check_send_receive(self.group, self.size)
        used = own_connections(self.env.master_port)
        note = {
            "rank": self.env.rank,
            "host": host_name(),
            "device": str(self.group.device),
            "interface": used[0]["interface"] if used else self.group.interface,
            "all_reduce_gbps": reduced[1],
            "send_recv_gbps": sent[1],
        }
        self.rendezvous.note("send_recv", line_of(note))
        return sent

    def summarize(self):
        ranks = [json.loads(note) for note in self.rendezvous.notes("send_recv")]
        group = self.group
        event("summary", self.env, ok=True, backend=group.backend, bytes=self.size, seconds=self.taken(), ranks=ranks)


def run_phases(env, options, watchdog):
    phases = Phases(env, options, watchdog)
    event("arrived", env, local_rank=env.local_rank, seconds=phases.taken())
    if options.program_port not in (0, env.master_port):
        watchdog.phase = "the check of the program's port"
        check_program_port(phases.rendezvous, env, options.program_port, options.timeout)
    if options.store_only:
        phases.rendezvous.finish()
        return
    # First alone: a rank whose interface is wrong would leave the others waiting for its address.
    phases.run("setup", phases.set_up, works_alone=True)
    phases.run("connect", phases.connect)
    group = phases.group
    event(
        "connected",
        env,
        backend=group.backend,
        interface=group.interface,
        device=str(group.device),
        connections=own_connections(env.master_port),
        seconds=phases.taken(),
    )
    del group  # a group that is still held is not closed when a phase fails
    reduced = phases.run("all_reduce", lambda: checks.check_all_reduce(phases.group, phases.size))
    phases.report("all_reduce", reduced)
    sent = phases.run("send_recv", lambda: phases.send_and_note(reduced))
    phases.report("send_recv", sent)
    if env.rank == 0:
        phases.summarize()
    phases.rendezvous.finish()


def run_preflight(options, env):
    if options.backend == "auto":
        options.backend = env.backend
    watchdog = Watchdog(env, options.deadline or 8 * options.timeout + 150)
    code = PREFLIGHT_FAILED
    try:
        run_phases(env, options, watchdog)
        code = OK
    except PhaseError as error:
        failure = error.failure
        # One voice for the job: rank 0's, or that of a rank that rank 0 cannot speak for.
        event(
            "cause" if env.rank == 0 or not failure.is_reported else "failed",
            env,
            phase=failure.phase,
            ranks=failure.ranks,
            hosts=failure.hosts,
            what=failure.what,
            hint=failure.next,
        )
    except Exception as error:
        event("failed", env, phase="rendezvous", what=str(error))
    watchdog.timer.cancel()
    return code


def run_info():
    version = torch.__version__.split("+")[0]
    nccl = ".".join(str(part) for part in torch.cuda.nccl.version()) if has_nccl() and torch.cuda.is_available() else ""
    write_line(
        {
            "event": "info",
            "torch": version,
            "torch_library": version,
            "gloo": hasattr(dist, "ProcessGroupGloo"),
            "nccl": has_nccl(),
            "nccl_version": nccl,
            "gpus": torch.cuda.device_count(),
            "auto_backend": resolve_backend("auto"),
        }
    )
    return OK

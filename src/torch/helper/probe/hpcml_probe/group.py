# SPDX-License-Identifier: MIT
# Store and process group of torch's releases (src/ddp/torch_compat.cpp), made as the helper makes them.
import datetime
import os
import time

import torch
import torch.distributed as dist

from hpcml_probe.network import choose_interface, host_name, wait_until_reachable

NO_SUCH_VALUE = b"hpcml: not set".decode()


def seconds(value):
    return datetime.timedelta(seconds=max(value, 0.001))


def first_line(error):
    """torch's messages carry a C++ back trace from the second line on; people need the first."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def has_nccl():
    return dist.is_nccl_available()


def resolve_backend(wanted):
    """ "nccl" or "gloo"; an error says why NCCL cannot be had."""
    gpus = torch.cuda.device_count() > 0
    if wanted == "auto":
        return "nccl" if has_nccl() and gpus else "gloo"
    if wanted == "nccl" and not has_nccl():
        raise RuntimeError("this torch has no NCCL; use a CUDA or ROCm torch, or --backend gloo")
    if wanted == "nccl" and not gpus:
        raise RuntimeError(
            "NCCL requires GPUs, but torch finds none on %s; check --gpus-per-node and CUDA_VISIBLE_DEVICES "
            "(ROCR_VISIBLE_DEVICES with AMD), or use --backend gloo" % host_name()
        )
    return wanted


class Store:
    """The store that the ranks meet at; rank 0 serves it. Every call returns or throws within its time limit."""

    def __init__(self, env, timeout):
        place = "%s:%d" % (env.master_addr, env.master_port)
        who = "rank %d (%s)" % (env.rank, host_name())
        if env.rank != 0:
            reason = wait_until_reachable(env.master_addr, env.master_port, time.monotonic() + timeout)
            if reason:
                raise RuntimeError(
                    "%s could not reach rank 0 at %s: %s; check that rank 0 runs, and MASTER_ADDR and MASTER_PORT of this "
                    "rank"
                    % (who, place, reason)
                )
        try:
            # Who is missing is for us to find out, with a deadline and by name; torch's own wait says neither.
            self.store = dist.TCPStore(
                env.master_addr, env.master_port, None, env.rank == 0, seconds(timeout), wait_for_workers=False
            )
        except Exception as error:
            did = "could not serve the rendezvous" if env.rank == 0 else "lost the connection to rank 0"
            raise RuntimeError("%s %s at %s: %s" % (who, did, place, first_line(error)))

    def set(self, key, value):
        self._ask("writing to the rendezvous store", lambda: self.store.set(key, value))

    def has(self, key):
        def ask():
            if hasattr(self.store, "check"):
                return self.store.check([key])
            # 1.x asks only so: a key that is not there is answered by the expected value, and nothing is set.
            return self.store.compare_set(key, NO_SUCH_VALUE, NO_SUCH_VALUE) != NO_SUCH_VALUE.encode()

        return self._ask("reading the rendezvous store", ask)

    def get(self, key, timeout):
        def ask():
            self.store.wait([key], seconds(timeout))
            return self.store.get(key).decode("utf-8", "replace")

        return self._ask("waiting for the rendezvous store", ask)

    @staticmethod
    def _ask(what, ask):
        try:
            return ask()
        except Exception as error:
            raise RuntimeError("%s: %s" % (what, first_line(error)))


class Communicator:
    """A connected set of ranks; all call the same operations in the same order."""

    def __init__(self, store, env, options, name="", rank=None, size=None):
        self.rank = env.rank if rank is None else rank
        self.size = env.world_size if size is None else size
        self.backend = resolve_backend(options.backend)
        self.interface = ""
        self.device = torch.device("cpu")
        base = dist.PrefixStore(name, store.store) if name else store.store
        base.set_timeout(seconds(options.timeout))
        if self.backend == "nccl":
            self.device = torch.device("cuda", env.local_rank % torch.cuda.device_count())
            torch.cuda.set_device(self.device)
            self._run("creating the NCCL group", lambda: self._make_nccl(base, options))
        else:
            self._run("connecting the ranks with Gloo", lambda: self._make_gloo(base, env, options))

    def _make_nccl(self, base, options):
        # Without blocking wait a missing peer aborts the whole process from another thread, and nobody is named.
        for name in ("NCCL_BLOCKING_WAIT", "TORCH_NCCL_BLOCKING_WAIT"):
            os.environ.setdefault(name, "1")
        settings = dist.ProcessGroupNCCL.Options()
        settings._timeout = seconds(options.timeout)
        self.group = dist.ProcessGroupNCCL(base, self.rank, self.size, settings)

    def _make_gloo(self, base, env, options):
        self.interface, address = choose_interface(env, options.interface)
        settings = dist.ProcessGroupGloo._Options()
        settings._timeout = seconds(options.timeout)
        # By address and not by name: an interface may have several addresses, and this one was chosen.
        settings._devices = [dist.ProcessGroupGloo.create_device(hostname=address)]
        settings._threads = 2
        self.group = dist.ProcessGroupGloo(base, self.rank, self.size, settings)

    def _run(self, what, start):
        try:
            work = start()
            if work is not None:
                work.wait()
                if self.device.type == "cuda":
                    torch.cuda.synchronize(self.device)
        except Exception as error:
            raise RuntimeError("%s: %s" % (what, first_line(error)))

    def all_reduce_sum(self, tensor):
        self._run("all_reduce", lambda: self.group.allreduce([tensor]))

    def send(self, tensor, to):
        self._run("send to rank %d" % to, lambda: self.group.send([tensor], to, 0))

    def receive(self, tensor, source):
        self._run("receive from rank %d" % source, lambda: self.group.recv([tensor], source, 0))

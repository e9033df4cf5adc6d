# SPDX-License-Identifier: MIT
# Which rank this process is (include/hpcml/rank_env.hpp).
import os
import re

MOST_RANKS = 1 << 24


class RankEnv:
    def __init__(self, variables=os.environ):
        faults = []

        def whole(name, required, low, high, default):
            text = variables.get(name, "")
            if not text:
                if required:
                    faults.append(name + " is not set")
                return default
            if not re.fullmatch(r"[+-]?[0-9]+", text) or not low <= int(text) <= high:
                faults.append("%s is '%s', not a whole number from %d to %d" % (name, text, low, high))
                return default
            return int(text)

        self.world_size = whole("WORLD_SIZE", True, 1, MOST_RANKS, 1)
        self.rank = whole("RANK", True, 0, MOST_RANKS, 0)
        self.local_rank = whole("LOCAL_RANK", False, 0, MOST_RANKS, self.rank)
        self.local_world_size = whole("LOCAL_WORLD_SIZE", False, 1, MOST_RANKS, self.world_size)
        self.node_rank = whole("NODE_RANK" if "NODE_RANK" in variables else "GROUP_RANK", False, 0, MOST_RANKS, 0)
        self.master_port = whole("MASTER_PORT", True, 1, 65535, 0)
        self.master_addr = variables.get("MASTER_ADDR", "")
        if not self.master_addr:
            faults.append("MASTER_ADDR is not set")
        if not faults and self.rank >= self.world_size:
            faults.append("RANK %d is not below WORLD_SIZE %d" % (self.rank, self.world_size))
        if not faults and self.local_rank >= self.local_world_size:
            faults.append("LOCAL_RANK %d is not below LOCAL_WORLD_SIZE %d" % (self.local_rank, self.local_world_size))
        self.backend = variables.get("HPCML_BACKEND", "") or "auto"
        if self.backend not in ("auto", "nccl", "gloo"):
            faults.append("HPCML_BACKEND is '%s', not auto, nccl or gloo" % self.backend)
        self.interface_hint = variables.get("GLOO_SOCKET_IFNAME", "")
        self.interface_is_prefix = False
        if not self.interface_hint:
            self.interface_hint = variables.get("NCCL_SOCKET_IFNAME", "")
            self.interface_is_prefix = bool(self.interface_hint)
        if faults:
            raise RuntimeError(
                "the rank environment is incomplete: %s. Start the program with `hpcml launch` or `torchrun`, "
                "which set these variables." % "; ".join(faults)
            )

// SPDX-License-Identifier: MIT
// A Python program that enters its default process group in the rendezvous store, without torch.
#pragma once

namespace hpcml::test {

/// Enters the default group as torch 2.13's Gloo does, as a world of 1 if the program has the
/// argument "alone", else as member RANK.
inline constexpr const char* k_enter_group = R"(
import os, socket, struct, sys, time
member = "0" if sys.argv[1:] == ["alone"] else os.environ["RANK"]
place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
key = b"/default_pg/0//cpu//0/" + member.encode()
with socket.create_connection(place) as store:
    store.sendall(struct.pack("<BI", 0, 0x3C85F7CE) + struct.pack("<BI", 13, os.getpid()))
    store.recv(4)
    store.sendall(struct.pack("<BQ", 1, len(key)) + key + struct.pack("<Q", 4) + b"here")
    store.sendall(struct.pack("<BQ5sq", 4, 5, b"init/", 1))
    store.recv(8)
)";

} // namespace hpcml::test

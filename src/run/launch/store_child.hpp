// SPDX-License-Identifier: MIT
// The rendezvous store in a separate process of a launcher.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/util/result.hpp"
#include "run/store/listen.hpp"
#include "run/store/rendezvous_service.hpp"
#include "run/store/session_gate.hpp"
#include "run/store/shared_store_activity.hpp"

namespace hpcml::launch {

/// Options of a store process.
struct StoreServiceRequest {
  store::RendezvousServiceOptions rules;
  store::SessionGateOptions gate;                 ///< which clients may use hpcml's messages
  std::vector<std::string> addresses;             ///< numeric; none: all of this node's
  std::vector<std::uint16_t> ports;               ///< the first that is free; 0: any
  store::SharedStoreActivity* activity = nullptr; ///< activity of the programs; null: not recorded
  bool stays_for_others = false; ///< the process continues while programs of other nodes are connected
};

/// Ignores all signals that can be ignored: those of the step or its terminal are for the ranks, which may
/// need the store to save.
void ignore_signals();

/// A running store process, a child of this one.
struct StoreChild {
  std::uint16_t port = 0;
  pid_t pid = -1;
  int part = -1; ///< an eventfd: after a write the child exits when no program of another node is connected
};

/// Starts a store as a child of this process, which exits with it. Returns when clients can connect.
util::Result<StoreChild> start_store_child(const StoreServiceRequest& order);

/// Listens, and starts a child that serves there, ignores signals and exits with this process. Of this
/// process's descriptors it keeps only `kept`.
util::Result<StoreChild> start_child_server(const std::vector<std::string>& addresses,
                                            const std::vector<std::uint16_t>& ports,
                                            const std::function<util::Status(store::ListeningSockets)>& serve,
                                            int kept = -1);

/// Starts a store that is not a child of this process, for the program that replaces it. The store runs
/// until the program has exited and the last client has disconnected, and closes this process's files when
/// every rank has connected. Slurm kills it with the step.
util::Result<std::uint16_t> leave_store(const StoreServiceRequest& order);

} // namespace hpcml::launch

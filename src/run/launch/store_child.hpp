// SPDX-License-Identifier: MIT
// A store served by a process of its own beside a launcher.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/util/result.hpp"
#include "run/store/activity.hpp"
#include "run/store/listen.hpp"
#include "run/store/rendezvous_service.hpp"
#include "run/store/session_gate.hpp"

namespace hpcml::launch {

/// What is served, and where.
struct StoreServiceRequest {
  store::RendezvousRules rules;
  store::SessionGateOptions gate;      ///< which clients may use hpcml's messages
  std::vector<std::string> addresses;  ///< numeric; none: all of this node's
  std::vector<std::uint16_t> ports;    ///< the first that is free; 0: any
  store::Activity* activity = nullptr; ///< of the programs, where somebody wants to know
  bool stays_for_others = false;       ///< a child that serves can be told to stay for other nodes' programs
};

/// This process heeds no signal but those that nobody can ignore. What is sent to the step or its terminal is
/// for the ranks: they may meet once more to save what they have.
void ignore_signals();

/// A store that a child of this process serves.
struct StoreChild {
  std::uint16_t port = 0;
  pid_t pid = -1;
  int part = -1; ///< an eventfd: once it is written to, the child ends when no other node's program is there
};

/// Serves as a child of this process, until it ends. Returns once clients can come.
util::Result<StoreChild> start_store_child(const StoreServiceRequest& order);

/// Listens and lets a child of this process serve there; it hears no signals, and ends with this process. Of
/// this process's descriptors it has `kept`.
util::Result<StoreChild> start_child_server(const std::vector<std::string>& addresses,
                                            const std::vector<std::uint16_t>& ports,
                                            const std::function<util::Status(store::Listening)>& serve,
                                            int kept = -1);

/// Serves as nobody's child, for the program that this process becomes: while that runs, and afterwards until
/// the last client has gone. It holds none of this process's files once every rank has come, so that nobody
/// waits for their end. Where the step ends on its node before, Slurm ends it, too.
util::Result<std::uint16_t> leave_store(const StoreServiceRequest& order);

} // namespace hpcml::launch

// SPDX-License-Identifier: MIT
#include "run/launch/store_messages.hpp"

namespace hpcml::launch {
namespace {

/// docs/development/measurements.md, "Which torch versions use the store", has the measurements.
bool at_least(const find_torch::TorchVersion& version, unsigned major, unsigned minor) {
  if (version.major != major) return version.major > major;
  if (version.minor != minor) return version.minor > minor;
  return !version.pre_release;
}

/// Rank 0's program serves: a variable that says that somebody else does would leave all ranks without.
StoreSelection leave_to_program(std::string reason, bool is_reported) {
  return {false, store::AgentStore::unset, std::move(reason), is_reported};
}

} // namespace

StoreSelection choose_store(StoreChoice choice, const find_torch::TorchFound& torch) {
  using Kind = find_torch::TorchFound::Kind;
  const auto name = "torch " + torch.text;
  if (choice == StoreChoice::env)
    return leave_to_program("rank 0's program serves the store (--store env)", false);
  if (torch.kind == Kind::none && choice == StoreChoice::automatic)
    return leave_to_program("no store is served: " + torch.why, false);
  // "1" is a word that torch's Python does not read and its C++ does: rank 0 tries to serve, finds the port
  // taken and becomes a client as the others are, and stores on other ports are served as ever.
  if (torch.kind == Kind::found && at_least(torch.version, 2, 7))
    return {true, store::AgentStore::allowed, name + " meets at the store that hpcml serves", false};
  if (choice == StoreChoice::automatic) {
    if (torch.kind == Kind::unknown)
      return leave_to_program("rank 0's program serves the store, because its torch is not known here: " +
                                  torch.why + " (--store own where it is 2.7 or later)",
                              true);
    return leave_to_program("rank 0's program serves the store: " + name +
                                " cannot meet at another's and serve its private groups",
                            false);
  }
  if (torch.kind == Kind::found && at_least(torch.version, 1, 9))
    return {true, store::AgentStore::always,
            name + " meets at the store that hpcml serves; with it a tcp:// group on another port, or a "
                   "TCPStore of the program's own, finds no server",
            true};
  if (torch.kind == Kind::found)
    return leave_to_program("rank 0's program serves the store: " + name + " knows no other", true);
  return {true, store::AgentStore::allowed, "the program is taken to have torch 2.7 or later (--store own)",
          true};
}

} // namespace hpcml::launch

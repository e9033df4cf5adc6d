// SPDX-License-Identifier: MIT
#include "run/resolve/store_selection.hpp"

#include <fmt/format.h>

namespace hpcml::launch {
namespace {

/// docs/development/measurements.md contains the measurements.
bool at_least(const find_torch::TorchVersion& version, unsigned major, unsigned minor) {
  if (version.major != major) return version.major > major;
  if (version.minor != minor) return version.minor > minor;
  return !version.pre_release;
}

/// Rank 0's program serves: a variable that says otherwise would leave all ranks without a store.
StoreSelection leave_to_program(std::string reason, bool is_reported) {
  return {false, store::AgentStoreUse::unset, std::move(reason), is_reported};
}

} // namespace

StoreSelection choose_store(StoreProvider choice, const find_torch::TorchLookupResult& torch) {
  using Kind = find_torch::TorchLookupResult::Kind;
  const auto name = "torch " + torch.text;
  if (choice == StoreProvider::env)
    return leave_to_program("rank 0's program provides the rendezvous store (--store env)", false);
  if (torch.kind == Kind::none && choice == StoreProvider::automatic)
    return leave_to_program(fmt::format("hpcml starts no rendezvous store: {}", torch.why), false);
  // "1" is a word that torch's Python does not read and its C++ does: rank 0 tries to serve, finds the port
  // taken and becomes a client as the others are, and stores on other ports are served as ever.
  if (torch.kind == Kind::found && at_least(torch.version, 2, 7))
    return {true, store::AgentStoreUse::allowed, fmt::format("{} uses the rendezvous store of hpcml", name),
            false};
  if (choice == StoreProvider::automatic) {
    if (torch.kind == Kind::unknown)
      return leave_to_program(
          fmt::format(
              "rank 0's program provides the rendezvous store, because the program's torch version is "
              "unknown: {}; with --store own hpcml provides it, and names ranks that do not connect",
              torch.why),
          false);
    return leave_to_program(
        fmt::format(
            "rank 0's program provides the rendezvous store: with {} a program that uses another store "
            "cannot open further ones",
            name),
        false);
  }
  if (torch.kind == Kind::found && at_least(torch.version, 1, 9))
    return {
        true, store::AgentStoreUse::always,
        fmt::format(
            "{} uses the rendezvous store of hpcml (--store own): other TCPStores and tcp:// groups of the "
            "program find no server",
            name),
        true};
  if (torch.kind == Kind::found)
    return leave_to_program(
        fmt::format("rank 0's program provides the rendezvous store: {} supports no other", name), true);
  return {true, store::AgentStoreUse::allowed,
          "assuming that the program has torch 2.7 or later (--store own)", true};
}

} // namespace hpcml::launch

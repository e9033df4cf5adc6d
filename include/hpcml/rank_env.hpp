// SPDX-License-Identifier: MIT
// Which rank this process is: the variables that `hpcml launch` (and torchrun) set, read once and checked.
//
// C++17, header-only, no dependency: training programs may include it without linking anything of hpcml.
#pragma once

#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hpcml {

/// The variables that differ from rank to rank; MASTER_ADDR and MASTER_PORT are the same for all.
inline constexpr std::array<const char*, 6> k_rank_variables = {
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "NODE_RANK", "GROUP_RANK"};

/// The place of this process among the ranks of a job, and their rendezvous endpoint.
struct RankEnv {
  int rank = 0;                 ///< RANK: 0 … world_size-1
  int world_size = 1;           ///< WORLD_SIZE
  int local_rank = 0;           ///< LOCAL_RANK: rank on this node
  int local_world_size = 1;     ///< LOCAL_WORLD_SIZE: ranks on this node
  int node_rank = 0;            ///< NODE_RANK (GROUP_RANK under torchrun); 0 if neither is set
  std::string master_addr;      ///< MASTER_ADDR: host name or address of rank 0
  int master_port = 0;          ///< MASTER_PORT: 1 … 65535
  std::string backend = "auto"; ///< HPCML_BACKEND: "auto", "nccl" or "gloo"
  int interop_threads = 0;      ///< HPCML_INTEROP_THREADS: for at::set_num_interop_threads; 0: leave it
  int dataloader_workers =
      -1;                     ///< HPCML_DATALOADER_WORKERS: processes or threads that load data; -1: not said
  std::string interface_hint; ///< GLOO_SOCKET_IFNAME, else NCCL_SOCKET_IFNAME, as set; empty: none
  bool interface_is_prefix = false; ///< the hint came from NCCL, whose names also match as prefixes
  /// TORCHELASTIC_USE_AGENT_STORE: what started the ranks serves the store at MASTER_PORT; else rank 0 does
  bool launcher_serves_store = false;

  /// Reads one variable; nothing if it is not set.
  using Lookup = std::function<std::optional<std::string>(const char*)>;

  /// Reads the environment of this process. Throws std::runtime_error that names every missing or wrong
  /// variable.
  static RankEnv from_environment() {
    return from([](const char* name) -> std::optional<std::string> {
      const char* value = std::getenv(name);
      return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    });
  }

  /// The same from any source of variables.
  static RankEnv from(const Lookup& lookup) {
    RankEnv env;
    std::vector<std::string> faults;
    const auto number = [&](const char* name, bool required, int low, int high, int& target) {
      const std::optional<std::string> text = lookup(name);
      if (!text || text->empty()) {
        if (required) faults.push_back(std::string(name) + " is not set");
        return;
      }
      char* end = nullptr;
      const long value = std::strtol(text->c_str(), &end, 10);
      if (*end != '\0' || text->front() == ' ' || value < low || value > high)
        faults.push_back(std::string(name) + " is '" + *text + "', not a whole number from " +
                         std::to_string(low) + " to " + std::to_string(high));
      else
        target = static_cast<int>(value);
    };
    constexpr int k_most_ranks = 1 << 24;
    number("WORLD_SIZE", true, 1, k_most_ranks, env.world_size);
    number("RANK", true, 0, k_most_ranks, env.rank);
    env.local_rank = env.rank;
    env.local_world_size = env.world_size;
    number("LOCAL_RANK", false, 0, k_most_ranks, env.local_rank);
    number("LOCAL_WORLD_SIZE", false, 1, k_most_ranks, env.local_world_size);
    number(lookup("NODE_RANK") ? "NODE_RANK" : "GROUP_RANK", false, 0, k_most_ranks, env.node_rank);
    number("MASTER_PORT", true, 1, 65535, env.master_port);
    number("HPCML_INTEROP_THREADS", false, 1, k_most_ranks, env.interop_threads);
    number("HPCML_DATALOADER_WORKERS", false, 0, k_most_ranks, env.dataloader_workers);
    env.master_addr = lookup("MASTER_ADDR").value_or("");
    if (env.master_addr.empty()) faults.push_back("MASTER_ADDR is not set");
    if (faults.empty() && env.rank >= env.world_size)
      faults.push_back("RANK " + std::to_string(env.rank) + " is not below WORLD_SIZE " +
                       std::to_string(env.world_size));
    if (faults.empty() && env.local_rank >= env.local_world_size)
      faults.push_back("LOCAL_RANK " + std::to_string(env.local_rank) + " is not below LOCAL_WORLD_SIZE " +
                       std::to_string(env.local_world_size));
    env.read_hints(lookup, faults);
    if (!faults.empty()) {
      std::string message = "the rank environment is incomplete: ";
      for (std::size_t i = 0; i < faults.size(); ++i) message += (i == 0 ? "" : "; ") + faults[i];
      throw std::runtime_error(
          message + ". Start the program with `hpcml launch` or `torchrun`, which set these variables.");
    }
    return env;
  }

private:
  void read_hints(const Lookup& lookup, std::vector<std::string>& faults) {
    const std::string wanted = lookup("HPCML_BACKEND").value_or("");
    if (!wanted.empty()) backend = wanted;
    if (backend != "auto" && backend != "nccl" && backend != "gloo")
      faults.push_back("HPCML_BACKEND is '" + backend + "', not auto, nccl or gloo");
    interface_hint = lookup("GLOO_SOCKET_IFNAME").value_or("");
    if (interface_hint.empty()) {
      interface_hint = lookup("NCCL_SOCKET_IFNAME").value_or("");
      interface_is_prefix = !interface_hint.empty();
    }
    // torchrun says "True", `hpcml launch` "1"; Python programs that set it themselves, str(False).
    const std::string serves = lookup("TORCHELASTIC_USE_AGENT_STORE").value_or("");
    launcher_serves_store = !serves.empty() && serves != "0" && serves != "False" && serves != "false";
  }
};

} // namespace hpcml

// SPDX-License-Identifier: MIT
// The preflight before a program starts: the helper program, its output and its result.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/launch/launch_context.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/resolve/rank_setup.hpp"

namespace hpcml::launch {

constexpr unsigned k_preflight_seconds = 120; ///< for the rendezvous and for each check

/// Returns the time after which a helper with `timeout_seconds` hangs: it exits by itself after eight times
/// that time plus 150 s.
constexpr std::chrono::seconds preflight_limit(unsigned timeout_seconds) {
  return std::chrono::seconds(9ULL * timeout_seconds + 180);
}

/// Returns the path of the helper of `program` (bin/../libexec/hpcml/hpcml-torch, or in the same directory;
/// hpcml-torch-aarch64 for hpcml-aarch64), if it exists.
std::optional<std::string> find_torch_helper(const std::string& program);

/// Returns the failure that one of the helper's events states, with its hint. Empty if there is none.
util::Error read_fault(const nlohmann::json& event);

/// Returns the failure of the last of the helper's JSON lines that states one.
util::Error preflight_result(const std::string& lines);

/// Returns the faulty hosts of an event. Phases before the network is used name none.
std::set<std::string> hosts_at_fault(const nlohmann::json& event);

/// Returns the faulty hosts of all events about a faulty rank.
std::vector<std::string> faulty_hosts(const std::string& lines);

/// Returns "2 ranks on 1 host connected, …" for the helper's summary.
std::string describe_summary(const nlohmann::json& summary);

/// Returns the helper's summary as a message. Empty if there is none (only rank 0 has one).
std::string preflight_success(const std::string& lines);

/// Runs the preflight with this rank's environment on a separate port, and checks the program's port.
/// Returns nothing if it passed, which rank 0 logs.
std::optional<LauncherFailure> run_preflight(const RankSetup& setup, const LaunchRequest& request,
                                             const RuntimeContext& context);

} // namespace hpcml::launch

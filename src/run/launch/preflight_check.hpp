// SPDX-License-Identifier: MIT
// The process-group check before a program starts: the helper program, its answer, its verdict.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/launch/failure.hpp"
#include "run/launch/rank_setup.hpp"

namespace hpcml::launch {

constexpr unsigned k_preflight_seconds = 120; ///< for the rendezvous and for each check

/// When a helper that was given `timeout_seconds` hangs: it ends by itself after eight times as long and
/// 150 s.
constexpr std::chrono::seconds preflight_limit(unsigned timeout_seconds) {
  return std::chrono::seconds(9ULL * timeout_seconds + 180);
}

/// Path of the helper beside `program` (bin/../libexec/hpcml/hpcml-torch, or in the same folder; for
/// hpcml-aarch64 it is hpcml-torch-aarch64); nothing if it is not there.
std::optional<std::string> find_torch_helper(const std::string& program);

/// What the helper's JSON lines say about a failure: "what" and "next" of the last culprit; an empty error if
/// they say nothing.
util::Error preflight_result(const std::string& lines);

/// The hosts that an event finds at fault, each once. A phase before the network was used blames none.
std::set<std::string> hosts_at_fault(const nlohmann::json& event);

/// Those of all events "culprit" in the helper's lines, which rank 0 says, or whoever it does not hear.
std::vector<std::string> faulty_hosts(const std::string& lines);

/// What the helper's summary says for people, in one line; empty if there is none (only rank 0 has one).
std::string preflight_success(const std::string& lines);

/// Runs the check with this rank's environment, on a port of its own, and proves the program's port, too;
/// nothing if all passed, which rank 0 says.
std::optional<Failure> run_preflight(const RankSetup& setup, const LaunchRequest& request,
                                     const RuntimeContext& context);

} // namespace hpcml::launch

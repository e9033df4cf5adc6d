// SPDX-License-Identifier: MIT
// A launch that is resolved and performed in memory.
#pragma once

#include <catch2/catch.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "run/launch/launch.hpp"
#include "run/launch/process_helper.hpp"
#include "run/launch/recorded_system.hpp"
#include "run/resolve/agreement.hpp"
#include "run/resolve/rank_report.hpp"
#include "run/resolve/recorded_node.hpp"
#include "run/resolve/resolve.hpp"

namespace hpcml::testing {

/// A node of 32 cores without GPUs.
inline launch::NodeView node_of_32_cores() {
  launch::NodeView node;
  for (unsigned cpu = 0; cpu < 32; ++cpu) node.cpus.core_threads.push_back(model::IdSet::of({cpu}));
  node.cpus.cores = 32;
  node.cpus.sockets = node.cpus.threads_per_core = 1;
  node.mask = model::IdSet::range(0, 31);
  node.limits.open_files = {1024, 4096};
  return node;
}

/// Ranks that follow these scripts (RecordedSystem::programs), started and supervised by one launch.
struct LaunchPlay {
  explicit LaunchPlay(std::vector<std::string> programs) {
    request.processes_per_node = static_cast<unsigned>(programs.size());
    request.bind = launch::BindMode::none;
    request.rank_settings.rendezvous_timeout = model::Sourced<unsigned>{0, {}}; // they are alone
    request.command = {"/bin/rank"};
    context.env.set("PATH", "/bin");
    context.host = context.machine = "here";
    context.system = &system;
    system.programs = std::move(programs);
  }
  LaunchPlay(const LaunchPlay&) = delete;
  LaunchPlay& operator=(const LaunchPlay&) = delete;

  /// Makes the launch a task of a step, which becomes its rank.
  void become_task(unsigned rank, unsigned ranks) {
    request.processes_per_node.reset();
    const auto env = step_environment(rank, ranks);
    for (const auto& [name, value] : env.variables()) context.env.set(name, value);
    context.env.set("PATH", "/bin");
  }
  /// Returns the exit code, as shells count; -1 if the launch became its program.
  int run() {
    auto decision = launch::resolve(request, context, node, queries);
    if (const auto* failed = std::get_if<launch::LaunchError>(&decision)) {
      error = failed->error;
      return k_cannot_set_up;
    }
    const auto& resolved = std::get<launch::ResolvedLaunch>(decision);
    return system.run([&] { return launch::perform(request, context, resolved); });
  }
  /// Returns what --dry-run prints; empty after an error.
  std::string dry_run() {
    const auto decision = launch::resolve(request, context, node, queries);
    if (const auto* failed = std::get_if<launch::LaunchError>(&decision)) {
      error = failed->error;
      return {};
    }
    return launch::render_dry_run(std::get<launch::ResolvedLaunch>(decision), request);
  }
  /// What the ranks and the launch wrote on standard error.
  const std::string& err() const { return system.err.text; }
  const std::string& out() const { return system.out.text; }

  RecordedSystem system;
  launch::LaunchRequest request;
  launch::RuntimeContext context;
  launch::NodeView node = node_of_32_cores();
  RecordedNode queries;
  util::Error error; ///< why nothing was performed
};

/// What `hpcml launch [FLAGS] -- COMMAND` prints and returns with this environment, in memory. `change` sets
/// what the flags set, `program` is what the command does.
inline util::ProcessOutput launch_in_memory(const util::EnvSnapshot& env, const std::string& program,
                                            const std::function<void(LaunchPlay&)>& change = {}) {
  LaunchPlay play({program});
  play.request.processes_per_node.reset();
  play.request.bind = launch::BindMode::automatic;
  play.context.env = launch::without_outer_rank(env);
  play.context.host = env.get_or("SLURMD_NODENAME", "here");
  if (change) change(play);
  util::ProcessOutput output;
  const int code = play.run();
  output.exit_code = code < 0 ? play.system.run_program() : code;
  output.out = play.out();
  output.err = play.err() + util::error_text(play.error);
  return output;
}

/// The same with --dry-run.
inline util::ProcessOutput dry_run_in_memory(const util::EnvSnapshot& env, std::vector<std::string> command,
                                             std::optional<unsigned> processes_per_node = {}) {
  util::ProcessOutput output;
  LaunchPlay play({""});
  play.request.processes_per_node = processes_per_node;
  play.request.bind = launch::BindMode::automatic;
  play.request.command = std::move(command);
  play.context.env = launch::without_outer_rank(env);
  output.out = play.dry_run();
  output.err = util::error_text(play.error);
  output.exit_code = output.err.empty() ? 0 : k_cannot_set_up;
  return output;
}

} // namespace hpcml::testing

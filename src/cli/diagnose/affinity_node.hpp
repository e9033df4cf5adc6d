// SPDX-License-Identifier: MIT
// Options of hpcml affinity, the node and the request that they mean, and the look at running ranks.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "core/topo/affinity.hpp"

namespace hpcml::cli {

/// The flags of affinity.
struct AffinityOptions {
  std::string source, site, partition, topology;
  unsigned ranks = 0, gpus_per_rank = 0, cpus_per_rank = 0, threads_per_core = 0,
           ranks_per_gpu = 0; // 0: not given
  std::string order = "gpu", domain, idle_cores = "none", allowed, reserved, gpus, policy = "hpcml",
              format = "table";
  bool whole = false, balanced = false, verify = false, all_sites = false;
};

/// Prints what is wrong and remembers the exit code.
class CommandErrorReporter {
public:
  CommandErrorReporter(const Context& context, int& exit_code) : x_context(context), x_exit_code(exit_code) {}
  void print(int code, const std::string& what, const std::string& hint = "") {
    print_error(what, hint, x_context.colour);
    x_exit_code = code;
  }
  void print(int code, const util::Error& error) { print(code, error.what, error.hint); }

private:
  const Context& x_context;
  int& x_exit_code;
};

/// A node, and what is known of the steps on it.
struct AffinityTargetNode {
  topo::Node node;
  std::string
      sharing_reason; ///< why a step may not have all of its CPUs; empty: it has them, or that is unknown
};

/// Returns the node of the topology file, of the site, or this one, which a site completes if its placement
/// is verified or "live" is requested. Prints the error and returns nothing on failure.
std::optional<AffinityTargetNode> read_affinity_node(const AffinityOptions& options, const Context& context,
                                                     CommandErrorReporter& failure, int& exit_code);

/// Whether the policy is known and the other flags mean something to it; else says why not.
bool check_policy(const AffinityOptions& options, CommandErrorReporter& failure);

/// What the planner is asked for; leaves the node the visible GPUs and adds reserved CPUs to the node. On
/// failure says why and returns nothing.
std::optional<topo::AffinityRequest> read_affinity_request(const AffinityOptions& options, topo::Node& node,
                                                           CommandErrorReporter& failure);

/// Checks the CPUs and memory of the ranks that run on this node; if they are wrong for a rank, compares them
/// with the plan for its GPUs.
void run_verify(const AffinityOptions& options, topo::Node& node, const Context& context,
                CommandErrorReporter& failure, int& exit_code);

/// Prints a Markdown table for each node type whose profile has the places of its GPUs, one rank per GPU.
void print_site_tables(const Context& context);

} // namespace hpcml::cli

// SPDX-License-Identifier: MIT
// Everything that was learned of a cluster by asking it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/slurm/accounts.hpp"
#include "core/slurm/cluster_records.hpp"
#include "core/slurm/commands.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::discover {

/// A question without an answer.
struct UnansweredQuery {
  std::string what; ///< "sacctmgr", "module avail"
  std::string why;
  std::string sentence() const; ///< "sacctmgr: this Slurm keeps no accounts"
};

/// The answers of the cluster; an empty one was not asked for or not given.
struct ClusterFacts {
  slurm::ConfigRecord config;
  std::vector<slurm::PartitionRecord> partitions;
  std::vector<slurm::NodeRecord> nodes;
  std::optional<slurm::Accounts> accounts; ///< of the user who asks
  std::map<std::string, slurm::QosRecord> qos;
  std::vector<std::string> modules;  ///< "name/version", the default version of each if the tool marks it
  std::vector<std::string> programs; ///< container engines in PATH
  std::string gpu_tool;              ///< "nvidia-smi" or "rocm-smi" where exactly one of them works here
  std::vector<UnansweredQuery> unanswered;
  std::vector<slurm::Answer> answers; ///< all that were asked, for a record
};

/// Who asks, and how this machine's modules are listed.
struct ClusterQueryOptions {
  std::string user;
  std::vector<std::string> module_command; ///< prints the available modules; empty: there is none
};

/// From $USER and what the module system leaves in the environment (LMOD_CMD, MODULES_CMD, an exported
/// function).
ClusterQueryOptions make_inquirer(const util::EnvSnapshot& env);

/// Asks for partitions, nodes and configuration, which must exist, and for accounts, QoS, modules and GPU
/// tools, which may be missing.
util::Result<ClusterFacts> run_questions(const slurm::Commands& commands,
                                         const ClusterQueryOptions& inquirer);

/// Names of modules from the terse output of Lmod and Environment Modules: directories and headings are
/// omitted. Pure.
std::vector<std::string> read_modules(std::string_view text);

} // namespace hpcml::discover

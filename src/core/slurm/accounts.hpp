// SPDX-License-Identifier: MIT
// What sacctmgr says of a user's accounts and of QoS limits.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/walltime.hpp"
#include "core/slurm/cluster_records.hpp"
#include "core/slurm/commands.hpp"

namespace hpcml::slurm {

/// Asks for what read_accounts reads, on this cluster where one database serves several. Not asked where this
/// Slurm keeps no accounts, or where `user` is not a plain name: sacctmgr would take a list for several
/// users, and a beginning like an option's for one.
Answer ask_accounts(const Commands& commands, const ConfigRecord& config, const std::string& user);
/// The command whose output read_qos_records reads.
std::vector<std::string> qos_command();

/// What a user may charge jobs to.
struct Accounts {
  struct Association {
    std::string account;
    std::string partition; ///< empty: all
    std::vector<std::string> qos;
  };
  std::string default_account; ///< empty: Slurm requires one to be named
  std::vector<Association> associations;
  /// The accounts' names, each once, in order; without Slurm's own, "root", where there are others.
  std::vector<std::string> names() const;
};
/// What sacctmgr said to ask_accounts.
Accounts read_accounts(std::string_view text);

/// Limits of a QoS.
struct QosRecord {
  std::string name;
  std::optional<model::Walltime> max_wall;
  std::optional<unsigned> max_nodes_per_job; ///< "node=" of MaxTRES
  std::optional<unsigned> min_gpus_per_job;  ///< "gres/gpu=" of MinTRES
};
/// What sacctmgr said to qos_command, by the QoS' names.
std::map<std::string, QosRecord> read_qos_records(std::string_view text);

} // namespace hpcml::slurm

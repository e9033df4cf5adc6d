// SPDX-License-Identifier: MIT
// Accounts and QoS of an emulated cluster, as a slurmdbd with its own database requires them: pure text, no
// daemon needed.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "emulate/cluster_layout.hpp"

namespace hpcml::emulate {

/// slurmdbd's port, on the login node's own network.
inline constexpr unsigned k_accounting_port = 6819;

/// The QoS of jobs that nothing gives another one; every slurmdbd has it.
inline constexpr const char* k_usual_qos = "normal";

/// The socket through which slurmdbd reaches its database; nothing else does.
std::string database_socket(const std::string& state_dir);
/// The database's words, for a directory `accounting` below the state directory; slurmdbd is its only user.
std::vector<std::string> make_database_command(const std::string& mariadbd, const std::string& state_dir);

/// slurmdbd.conf; it requires its user by name.
std::string make_slurmdbd_conf(const ClusterLayout& layout, const std::string& state_dir,
                               const std::string& user);
/// The lines of slurm.conf that have jobs recorded, and accounts, QoS and their limits enforced.
std::string make_accounting_lines(const ClusterLayout& layout, bool enforced);
/// " DenyQos=…" where QoS of the profile are for other partitions only, else nothing.
std::string deny_qos(const model::Site& site, const model::Partition& partition);

/// Returns the command lines for sacctmgr, one list of words each: the profile's QoS with their limits, the
/// accounts, and the user in all of them (the first is the default). Without accounts, which are then not
/// enforced, only the QoS.
std::vector<std::vector<std::string>> make_accounting_entries(const model::Site& site,
                                                              const std::vector<std::string>& accounts,
                                                              const std::string& user);

} // namespace hpcml::emulate

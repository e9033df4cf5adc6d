// SPDX-License-Identifier: MIT
#include "emulate/accounting.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::emulate {

namespace {

/// "MaxTRESPerJob=node=2,gres/gpu=8"; empty where neither is known.
std::string tres_limit(const std::string& key, const model::Known<unsigned>& nodes,
                       const model::Known<unsigned>& gpus) {
  std::vector<std::string> parts;
  if (nodes) parts.push_back("node=" + std::to_string(nodes->value));
  if (gpus) parts.push_back("gres/gpu=" + std::to_string(gpus->value));
  return parts.empty() ? std::string() : key + "=" + util::join(parts, ",");
}

/// What a QoS of the profile limits, as sacctmgr writes it.
std::vector<std::string> limits_of(const model::Qos& qos) {
  // Over a limit is refused at once and not queued for ever; a limit of the QoS holds instead of the
  // partition's.
  std::string flags = "Flags=DenyOnLimit";
  std::vector<std::string> words;
  if (qos.max_time) {
    words.push_back("MaxWall=" + std::to_string(qos.max_time->value.seconds().count() / 60));
    flags += ",PartitionTimeLimit";
  }
  if (qos.max_nodes) flags += ",PartitionMaxNodes";
  for (auto& word : {tres_limit("MaxTRESPerJob", qos.max_nodes, qos.max_gpus),
                     tres_limit("MinTRESPerJob", qos.min_nodes, qos.min_gpus)})
    if (!word.empty()) words.push_back(word);
  if (qos.max_jobs) words.push_back("MaxJobsPerUser=" + std::to_string(qos.max_jobs->value));
  if (qos.max_submitted) words.push_back("MaxSubmitJobsPerUser=" + std::to_string(qos.max_submitted->value));
  words.push_back(flags);
  return words;
}

/// Whether Slurm gives the QoS to jobs that name none, wherever they go.
bool is_usual(const model::Site& site, const model::Qos& qos) {
  if (!qos.is_default || qos.partitions.empty()) return qos.is_default;
  const auto* usual = site.default_partition([](const auto&) { return true; });
  return usual && !usual->nameable &&
         std::find(qos.partitions.begin(), qos.partitions.end(), usual->name) != qos.partitions.end();
}

} // namespace

std::string database_socket(const std::string& state_dir) { return state_dir + "/accounting/socket"; }

std::vector<std::string> make_database_command(const std::string& mariadbd, const std::string& state_dir) {
  const std::string directory = state_dir + "/accounting";
  // No other process reaches the socket, and nothing has to survive: no passwords, no care for power cuts,
  // little memory.
  return {mariadbd,
          "--no-defaults",
          "--user=root",
          "--datadir=" + directory + "/data",
          "--tmpdir=" +
              directory, // its temporary tables are named by process number, the same in each sandbox
          "--socket=" + database_socket(state_dir),
          "--pid-file=" + directory + "/pid",
          "--skip-networking",
          "--skip-grant-tables",
          "--innodb-buffer-pool-size=32M",
          "--innodb-log-file-size=4M",
          "--innodb-flush-log-at-trx-commit=0",
          "--innodb-flush-method=fsync",
          "--innodb-doublewrite=0",
          "--innodb-use-native-aio=0"};
}

std::string make_slurmdbd_conf(const ClusterLayout& layout, const std::string& state_dir,
                               const std::string& user) {
  std::string text;
  const auto line = [&](const std::string& key, const std::string& value) {
    text += key + "=" + value + "\n";
  };
  line("AuthType", "auth/none");
  line("DbdHost", layout.login_name);
  line("DbdAddr", layout.login_address);
  line("DbdPort", std::to_string(k_accounting_port));
  line("SlurmUser", user);
  line("StorageType", "accounting_storage/mysql");
  line("StorageHost", "localhost");
  line("StorageUser", "root");
  line("StorageLoc", "slurm");
  line("LogFile", state_dir + "/log/slurmdbd.log");
  line("PidFile", state_dir + "/slurmdbd.pid");
  return text;
}

std::string make_accounting_lines(const ClusterLayout& layout, bool enforced) {
  return "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=" + layout.login_address +
         "\nAccountingStoragePort=" + std::to_string(k_accounting_port) +
         "\nAccountingStorageTRES=gres/gpu\n" +
         (enforced ? "AccountingStorageEnforce=associations,limits,qos\n" : "");
}

std::string deny_qos(const model::Site& site, const model::Partition& partition) {
  std::vector<std::string> names;
  for (const auto& qos : site.qos)
    if (const auto& places = qos.partitions;
        !places.empty() && std::find(places.begin(), places.end(), partition.name) == places.end())
      names.push_back(qos.name);
  return names.empty() ? std::string() : " DenyQos=" + util::join(names, ",");
}

std::vector<std::vector<std::string>> make_accounting_entries(const model::Site& site,
                                                              const std::vector<std::string>& accounts,
                                                              const std::string& user) {
  std::vector<std::vector<std::string>> entries;
  std::vector<std::string> names = {k_usual_qos};
  std::string usual;
  for (const auto& qos : site.qos) {
    const bool exists = qos.name == k_usual_qos;
    auto entry = exists ? std::vector<std::string>{"modify", "qos", "where", "name=" + qos.name, "set"}
                        : std::vector<std::string>{"add", "qos", "name=" + qos.name};
    for (auto& word : limits_of(qos)) entry.push_back(std::move(word));
    entries.push_back(std::move(entry));
    if (!exists) names.push_back(qos.name);
    if (usual.empty() && is_usual(site, qos)) usual = qos.name;
  }
  if (accounts.empty()) return entries;
  entries.push_back(
      {"modify", "cluster", "where", "name=" + site.id, "set", "qos=" + util::join(names, ",")});
  if (!usual.empty()) entries.back().push_back("defaultqos=" + usual);
  entries.push_back({"add", "account", "name=" + util::join(accounts, ","), "cluster=" + site.id});
  entries.push_back({"add", "user", "name=" + user, "account=" + util::join(accounts, ","),
                     "defaultaccount=" + accounts.front(), "cluster=" + site.id});
  return entries;
}

} // namespace hpcml::emulate

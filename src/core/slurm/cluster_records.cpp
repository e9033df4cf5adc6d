// SPDX-License-Identifier: MIT
#include "core/slurm/cluster_records.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::slurm {

namespace {

/// Splits at commas outside parentheses: "gpu:a100:2(S:0,1),nvme:1".
std::vector<std::string> split_outside(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// "4", "1K", "2M".
std::optional<unsigned long long> parse_units(std::string text) {
  if (text.empty()) return std::nullopt;
  unsigned long long unit = 1;
  const auto at = std::string_view("KMGT").find(text.back());
  if (at != std::string_view::npos) {
    unit = 1ULL << (10 * (at + 1));
    text.pop_back();
  }
  const auto number = util::parse_unsigned(text);
  if (!number) return std::nullopt;
  return *number * unit;
}

/// Names between commas; "ALL" and no value are an empty list.
std::vector<std::string> names(const Record& record, std::string_view key) {
  const auto text = record.get(key);
  if (!text || util::to_lower(*text) == "all" || util::to_lower(*text) == "none") return {};
  auto list = util::split(*text, ',');
  std::erase(list, "");
  return list;
}

std::optional<model::Walltime> time(const Record& record, std::string_view key) {
  const auto text = record.get(key);
  if (!text || *text == "UNLIMITED" || *text == "INFINITE") return std::nullopt;
  const auto parsed = model::Walltime::parse(*text);
  return parsed ? std::optional(*parsed) : std::nullopt;
}

std::optional<unsigned> small_number(const Record& record, std::string_view key) {
  const auto number = record.number(key);
  if (!number || *number > 0xfffffff0ULL) return std::nullopt;
  return static_cast<unsigned>(*number);
}

/// "DefCpuPerGPU=16,DefMemPerGPU=250000"
void read_job_defaults(const std::string& text, PartitionRecord& partition) {
  for (const auto& part : util::split(text, ',')) {
    const auto equals = part.find('=');
    const auto number =
        equals == std::string::npos ? std::nullopt : util::parse_unsigned(part.substr(equals + 1));
    if (!number || *number == 0) continue;
    if (part.substr(0, equals) == "DefCpuPerGPU") partition.def_cpus_per_gpu = static_cast<unsigned>(*number);
    if (part.substr(0, equals) == "DefMemPerGPU") partition.def_mem_per_gpu_mib = *number;
  }
}

PartitionRecord to_partition(const Record& record) {
  PartitionRecord partition;
  partition.name = record.get("PartitionName").value_or("");
  partition.nodes = record.get("Nodes").value_or("");
  partition.is_default = record.flag("Default");
  partition.whole_nodes = record.get("OverSubscribe").value_or("").starts_with("EXCLUSIVE") ||
                          record.get("Exclusive").value_or("") == "NODE";
  partition.up = record.get("State").value_or("UP") == "UP";
  partition.root_only = record.flag("RootOnly");
  partition.max_time = time(record, "MaxTime");
  partition.default_time = time(record, "DefaultTime");
  partition.max_nodes = small_number(record, "MaxNodes");
  partition.min_nodes = small_number(record, "MinNodes").value_or(0);
  partition.max_cpus_per_node = small_number(record, "MaxCPUsPerNode");
  read_job_defaults(record.get("JobDefaults").value_or(""), partition);
  partition.qos = record.get("QoS").value_or("");
  partition.allow_accounts = names(record, "AllowAccounts");
  partition.deny_accounts = names(record, "DenyAccounts");
  partition.allow_qos = names(record, "AllowQos");
  partition.deny_qos = names(record, "DenyQos");
  return partition;
}

NodeRecord to_node(const Record& record) {
  NodeRecord node;
  node.name = record.get("NodeName").value_or("");
  node.arch = record.get("Arch").value_or("");
  node.sockets = std::max(1U, small_number(record, "Sockets").value_or(1));
  node.cores_per_socket = std::max(1U, small_number(record, "CoresPerSocket").value_or(1));
  node.threads_per_core = std::max(1U, small_number(record, "ThreadsPerCore").value_or(1));
  node.cpus = small_number(record, "CPUTot").value_or(0);
  node.memory_mib = record.number("RealMemory").value_or(0);
  node.system_memory_mib = record.number("MemSpecLimit").value_or(0);
  node.reserved_cores = small_number(record, "CoreSpecCount").value_or(0);
  node.reserved_cpus = record.get("CPUSpecList").value_or("");
  node.features = names(record, "AvailableFeatures");
  node.gres = read_gres_records(record.get("Gres").value_or(""));
  node.partitions = names(record, "Partitions");
  node.state = record.get("State").value_or("");
  return node;
}

util::Error nothing_found(std::string_view what, std::string_view text) {
  const auto start = std::string(util::trim(text.substr(0, 80)));
  return {
      fmt::format("scontrol showed no {}{}", what,
                  start.empty() ? "" : fmt::format("; it printed \"{}\"", util::split(start, '\n').front())),
      fmt::format("run the command yourself to check: scontrol show {} -o", what)};
}

} // namespace

std::vector<GresRecord> read_gres_records(std::string_view text) {
  std::vector<GresRecord> list;
  if (text == "(null)") return list;
  for (const auto& entry : split_outside(util::trim(text))) {
    auto words = util::split(entry.substr(0, entry.find('(')), ':');
    std::erase(words, "no_consume");
    if (words.front() == "gres" && words.size() > 1) words.erase(words.begin());
    if (words.front().empty()) continue;
    GresRecord gres{words.front(), {}, 1};
    const auto count = words.size() > 1 ? parse_units(words.back()) : std::nullopt;
    if (count) {
      gres.count = *count;
      words.pop_back();
    }
    words.erase(words.begin());
    gres.type = util::join(words, ":");
    list.push_back(std::move(gres));
  }
  return list;
}

util::Result<std::vector<PartitionRecord>> parse_partitions(std::string_view text) {
  std::vector<PartitionRecord> list;
  for (const auto& record : read_records(text, "PartitionName")) list.push_back(to_partition(record));
  if (list.empty()) return nothing_found("partition", text);
  return list;
}

util::Result<std::vector<NodeRecord>> parse_nodes(std::string_view text) {
  std::vector<NodeRecord> list;
  for (const auto& record : read_records(text, "NodeName")) list.push_back(to_node(record));
  if (list.empty()) return nothing_found("node", text);
  return list;
}

std::vector<std::string> sinfo_nodes_command() {
  return {"sinfo", "-h", "-N", "-o", "%N|%R|%X|%Y|%Z|%c|%m|%G|%f"};
}

util::Result<std::vector<NodeRecord>> parse_sinfo_nodes(std::string_view text) {
  std::vector<NodeRecord> list; // one line per node and partition
  for (auto row : read_rows(text)) {
    row.resize(9);
    const auto sockets = util::parse_unsigned(row[2]), cores = util::parse_unsigned(row[3]),
               threads = util::parse_unsigned(row[4]);
    if (row[0].empty() || !sockets || !cores || !threads || *sockets * *cores * *threads == 0 ||
        *sockets * *cores * *threads > 65536)
      continue;
    const auto known =
        std::find_if(list.begin(), list.end(), [&](const NodeRecord& node) { return node.name == row[0]; });
    if (known != list.end()) {
      known->partitions.push_back(row[1]);
      continue;
    }
    Record record;
    record.add("AvailableFeatures", row[8]);
    NodeRecord node;
    node.name = row[0];
    node.partitions = {row[1]};
    node.sockets = static_cast<unsigned>(*sockets);
    node.cores_per_socket = static_cast<unsigned>(*cores);
    node.threads_per_core = static_cast<unsigned>(*threads);
    node.cpus = static_cast<unsigned>(util::parse_unsigned(row[5]).value_or(0));
    node.memory_mib = util::parse_unsigned(row[6]).value_or(0);
    node.gres = read_gres_records(row[7]);
    node.features = names(record, "AvailableFeatures");
    list.push_back(std::move(node));
  }
  if (list.empty()) return nothing_found("node", text);
  return list;
}

util::Result<ConfigRecord> parse_cluster_config(std::string_view text) {
  const auto record = read_config(text);
  ConfigRecord config;
  config.cluster = record.get("ClusterName").value_or("");
  config.version = record.get("SLURM_VERSION").value_or("");
  if (config.cluster.empty() && config.version.empty()) return nothing_found("config", text);
  config.has_accounting = record.get("AccountingStorageType").value_or("") == "accounting_storage/slurmdbd";
  config.enforced = names(record, "AccountingStorageEnforce");
  config.submit_plugins = names(record, "JobSubmitPlugins");
  return config;
}

} // namespace hpcml::slurm

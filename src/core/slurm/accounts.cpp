// SPDX-License-Identifier: MIT
#include "core/slurm/accounts.hpp"

#include <algorithm>

#include "core/slurm/records.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

namespace {

std::vector<std::string> list_of(const std::string& text) {
  auto list = util::split(text, ',');
  std::erase(list, "");
  return list;
}

/// The count of one resource in "cpu=4,node=2,gres/gpu=8".
std::optional<unsigned> count_of(const std::string& tres, std::string_view name) {
  for (const auto& part : list_of(tres)) {
    const auto equals = part.find('=');
    if (equals == std::string::npos || part.substr(0, equals) != name) continue;
    if (const auto number = util::parse_unsigned(part.substr(equals + 1)); number && *number < 0xffffffffULL)
      return static_cast<unsigned>(*number);
  }
  return std::nullopt;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), [](char c) {
    return util::is_name_char(c) || c == '-' || c == '.' || c == '@';
  });
}

} // namespace

Answer ask_accounts(const Commands& commands, const ConfigRecord& config, const std::string& user) {
  std::vector<std::string> words = {"sacctmgr", "-nP", "show", "user", "withassoc", "name=" + user};
  if (!config.has_accounting)
    return {words, false, {}, "this Slurm keeps no accounts (AccountingStorageType)"};
  if (!is_plain_name(user)) return {words, false, {}, "the user is not known: USER is not set"};
  if (is_plain_name(config.cluster)) words.push_back("cluster=" + config.cluster);
  words.emplace_back("format=defaultaccount,account,partition,qos");
  return commands.ask(words);
}

std::vector<std::string> qos_command() {
  return {"sacctmgr", "-nP", "show", "qos", "format=name,maxwall,maxtres,mintres"};
}

std::vector<std::string> Accounts::names() const {
  std::vector<std::string> list;
  for (const auto& association : associations) util::add_once(list, association.account);
  // slurmdbd's own account of the user "root" is not used by users who have another.
  if (list.size() > 1) std::erase(list, "root");
  return list;
}

Accounts read_accounts(std::string_view text) {
  Accounts accounts;
  for (auto row : read_rows(text)) {
    row.resize(4);
    if (!row[0].empty()) accounts.default_account = row[0];
    if (!row[1].empty()) accounts.associations.push_back({row[1], row[2], list_of(row[3])});
  }
  return accounts;
}

std::map<std::string, QosRecord> read_qos_records(std::string_view text) {
  std::map<std::string, QosRecord> all;
  for (auto row : read_rows(text)) {
    row.resize(4);
    if (row[0].empty()) continue;
    QosRecord qos;
    qos.name = row[0];
    if (const auto wall = model::Walltime::parse(row[1]); !row[1].empty() && wall) qos.max_wall = *wall;
    qos.max_nodes_per_job = count_of(row[2], "node");
    qos.min_gpus_per_job = count_of(row[3], "gres/gpu");
    all[qos.name] = std::move(qos);
  }
  return all;
}

} // namespace hpcml::slurm

// SPDX-License-Identifier: MIT
#include "emulate/slurm_policy.hpp"

#include <map>

#include <fmt/format.h>

#include "emulate/stand_in_files.hpp"

namespace hpcml::emulate {

namespace {

/// Slurm's name for each other name of GPUs and their parts.
std::string names_table(const model::Site& site) {
  std::map<std::string, std::string> names;
  for (const auto& type : site.node_types) {
    if (!type.gpu) continue;
    for (const auto& alias : type.gpu->aliases)
      if (!type.gpu->slurm_type.empty()) names.emplace(alias, type.gpu->slurm_type);
    for (const auto& slice : type.gpu->slices)
      for (const auto& alias : slice.aliases) names.emplace(alias, slice.name);
  }
  for (const auto& type : site.node_types)
    if (type.gpu) names.erase(type.gpu->slurm_type);
  std::string table = "{";
  for (const auto& [alias, name] : names) table += "[" + lua_quote(alias) + "]=" + lua_quote(name) + ", ";
  return table + "}";
}

} // namespace

std::string lua_quote(std::string_view text) {
  static constexpr char k_digits[] = "0123456789";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 127 && c != '"' && c != '\\') {
      quoted += c;
      continue;
    }
    quoted += '\\';
    quoted += k_digits[byte / 100];
    quoted += k_digits[byte / 10 % 10];
    quoted += k_digits[byte % 10];
  }
  return quoted + "\"";
}

std::string make_cli_filter(const model::Site& site) {
  return "local names = " + names_table(site) + "\n" + std::string(stand_in_text("cli_filter.lua"));
}

std::string make_job_policy(const std::string& evaluate_command, const std::string& directory) {
  return fmt::format("local evaluate_command = {}\nlocal directory = {}\n{}", lua_quote(evaluate_command),
                     lua_quote(directory), stand_in_text("job_submit.lua"));
}

} // namespace hpcml::emulate

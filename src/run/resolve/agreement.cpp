// SPDX-License-Identifier: MIT
#include "run/resolve/agreement.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/host_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

using util::Error;

namespace {

constexpr const char* k_step_variable = "HPCML_STEP";      ///< job, step and restart of the launch that set
constexpr const char* k_names_variable = "HPCML_STEP_SET"; ///< the variables NAME:VALUE'S_HASH,…

bool means_first_node(const NodeQueries& queries, const std::string& address, const World& world,
                      bool is_first) {
  // Every node's own means rank 0's only where there is no other.
  if (util::is_loopback_address(address)) return world.layout.node_count() == 1;
  return queries.may_be_host(address, world.first_node, is_first);
}

std::string step_mark(const util::EnvSnapshot& env) {
  return env.get_or("SLURM_JOB_ID", "") + "." + env.get_or("SLURM_STEP_ID", "") + "." +
         env.get_or("SLURM_RESTART_COUNT", "");
}

std::string hash_of(const std::string& value) { return std::to_string(util::fnv1a(value) % 100000000); }

} // namespace

util::Status agree_with_environment(const ProcessContext& environment, const NodeQueries& queries,
                                    World& world, bool starts) {
  std::vector<std::string> conflicts;
  for (const auto& [name, value] : rank_variables(world)) {
    if (name == "MASTER_ADDR" || name == "MASTER_PORT") continue;
    // A hook of the container sees only the task and its number, but each rank needs its own.
    if (starts && name != "NODE_RANK" && name != "GROUP_RANK") continue;
    const auto existing = environment.env.get_or(name, "");
    if (!existing.empty() && existing != value)
      conflicts.push_back(fmt::format("{}={} (expected {})", name, existing, value));
  }
  const auto address = environment.env.get_or("MASTER_ADDR", "");
  if (!address.empty() && address != world.address) {
    if (means_first_node(queries, address, world, (starts ? world.layout.node_rank : world.layout.rank) == 0))
      world.address = address;
    else
      conflicts.push_back(fmt::format("MASTER_ADDR={} (expected {})", address, world.address));
  }
  if (conflicts.empty()) return util::Success{};
  return Error{
      fmt::format("the environment already has other values for this rank than srun or hpcml launch sets: {}",
                  util::join(conflicts, ", ")),
      "remove what sets these variables: an export in the script, a container hook or another launcher"};
}

util::EnvSnapshot without_outer_rank(util::EnvSnapshot env) {
  const auto mark = env.get(k_step_variable);
  if (!mark || *mark == step_mark(env)) return env;
  for (const auto& word : util::split(env.get_or(k_names_variable, ""), ',')) {
    const auto colon = word.rfind(':');
    const auto name = word.substr(0, colon);
    const auto value = env.get(name);
    if (value && colon != std::string::npos && hash_of(*value) == word.substr(colon + 1)) env.unset(name);
  }
  env.unset(k_step_variable);
  env.unset(k_names_variable);
  return env;
}

void export_rank_marker(const std::vector<std::pair<std::string, std::string>>& set, util::EnvSnapshot& env) {
  std::vector<std::string> words;
  for (const auto& [name, value] : set) words.push_back(name + ":" + hash_of(value));
  env.set(k_step_variable, step_mark(env));
  env.set(k_names_variable, util::join(words, ","));
}

} // namespace hpcml::launch

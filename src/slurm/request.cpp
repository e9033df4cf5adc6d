// SPDX-License-Identifier: MIT
#include "slurm/request.hpp"

#include <algorithm>

#include "slurm/option_values.hpp"
#include "slurm/options.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {

std::string Request::text(std::string_view option) const {
  const auto found = given.find(option);
  return found == given.end() ? std::string() : found->second.value.value_or("");
}

long Request::count(std::string_view option, long otherwise) const {
  const auto found = counts.find(option);
  return found == counts.end() ? otherwise : found->second;
}

std::uint64_t Request::gpus(std::string_view option) const {
  const auto found = gres.find(option);
  return found == gres.end() ? 0 : gpu_count(found->second);
}

std::uint64_t Request::gpus_per_node() const {
  const auto by_gres = gpus("gres");
  return by_gres > 0 ? by_gres : gpus("gpus-per-node");
}

bool Request::has_task_count() const {
  return has("ntasks") || (nodes && nodes->min == nodes->max) || (nodes && count("ntasks-per-node") > 0) || has("nodelist") || has("extra-node-info");
}

Place Request::place(std::string_view option) const {
  const auto found = given.find(option);
  return found == given.end() ? Place{} : found->second.place;
}

namespace {

bool is_memory(std::string_view option) {
  return option == "mem" || option == "mem-per-cpu" || option == "mem-per-gpu";
}

/// Of memory asked in several ways, script and command line put the environment's aside.
bool gives_way(const Setting& setting, const std::vector<Setting>& all) {
  if (setting.source != Source::environment || !is_memory(setting.option)) return false;
  return std::any_of(all.begin(), all.end(), [&](const Setting& other) {
    return other.source != Source::environment && is_memory(other.option) && other.option != setting.option;
  });
}

/// Up to 22.05 the last of these two wins, and they are refused together later.
void apply_sharing(Request& request, const Setting& setting) {
  if (setting.option == "oversubscribe") request.sharing = Sharing::oversubscribe;
  if (setting.option != "exclusive") return;
  const std::string how = util::to_lower(setting.value.value_or(""));
  request.sharing = how == "user"   ? Sharing::exclusive_user
                    : how == "mcs"  ? Sharing::exclusive_mcs
                    : how == "topo" ? Sharing::exclusive_topo
                                    : Sharing::exclusive;
}

/// The page that says what such a value may be.
std::string code_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::time: return "slurm/time";
    case ValueKind::memory: return "slurm/memory";
    case ValueKind::array: return "slurm/array";
    case ValueKind::gres:
    case ValueKind::gpus:
    case ValueKind::gpus_per_task:
    case ValueKind::tres_per_task: return "slurm/gres";
    default: return "slurm/value";
  }
}

} // namespace

Request make_request(const std::vector<Setting>& settings, Version version, Findings& findings) {
  Request request;
  for (const auto& setting : settings) {
    if (gives_way(setting, settings)) continue;
    if (const auto problem = read_value(setting, version, request)) {
      std::string where;
      if (setting.source == Source::environment) where = " (from the environment)";
      if (setting.source == Source::command_line) where = " (from the command line)";
      findings.error(setting.place, code_of(value_kind_of(setting.option)),
                     "--" + setting.option + " cannot be '" + setting.value.value_or("") + "'" + where, *problem);
      continue;
    }
    apply_sharing(request, setting);
    if (setting.option == "requeue") request.requeue = true;
    if (setting.option == "no-requeue") request.requeue = false;
    if (setting.option == "overcommit") request.overcommit = true;
    request.given.insert_or_assign(setting.option, setting);
  }
  check_combinations(request, version, findings);
  return request;
}

} // namespace hpcml::slurm

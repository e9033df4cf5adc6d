// SPDX-License-Identifier: MIT
#include "core/site_rules/plugin_options.hpp"

#include <algorithm>

#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

/// Whether the profile names the option.
bool is_site_option(const model::Site& site, std::string_view name) {
  const auto is_it = [&](std::string_view option) {
    return option.starts_with("--") && option.substr(2, option.find_first_of("= ") - 2) == name;
  };
  if (site.flags.count(std::string(name)) > 0) return true;
  if (std::any_of(site.common_options.begin(), site.common_options.end(),
                  [&](const auto& rule) { return is_it(rule.value); }))
    return true;
  for (const auto& rule : site.containers) {
    if (is_it(rule.bind_option) || std::any_of(rule.options.begin(), rule.options.end(), is_it)) return true;
    if (rule.engine == engine_of_option(name)) return true; // a profile need not use it itself
  }
  return std::any_of(site.node_types.begin(), site.node_types.end(),
                     [&](const auto& node) { return is_it(node.local_disk_option); });
}

/// Whether some version of sbatch or srun has the option, or it looks like a typo for one.
bool is_near_option(std::string_view name) {
  using slurm::Program;
  return slurm::is_option(Program::sbatch, name) || slurm::find_option(Program::srun, name).option ||
         util::nearest(name, slurm::option_names(Program::sbatch));
}

} // namespace

std::optional<model::ContainerEngine> engine_of_option(std::string_view name) {
  const auto* engine = model::find_engine_option(name);
  return engine ? engine->engine : std::nullopt;
}

PluginOptionStatus plugin_option(const model::Site* site, std::string_view name) {
  if (site && is_site_option(*site, name)) return PluginOptionStatus::brought;
  const bool possible =
      engine_of_option(name) || (!is_near_option(name) && name.find(':') == std::string_view::npos);
  return possible ? PluginOptionStatus::possible : PluginOptionStatus::none;
}

} // namespace hpcml::site_rules

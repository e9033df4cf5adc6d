// SPDX-License-Identifier: MIT
#include "check/site_options.hpp"

#include <algorithm>

#include "slurm/options.hpp"
#include "util/text.hpp"

namespace hpcml::check {
std::optional<model::ContainerEngine> engine_of_option(std::string_view name) {
  if (util::starts_with(name, "container-")) return model::ContainerEngine::pyxis;
  if (name == "image" || name == "module" || name == "volume") return model::ContainerEngine::shifter;
  if (name == "uenv" || name == "view") return model::ContainerEngine::uenv;
  if (name == "environment") return model::ContainerEngine::edf;
  return std::nullopt;
}

bool is_site_option(const model::Site& site, std::string_view name) {
  const auto is_it = [&](std::string_view option) {
    return option.substr(0, 2) == "--" && option.substr(2, option.find_first_of("= ") - 2) == name;
  };
  if (site.flags.count(std::string(name)) > 0) return true;
  if (std::any_of(site.always.begin(), site.always.end(),
                  [&](const auto& rule) { return is_it(rule.value); }))
    return true;
  for (const auto& rule : site.containers) {
    if (is_it(rule.bind_option) || std::any_of(rule.options.begin(), rule.options.end(), is_it)) return true;
    if (rule.engine == engine_of_option(name)) return true; // a profile need not use it itself
  }
  return std::any_of(site.node_types.begin(), site.node_types.end(),
                     [&](const auto& node) { return is_it(node.local_disk_option); });
}

diag::Place plugin_word(const slurm::ScriptHeader& header, const std::string& name) {
  const std::string word = "--" + name;
  for (const auto& directive : header.directives)
    for (const auto& one : directive.words)
      if (one.text == word || one.text.substr(0, word.size() + 1) == word + "=") return one.place;
  return {};
}

void add_plugin_options(const model::Site& site, const slurm::ScriptHeader& header, site::Demand& demand) {
  for (const auto& [name, any] : site.flags)
    if (!slurm::is_option(slurm::Program::sbatch, name) && plugin_word(header, name).length > 0)
      demand.options.emplace(name, "");
}

} // namespace hpcml::check

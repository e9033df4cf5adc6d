// SPDX-License-Identifier: MIT
#include "check/site_options.hpp"

#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
diag::TextRange plugin_word(const slurm::ScriptHeader& header, const std::string& name) {
  const std::string word = "--" + name;
  for (const auto& directive : header.directives)
    for (const auto& plugin : directive.words)
      if (plugin.text == word || plugin.text.substr(0, word.size() + 1) == word + "=") return plugin.place;
  return {};
}

void add_plugin_options(const model::Site& site, const slurm::ScriptHeader& header,
                        site_rules::ResourceRequest& demand) {
  for (const auto& [name, any] : site.flags)
    if (!slurm::is_option(slurm::Program::sbatch, name) && plugin_word(header, name).length > 0)
      demand.options.emplace(name, "");
}

} // namespace hpcml::check

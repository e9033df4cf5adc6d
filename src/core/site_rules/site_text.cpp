// SPDX-License-Identifier: MIT
#include "core/site_rules/site_text.hpp"

#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::site_rules {

std::vector<std::string> engine_names(const model::Site& site) {
  std::vector<std::string> names;
  for (const auto& rule : site.containers) util::add_once(names, model::word_of(rule.engine));
  return names;
}

std::vector<std::string> partition_names(const model::Site& site) {
  std::vector<std::string> names;
  for (const auto& partition : site.partitions)
    if (partition.nameable) names.push_back(partition.name);
  return names;
}

std::string show_command(const model::Site& site) { return fmt::format("hpcml sites show {}", site.id); }

std::string describe_no_scheduler(const model::Site& site) {
  return fmt::format("{} has no Slurm to submit jobs to", site.name.empty() ? site.id : site.name);
}

std::string describe_conflict(const model::ConflictRule& rule, const std::vector<std::string>& settings,
                              const model::Site& site) {
  const auto names = util::join(settings, " and ");
  return settings.size() > 1 ? fmt::format("{} must not be combined on {}: {}", names, site.name, rule.why)
                             : fmt::format("{} does harm on {}: {}", names, site.name, rule.why);
}

util::Error describe_retirement(const model::Site& site) {
  return {fmt::format("{} is retired{}", site.name.empty() ? site.id : site.name,
                      site.retired_on.empty() ? "" : fmt::format(" since {}", site.retired_on)),
          site.successor.empty()
              ? ""
              : fmt::format("use its successor {}, or run hpcml sites list for others", site.successor)};
}

} // namespace hpcml::site_rules

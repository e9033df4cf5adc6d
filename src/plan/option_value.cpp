// SPDX-License-Identifier: MIT
#include "plan/option_value.hpp"

#include "slurm/value_fault.hpp"

namespace hpcml::plan {

std::optional<util::Error> find_value_fault(const model::Site& site, const std::string& option,
                                            const std::string& value) {
  const auto version = site.slurm_version ? slurm::parse_version(site.slurm_version->value) : std::nullopt;
  const auto fault = slurm::find_value_fault(option, value, version);
  if (!fault) return std::nullopt;
  return util::Error{"--" + option + "=" + value + " is nothing that Slurm" +
                         (version ? " " + site.slurm_version->value : "") + " reads",
                     *fault};
}

} // namespace hpcml::plan

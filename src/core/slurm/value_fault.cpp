// SPDX-License-Identifier: MIT
#include "core/slurm/value_fault.hpp"

#include "core/slurm/option_values.hpp"

namespace hpcml::slurm {

std::optional<std::string> find_value_fault(std::string_view option, const std::string& value,
                                            std::optional<Version> version) {
  const OptionSetting setting{std::string(option), value, {}, OptionSource::script};
  if (version) {
    JobOptions request;
    return read_value(setting, *version, request);
  }
  // Not known: only what no version takes is a fault. What some refuse, check says of the script.
  for (auto own = k_oldest_version;;) {
    JobOptions request;
    VersionSpan alike; // what one version reads holds for these, which need not be asked again
    auto fault = read_value(setting, ComparisonTrackingVersion(own, &alike), request);
    if (!fault || alike.last == k_newest_version) return fault;
    own = static_cast<Version>(static_cast<int>(alike.last) + 1);
  }
}

} // namespace hpcml::slurm

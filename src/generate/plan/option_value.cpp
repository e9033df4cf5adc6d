// SPDX-License-Identifier: MIT
#include "generate/plan/option_value.hpp"

#include <fmt/format.h>
#include <map>

#include "core/slurm/job_request.hpp"
#include "core/slurm/value_fault.hpp"

namespace hpcml::plan {

std::optional<util::Error> find_value_fault(const model::Site& site, const std::string& option,
                                            const std::string& value) {
  const auto version = site.slurm_version ? slurm::parse_version(site.slurm_version->value) : std::nullopt;
  const auto fault = slurm::find_value_fault(option, value, version);
  if (!fault) return std::nullopt;
  return util::Error{fmt::format("--{}={} is not a value that Slurm{} accepts", option, value,
                                 version ? " " + site.slurm_version->value : ""),
                     *fault};
}

void refuse_combinations(PlanStepDiagnostics& diagnostics, const model::Site& site,
                         const std::vector<model::PlannedDirective>& directives) {
  std::vector<slurm::OptionSetting> settings;
  for (const auto& directive : directives) settings.push_back({directive.name.substr(2), directive.value});
  const auto runs = site.slurm_version ? slurm::parse_version(site.slurm_version->value) : std::nullopt;
  std::map<std::string, util::Error> faults;
  for (int number = 0; number < static_cast<int>(slurm::k_version_names.size()); ++number) {
    const auto version = static_cast<slurm::Version>(number);
    if (runs && version != *runs) continue;
    slurm::LocatedFindings values("", ""),
        findings("", ""); // those of single values are reported where they are read
    slurm::check_combinations(slurm::make_request(settings, version, values), version, findings);
    for (const auto& finding : findings.list())
      if (finding.severity == diag::Severity::error)
        faults.emplace(finding.code, util::Error{finding.message, finding.hint});
  }
  for (const auto& [code, fault] : faults) diagnostics.error("usage/sbatch", fault.what, fault.hint);
}

} // namespace hpcml::plan

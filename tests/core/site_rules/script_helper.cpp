// SPDX-License-Identifier: MIT
#include "core/site_rules/script_helper.hpp"

#include <catch2/catch.hpp>

#include "core/slurm/option_settings.hpp"
#include "core/slurm/script_header.hpp"

namespace hpcml::test {

site_rules::ResourceRequest script_demand(const std::string& options) {
  const auto text = "#!/bin/bash\n#SBATCH " + options + "\n";
  slurm::LocatedFindings findings("", text);
  const auto header = slurm::read_header(text, slurm::k_newest_version, findings);
  const auto settings = slurm::read_settings(header, {}, slurm::k_newest_version, findings);
  const auto request = slurm::make_request(settings.at(0), slurm::k_newest_version, findings);
  REQUIRE(findings.list().empty());
  return site_rules::demand_of(request, slurm::size_job(request, slurm::k_newest_version, 0));
}

} // namespace hpcml::test

// SPDX-License-Identifier: MIT
#include "site/script_helper.hpp"

#include <catch2/catch.hpp>

#include "slurm/script_header.hpp"
#include "slurm/settings.hpp"
#include "spec/site_store.hpp"

namespace hpcml::test {

model::Site shipped_site(const std::string& id) {
  auto load = spec::load_site(id, {});
  REQUIRE(load.site);
  return std::move(*load.site);
}

site::Demand script_demand(const std::string& options) {
  const auto text = "#!/bin/bash\n#SBATCH " + options + "\n";
  slurm::PlacedFindings findings("", text);
  const auto header = slurm::read_header(text, slurm::k_newest_version, findings);
  const auto settings = slurm::read_settings(header, {}, slurm::k_newest_version, findings);
  const auto request = slurm::make_request(settings.at(0), slurm::k_newest_version, findings);
  REQUIRE(findings.list().empty());
  return site::demand_of(request, slurm::size_job(request, slurm::k_newest_version, 0));
}

} // namespace hpcml::test

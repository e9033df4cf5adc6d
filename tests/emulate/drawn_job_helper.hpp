// SPDX-License-Identifier: MIT
// Jobs of a site by seed: with and without a partition, within the site's limits and above them.
#pragma once

#include <random>
#include <string>

#include "core/model/site.hpp"
#include "emulate/submitted_job.hpp"

namespace hpcml::test {

/// A job as a script and as Slurm passes it to the filter.
struct DrawnJob {
  std::string script = "#!/bin/bash\n";
  emulate::SubmittedFields fields = {};

  void add(const std::string& option, const std::string& value, const std::string& field,
           const std::string& in_field);
};

/// `named`: the job names one of the site's partitions.
DrawnJob draw_job(std::mt19937& random, const model::Site& site, bool named);

} // namespace hpcml::test

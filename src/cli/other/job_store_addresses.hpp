// SPDX-License-Identifier: MIT
// Where the stores of a job may be: from what a user names, the job's variables and Slurm.
#pragma once

#include <string>
#include <vector>

#include "core/slurm/commands.hpp"
#include "core/slurm/step_env.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/store/store_search.hpp"

namespace hpcml::cli {

struct JobStoreAddresses {
  slurm::StepIdentity job; ///< zeros outside of Slurm
  std::vector<store::StoreAddress> places;
};

/// `named`: a job's number, ADDRESS:PORT, or nothing: then HPCML_STORE_ADDR, MASTER_ADDR and MASTER_PORT, or
/// the job that this process belongs to.
util::Result<JobStoreAddresses> find_store_places(const std::string& named, const util::EnvSnapshot& env,
                                                  const slurm::Commands& commands);

} // namespace hpcml::cli

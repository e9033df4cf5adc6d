// SPDX-License-Identifier: MIT
// The key by which the launchers and stores of a step trust each other.
#pragma once

#include <optional>
#include <string>

#include "core/slurm/step_env.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/store/channel_key.hpp"

namespace hpcml::launch {

/// A key, and who has it.
struct JobChannel {
  std::optional<store::SecretKey> key = {};
  /// True if every rank of the step has the key. False: it was drawn here, for this process and its children;
  /// nothing that other ranks send may be applied, and they apply nothing of what this one sends.
  bool is_shared = false;
  /// True if any process that connects is given the key: agents that have none, which are as open as torch's.
  bool is_open = false;
  std::string origin = {}; ///< for users: "HPCML_JOB_SECRET"; without a shared key: why there is none
};

/// Finds the key of a job: HPCML_JOB_SECRET, else the user's key file. `starts_all_ranks`: all ranks are
/// children of this process, so a key that is drawn here is shared. The error is about a key that exists and
/// is invalid.
util::Result<JobChannel> find_job_channel(const util::EnvSnapshot& env, const slurm::StepIdentity& identity,
                                          bool starts_all_ranks);

/// Returns what a launch reports of its key: "key from HPCML_JOB_SECRET", "no key (why)".
std::string describe_channel(const JobChannel& channel);

/// Returns the value of HPCML_JOB_SECRET for the steps of this job: one that follows from the user's key
/// file, else a random one. One that is set already may be another job's, from which this one was submitted.
util::Result<std::string> make_job_secret(const util::EnvSnapshot& env);

} // namespace hpcml::launch

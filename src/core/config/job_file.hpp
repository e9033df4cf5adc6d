// SPDX-License-Identifier: MIT
// hpcml.json: the request flags as a file, for one job or several.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/job_spec.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::config {

/// One of several jobs in a file.
struct NamedJobSpec {
  std::string name;
  model::JobSpec job;             ///< its own values; those of the file are in addition, in JobLoad::job
  std::vector<std::string> after; ///< names of the jobs that it waits for
  std::string after_if = "ok";    ///< how they must end: "ok" or "any"
  unsigned chain = 1;             ///< how many times it is submitted, each waiting for the one before
  std::string chain_if = "any";
};

/// A request as a file or the variables give it, and what is wrong with it.
struct JobLoad {
  std::optional<model::JobSpec> job;
  std::optional<std::string> site; ///< "site" key
  std::optional<unsigned> chain;   ///< of a file with one job
  std::optional<std::string> chain_if;
  std::vector<NamedJobSpec>
      jobs; ///< "jobs" key, each after those that it waits for; empty where there is one job
  diag::Diagnostics diagnostics;
  std::string source;
};
/// Keys are the flags' names without dashes in front ("gpus-per-node"), "command" is an array of words.
JobLoad load_job_file(const std::string& path);
/// The job file that is read without --job.
inline constexpr const char* k_default_job_file = "hpcml.json";
/// True if the working directory has one, or a link of its name.
bool has_default_job_file();
/// Reads it. It must belong to the caller or to root: in a shared directory another user may have put it
/// there.
JobLoad load_default_job_file();
/// The same keys from HPCML_* variables: HPCML_ACCOUNT, HPCML_PARTITION, … (and HPCML_SITE).
JobLoad job_from_environment(const util::EnvSnapshot& env);
/// Values of `over` where it has them, else those of `under`. Lists are appended: `under` first.
model::JobSpec merge_jobs(const model::JobSpec& under, const model::JobSpec& over);
/// The request of each component of a heterogeneous job: the job's own under the component's. A job without
/// components is its only one.
std::vector<model::JobSpec> component_jobs(const model::JobSpec& job);

} // namespace hpcml::config

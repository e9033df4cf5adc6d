// SPDX-License-Identifier: MIT
#include "core/slurm/run_id.hpp"

namespace hpcml::slurm {

std::string job_name(const util::EnvSnapshot& env) {
  auto job = env.get_or("SLURM_JOB_ID", "");
  const auto task = env.get_or("SLURM_ARRAY_TASK_ID", "");
  return job.empty() || task.empty() ? job : env.get_or("SLURM_ARRAY_JOB_ID", job) + "_" + task;
}

std::string make_run_id(const util::EnvSnapshot& env, const std::string& first_job) {
  // A job that another job's script has submitted inherits the variables of that script.
  const auto job = env.get_or("SLURM_JOB_ID", "");
  const bool is_inherited = env.get_or("HPCML_BATCH", job) != job;
  if (auto id = env.get_or(k_run_id_variable, ""); !id.empty() && !is_inherited) return id;
  if (first_job.empty()) return {};
  const auto cluster = env.get_or("SLURM_CLUSTER_NAME", "");
  return cluster.empty() ? first_job : cluster + "-" + first_job;
}

} // namespace hpcml::slurm

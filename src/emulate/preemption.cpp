// SPDX-License-Identifier: MIT
#include "emulate/preemption.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "emulate/cluster_start.hpp"
#include "util/file.hpp"
#include "util/process.hpp"
#include "util/text.hpp"

namespace hpcml::emulate {

namespace {

// job_submit.lua lets its jobs pass: the site has no such partition.
constexpr const char* k_first_partition = "hpcml-preempt";

/// Whether a fault of these preempts jobs, and how.
const ClusterFault* find_preemption(const std::vector<ClusterFault>& faults) {
  const auto found = std::find_if(faults.begin(), faults.end(),
                                  [](const auto& fault) { return fault.kind == FaultKind::preempt; });
  return found == faults.end() ? nullptr : &*found;
}

std::string slurm_program(const ClusterRun& run, const std::string& name) {
  return (std::filesystem::path(run.slurm.sinfo).parent_path() / name).string();
}

/// Runs a program of Slurm's as the user whose the jobs are; what it printed.
util::Result<std::string> run_as_user(Sandbox& sandbox, const std::vector<std::string>& words) {
  const auto log = sandbox.state_dir() + "/log/preempting.out";
  TRY_DONE(util::write_file(log, ""));
  TRY(const auto pid, sandbox.start_service(words, daemon_environment(sandbox.state_dir()), log));
  while (sandbox.is_alive(pid)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  TRY(const auto text, util::read_file(log));
  return std::string(util::trim(text));
}

} // namespace

std::string make_preemption_lines(const std::vector<ClusterFault>& faults) {
  const auto* fault = find_preemption(faults);
  if (fault == nullptr) return {};
  const bool suspends = fault->way == PreemptWay::suspend;
  const std::string mode = preempt_words(fault->way).slurm;
  return "PreemptType=preempt/partition_prio\nPreemptMode=" + mode + "\nPartitionName=" + k_first_partition +
         " Nodes=ALL PriorityTier=1000 PreemptMode=OFF MaxTime=UNLIMITED Hidden=YES" +
         (suspends ? " OverSubscribe=FORCE:1" : "") + " State=UP\n";
}

bool suspends_jobs(const std::vector<ClusterFault>& faults) {
  const auto* fault = find_preemption(faults);
  return fault != nullptr && fault->way == PreemptWay::suspend;
}

util::Result<std::string> submit_preempting_job(Sandbox& sandbox, const ClusterRun& run) {
  TRY(const auto answer,
      run_as_user(sandbox, {slurm_program(run, "sbatch"), "--parsable", "--chdir=/", "--output=/dev/null",
                            std::string("--job-name=") + k_first_partition,
                            std::string("--partition=") + k_first_partition,
                            "--nodes=" + std::to_string(run.layout.nodes.size()), "--exclusive", "--mem=1",
                            "--time=7-0", "--no-requeue", "--wrap=sleep infinity"}));
  if (util::parse_unsigned(answer)) return answer;
  return util::Error{"sbatch did not take the job that is to preempt the others: " + answer, {}};
}

util::Status end_preempting_job(const ClusterRun& run, Sandbox& sandbox, const std::string& job) {
  const auto state = util::run_process({slurm_program(run, "squeue"), "-h", "-j", job, "-o", "%T"},
                                       daemon_environment(sandbox.state_dir()), std::chrono::seconds(60));
  TRY(const auto said, run_as_user(sandbox, {slurm_program(run, "scancel"), job}));
  if (state && util::trim(state->out) == "RUNNING") return util::Done{};
  return util::Error{"Slurm has not started the job that was to preempt the others; its state was " +
                         (state ? std::string(util::trim(state->out)) : std::string("unknown")) +
                         (said.empty() ? "" : ", " + said),
                     "run again with --keep-logs DIR: slurmctld.log says why; let the fault last longer"};
}

} // namespace hpcml::emulate

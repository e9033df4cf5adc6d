// SPDX-License-Identifier: MIT
#include "emulate/preemption.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "emulate/accounting.hpp"
#include "emulate/cluster_start.hpp"

namespace hpcml::emulate {

namespace {

// The partition, and the QoS, of the job that takes the others' nodes; the site has neither. job_submit.lua
// lets the partition's jobs pass.
constexpr const char* k_first = "hpcml-preempt";

/// Whether a fault of these preempts jobs, and how.
const ClusterFault* find_preemption(const std::vector<ClusterFault>& faults) {
  const auto found = std::find_if(faults.begin(), faults.end(),
                                  [](const auto& fault) { return fault.kind == FaultKind::preempt; });
  return found == faults.end() ? nullptr : &*found;
}

std::string slurm_program(const ClusterRunOptions& run, const std::string& name) {
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

std::string why_not_hint(const ClusterRunOptions& run) {
  if (!needs_accounting(run.faults))
    return "use a later end of the fault, or --keep-logs DIR and read slurmctld.log for the cause";
  return fmt::format(
      "use a later end of the fault, or --keep-logs DIR and read slurmctld.log for the cause; only jobs "
      "with QoS {} are preempted",
      util::join(list_preempted_qos(*run.site), ", "));
}

} // namespace

std::string make_preemption_lines(const std::vector<ClusterFault>& faults) {
  const auto* fault = find_preemption(faults);
  if (fault == nullptr) return {};
  const bool suspends = fault->mode == PreemptionMode::suspend;
  const std::string mode = preemption_mode_names(fault->mode).slurm;
  // The tier makes its job the first of those that wait as well, so that no other takes what becomes free.
  return std::string("PreemptType=") + (fault->by_qos ? "preempt/qos" : "preempt/partition_prio") +
         "\nPreemptMode=" + mode + "\nPartitionName=" + k_first + " Nodes=ALL PriorityTier=1000" +
         (fault->by_qos ? "" : " PreemptMode=OFF") + " MaxTime=UNLIMITED Hidden=YES" +
         (suspends ? " OverSubscribe=FORCE:1" : "") + " State=UP\n";
}

std::string make_partition_grace(const std::vector<ClusterFault>& faults) {
  const auto* fault = find_preemption(faults);
  if (fault == nullptr || fault->by_qos || fault->grace.count() == 0) return {};
  return " GraceTime=" + std::to_string(fault->grace.count());
}

std::vector<std::string> list_preempted_qos(const model::Site& site) {
  std::vector<std::string> preemptible, all = {k_usual_qos};
  for (const auto& qos : site.qos) {
    if (qos.preemptible) preemptible.push_back(qos.name);
    if (qos.name != k_usual_qos) all.push_back(qos.name);
  }
  return preemptible.empty() ? all : preemptible;
}

std::vector<std::vector<std::string>>
make_preemption_entries(const model::Site& site, const std::vector<ClusterFault>& faults, bool enforced) {
  std::vector<std::vector<std::string>> entries;
  const auto* fault = find_preemption(faults);
  if (fault == nullptr || !fault->by_qos) return entries;
  const auto preempted = util::join(list_preempted_qos(site), ",");
  if (fault->grace.count() > 0)
    entries.push_back({"modify", "qos", "where", "name=" + preempted, "set",
                       "gracetime=" + std::to_string(fault->grace.count())});
  entries.push_back({"add", "qos", std::string("name=") + k_first, "preempt=" + preempted});
  if (enforced)
    entries.push_back(
        {"modify", "cluster", "where", "name=" + site.id, "set", std::string("qos+=") + k_first});
  return entries;
}

std::string describe_preemption(const model::Site& site, const ClusterFault& fault) {
  const auto when = fault.grace.count() > 0 ? fmt::format(" {} after SIGTERM", describe_seconds(fault.grace))
                                            : std::string();
  if (fault.by_qos)
    return fmt::format("a job of highest priority takes all nodes: running jobs with QoS {} are {}{}",
                       util::join(list_preempted_qos(site), ", "), preemption_mode_names(fault.mode).done,
                       when);
  return fmt::format("a job of highest priority takes all nodes: running jobs are {}{}",
                     preemption_mode_names(fault.mode).done, when);
}

bool suspends_jobs(const std::vector<ClusterFault>& faults) {
  const auto* fault = find_preemption(faults);
  return fault != nullptr && fault->mode == PreemptionMode::suspend;
}

util::Result<std::string> submit_preempting_job(Sandbox& sandbox, const ClusterRunOptions& run) {
  std::vector<std::string> words = {slurm_program(run, "sbatch"),
                                    "--parsable",
                                    "--chdir=/",
                                    "--output=/dev/null",
                                    std::string("--job-name=") + k_first,
                                    std::string("--partition=") + k_first,
                                    "--nodes=" + std::to_string(run.layout.nodes.size()),
                                    "--exclusive",
                                    "--mem=1",
                                    "--time=7-0",
                                    "--no-requeue",
                                    "--wrap=sleep infinity"};
  if (needs_accounting(run.faults)) words.push_back(std::string("--qos=") + k_first);
  TRY(const auto answer, run_as_user(sandbox, words));
  if (util::parse_unsigned(answer)) return answer;
  return util::Error{fmt::format("sbatch rejected the job of --fault preempt: {}", answer),
                     "use --keep-logs DIR and read slurmctld.log for the cause"};
}

util::Status end_preempting_job(const ClusterRunOptions& run, Sandbox& sandbox, const std::string& job) {
  const auto state = util::run_process({slurm_program(run, "squeue"), "-h", "-j", job, "-o", "%T"},
                                       daemon_environment(sandbox.state_dir()), std::chrono::seconds(60));
  TRY(const auto output, run_as_user(sandbox, {slurm_program(run, "scancel"), job}));
  if (state && util::trim(state->out) == "RUNNING") return util::Success{};
  return util::Error{
      fmt::format("Slurm did not start the job of --fault preempt before the fault ended (state: {}){}",
                  state ? std::string(util::trim(state->out)) : std::string("unknown"),
                  output.empty() ? "" : ": " + output),
      why_not_hint(run)};
}

} // namespace hpcml::emulate

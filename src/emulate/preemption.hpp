// SPDX-License-Identifier: MIT
// Preemption on an emulated cluster: the settings of its Slurm, and the job that preempts the others.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/result.hpp"
#include "emulate/cluster_run.hpp"
#include "emulate/fault_spec.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// Lines of slurm.conf: how jobs are preempted, and the partition whose jobs do it; empty without such a
/// fault.
std::string make_preemption_lines(const std::vector<ClusterFault>& faults);

/// Whether jobs are suspended: Slurm does that only in partitions that share their nodes, and where it does
/// not count memory, which suspended jobs keep.
bool suspends_jobs(const std::vector<ClusterFault>& faults);

/// " GraceTime=20" for the line of a partition whose jobs are preempted; empty where another thing decides.
std::string make_partition_grace(const std::vector<ClusterFault>& faults);

/// The QoS whose jobs are preempted where QoS decide: those that the profile calls preemptible, else all.
std::vector<std::string> list_preempted_qos(const model::Site& site);

/// Returns the command lines for sacctmgr that make a QoS preempt those; empty if QoS do not decide.
/// `enforced`: Slurm restricts jobs to the QoS that they may use.
std::vector<std::vector<std::string>>
make_preemption_entries(const model::Site& site, const std::vector<ClusterFault>& faults, bool enforced);

/// What happens when the fault begins, as a sentence.
std::string describe_preemption(const model::Site& site, const ClusterFault& fault);

/// Submits a job that requires all nodes; its number.
util::Result<std::string> submit_preempting_job(Sandbox& sandbox, const ClusterRunOptions& run);

/// Ends it; an error where Slurm never gave it the nodes.
util::Status end_preempting_job(const ClusterRunOptions& run, Sandbox& sandbox, const std::string& job);

} // namespace hpcml::emulate

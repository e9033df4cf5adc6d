// SPDX-License-Identifier: MIT
// What a launch is decided from, with the node (node_view.hpp): the flags of `hpcml launch` as a value, and
// the environment of the process.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/model/rank_settings.hpp"
#include "core/model/site.hpp"
#include "core/util/env_snapshot.hpp"
#include "generate/plan/rank_plan.hpp"
#include "run/resolve/output_options.hpp"

namespace hpcml::launch {

/// The variable by which the processes of one launch are known, wherever they went: "PID.NANOSECONDS".
constexpr const char* k_launch_variable = "HPCML_LAUNCH";
/// Set in the tasks of emulated clusters (stand_ins/task_prolog.sh).
constexpr const char* k_rehearsal_variable = "HPCML_REHEARSAL";

using model::BindCheckAction;

/// Who sees to the CPUs of a rank.
enum class BindMode {
  automatic, ///< verify where srun has bound the task already, else apply
  apply,     ///< bind to this rank's slice of the CPUs that the task has
  verify,    ///< srun has bound: compare the mask with the plan and report
  none,      ///< leave the CPUs alone
};

constexpr std::chrono::seconds k_grace_after_failure{10}; ///< for the others, when a rank has failed
constexpr std::chrono::seconds k_grace_after_signal{
    30}; ///< after INT or TERM; in a job Slurm's own limit counts

/// The flags. A site is optional: without it no site fact is used, only what the node shows.
struct LaunchRequest {
  std::optional<model::Site> site;
  std::string profile_hash; ///< the profile that the script was made with; empty: not checked
  BindMode bind = BindMode::automatic;
  unsigned cpus_per_task = 0;    ///< physical cores; 0: what the slice gives
  unsigned threads_per_core = 1; ///< hardware threads of each core
  model::IdleCorePolicy idle_cores = model::IdleCorePolicy::none;
  model::GpuOrder rank_order; ///< in which the ranks take the visible GPUs
  std::optional<unsigned>
      gpus_per_task; ///< unset: the visible GPUs divided by the ranks, and nothing is demanded
  std::optional<model::GpuVisibilityMode> gpu_visibility; ///< unset: the site's
  model::Backend backend = model::Backend::automatic;
  bool container = false;       ///< the command enters a container
  std::string partition;        ///< empty: SLURM_JOB_PARTITION
  plan::JobFactsFromScript job; ///< what the script says of the whole job; the QoS else from SLURM_JOB_QOS
  model::RankSettings rank_settings;          ///< the requested values, which the ranks receive unchanged
  std::optional<unsigned> processes_per_node; ///< start and supervise this many ranks here
  std::optional<unsigned> master_port;
  bool virtual_local_rank = false;  ///< LOCAL_RANK is 0 for all that are started here
  bool fills_in_local_rank = false; ///< "${local_rank}" in the command's arguments is the rank's
  std::optional<std::chrono::seconds>
      grace;            ///< until KILL for ranks that were asked to end; unset: the two above
  OutputOptions output; ///< of ranks that are started here
  std::vector<std::string> command;
};

/// Returns the site of the request, or one without any facts.
inline const model::Site& site_or_none(const LaunchRequest& request) {
  static const model::Site k_none{};
  return request.site ? *request.site : k_none;
}

/// What a process knows of itself when it starts.
struct ProcessContext {
  util::EnvSnapshot env;
  std::string host;                   ///< this node's name, as Slurm has it
  std::string machine;                ///< as the kernel has it
  std::vector<std::string> ancestors; ///< the processes above this one, nearest first
  long long process_id = 0;
};

} // namespace hpcml::launch

// SPDX-License-Identifier: MIT
// The first step of the planner: what is asked for, in whichever way it was reported.
#pragma once

#include <string>
#include <vector>

#include "core/launch_chain/started_launcher.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"
#include "generate/plan/container_choice.hpp"
#include "generate/plan/plan_step_diagnostics.hpp"

namespace hpcml::plan {

/// What a job asks of a site. The steps after this one look here, and change nothing of it.
struct Request {
  const model::Site& site;
  model::JobSpec job; ///< with what raw options of sbatch and a launcher in the command say; of `sbatch` the
                      ///< options that are not request stay
  model::Launcher launcher;                    ///< as asked for, else the planner's own choice
  std::vector<std::string> agent_options = {}; ///< further options of an agent, as shell text
  unsigned least_nodes = 0;   ///< an elastic agent continues with this many; 0: with all only
  ContainerRules images = {}; ///< the site's rules for the job's image
  /// Whether one task of each node starts its ranks: another launcher's agent, or hpcml's own.
  bool spawns_ranks() const { return launcher.is_agent() || (launcher.is_hpcml() && model::is_agent(job)); }
};

/// Whether the request counts cores and memory and leaves GPUs and the partition open: a job for CPUs, most
/// likely.
bool counts_all_but_gpus(const model::JobSpec& job);

/// Reads the request for the site.
PlanStepResult<Request> read_request(model::JobSpec job, const model::Site& site);

// The parts of it, in their order; each in the file of its name.

/// Options under --sbatch that are requests become the job's own, so that layout and masks follow them.
PlanStepResult<model::JobSpec> read_passthrough(model::JobSpec job, const model::Site& site);

/// A job, and what the launcher in its command has that are not part of the request.
struct JobWithAgentOptions {
  model::JobSpec job;
  std::vector<std::string> agent_options;
  unsigned least_nodes = 0;
};
/// Where the command is `torchrun OPTIONS program` (or accelerate's, or only OPTIONS under --launcher
/// torchrun): the job gets what its options say, its launcher becomes that one, and its command the program.
/// All other launchers in commands stay, for the step that plans the launch.
PlanStepResult<JobWithAgentOptions> read_command_launcher(model::JobSpec job);

/// The agent's program as its own command: Python runs its scripts and modules.
std::vector<std::string> agent_program(const launch_chain::StartedLauncher& agent);

/// A request that speaks of cores and memory, and of no GPU, is one for CPUs where the site has jobs without
/// GPUs.
PlanStepResult<model::JobSpec> read_unrequested_gpus(model::JobSpec job, const model::Site& site);

/// Where fewer nodes may continue (--nnodes MIN:MAX): the job has MAX of them, and the launch continues with
/// MIN.
PlanStepResult<JobWithAgentOptions> read_node_range(JobWithAgentOptions launched);

} // namespace hpcml::plan

// SPDX-License-Identifier: MIT
// The meaning of a torchrun line for the agent of this node: the number of ranks, their command, and the
// endpoint of the agents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/gpu_vendor.hpp"
#include "core/util/result.hpp"
#include "run/agent/agent_request.hpp"
#include "run/launch/launch_context.hpp"
#include "run/torchrun/torchrun_flags.hpp"

namespace hpcml::torchrun {

/// What of this node and this process the meaning of a line depends on.
struct TorchrunNodeFacts {
  unsigned gpus = 0; ///< that this process may use
  model::GpuVendor vendor = model::GpuVendor::unknown;
  unsigned cpus = 1;
  bool in_task = false;    ///< a task of a step: the step's agents find each other
  unsigned step_nodes = 1; ///< of that step
  std::string fresh_id;    ///< the same as no other's
};

TorchrunNodeFacts read_torchrun_node(const launch::RuntimeContext& context);

/// The agent's request, without its command.
struct TorchrunPlan {
  agent::AgentRequest request;
  bool needs_directory = false;   ///< output is written to files, but no directory is set
  std::vector<std::string> notes; ///< for the log
};

/// Pure.
util::Result<TorchrunPlan> plan_torchrun(const TorchrunRequest& line, const TorchrunNodeFacts& node,
                                         const util::EnvSnapshot& env);

/// PYTHON -u [-m] SCRIPT ARGS, or PROGRAM ARGS. `program`: argv[0] of this process. PYTHON is $PYTHON_EXEC,
/// else what launch::find_python_of_program finds.
util::Result<std::vector<std::string>>
find_torchrun_command(const TorchrunRequest& line, const util::EnvSnapshot& env, const std::string& program);

/// Returns the environment without the variables that torchrun sets for each rank, because torchrun ignores
/// existing values as well.
util::EnvSnapshot without_rank_variables(util::EnvSnapshot env);

} // namespace hpcml::torchrun

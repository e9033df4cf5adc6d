// SPDX-License-Identifier: MIT
// What Slurm would give the tasks of a drawn layout: a model of srun that needs no cluster.
#pragma once

#include <string>
#include <vector>

#include "core/slurm/step_order.hpp"
#include "core/util/env_snapshot.hpp"
#include "run/launch/layouts_helper.hpp"

namespace hpcml::testing {

/// A task, as srun's label and its host describe it, and its variables.
struct ModelledTask {
  unsigned rank = 0;
  unsigned local_rank = 0;
  unsigned local_world_size = 0;
  unsigned node_rank = 0;
  std::string host;
  util::EnvSnapshot env;
};

/// The step of a layout.
struct ModelledStep {
  std::vector<ModelledTask> tasks;
  slurm::StepNodes nodes;             ///< as Slurm reports them
  std::string host_file;              ///< text of the file in SLURM_HOSTFILE
  std::vector<std::string> ancestors; ///< of each task
  bool is_nested = false;             ///< a rank of another step starts it
};

/// Models the step of `layout`, number `number` of the job. The tasks are on nodes of the job that the
/// options allow, in the order of the distribution.
ModelledStep model_step(const DrawnJob& job, const DrawnLayout& layout, unsigned number);

} // namespace hpcml::testing

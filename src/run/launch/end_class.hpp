// SPDX-License-Identifier: MIT
// The class of a failure by which a run ended.
#pragma once

#include <chrono>
#include <optional>

#include "core/model/retry_classes.hpp"
#include "core/util/env_snapshot.hpp"
#include "run/launch/launch_context.hpp"
#include "run/resolve/launch_request.hpp"

namespace hpcml::launch {

/// The facts that are known at the end of a run.
struct RunResult {
  int code = 0;
  int signal = 0;              ///< that launch was sent; 0: none
  bool save_requested = false; ///< from the ranks, because the time limit of their job is near
  std::optional<model::FailureClass> failure =
      {}; ///< class of the first failure, of a rank, of hpcml or a node
  bool nodes_missing = false;
};

/// Returns nothing if the run succeeded without a request to stop. `env`: whether this is a Slurm job, and
/// its end time (SLURM_JOB_END_TIME). `ask_slurm`, if set, returns why Slurm ended the job early.
std::optional<model::FailureClass> classify_end(const RunResult& end, const util::EnvSnapshot& env,
                                                std::chrono::system_clock::time_point now,
                                                const AskSlurm& ask_slurm = {});

/// Writes the last message of a run that failed to standard error at every log level: the job's next start
/// reads it.
void write_class(int code, model::FailureClass why);

} // namespace hpcml::launch

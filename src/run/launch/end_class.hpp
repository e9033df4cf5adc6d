// SPDX-License-Identifier: MIT
// Why a run ended, as one word.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/model/retry_classes.hpp"
#include "core/util/env_snapshot.hpp"
#include "run/launch/launch_request.hpp"

namespace hpcml::launch {

/// What is known at the end of a run.
struct RunResult {
  int code = 0;
  int signal = 0;             ///< that launch was sent; 0: none
  bool asked_to_save = false; ///< the ranks were, since their job's time is over soon
  bool rank_failed = false;   ///< one was the first to fail
  bool out_of_memory = false; ///< and the kernel killed a process of it for want of memory
  bool launcher_failed = false;
  bool nodes_missing = false;
  bool node_at_fault = false; ///< a node was found bad, and that is why it ended
};

/// Nothing where it ended well, and nobody had asked for it. `env`: whether it is a job of Slurm's, and until
/// when that may run (SLURM_JOB_END_TIME). `ask_slurm` is asked, where it is set, why Slurm has ended the job
/// before its time.
std::optional<model::FailureClass> classify_end(const RunResult& end, const util::EnvSnapshot& env,
                                                std::chrono::system_clock::time_point now,
                                                const AskSlurm& ask_slurm = {});

/// The last line on standard error of a run that ended badly.
std::string describe_class(int code, model::FailureClass why);

/// The class that such a line says, wherever it begins (`srun --label`); nothing in others.
std::optional<model::FailureClass> read_class(std::string_view line);

} // namespace hpcml::launch

// SPDX-License-Identifier: MIT
// Where a run leaves what is to be kept: LOG_FOLDER/RUN_ID/attempt_K/RANK.
#pragma once

#include <string>
#include <utility>

#include "core/slurm/step_env.hpp"
#include "core/util/result.hpp"
#include "run/agent/agent_request.hpp"
#include "run/launch/cache_dirs.hpp"
#include "run/launch/launch_request.hpp"

namespace hpcml::agent {

/// What a run is called: as it was asked for; in a job "JOB.STEP" and, after a requeue, ".RESTART"; else
/// "none". Pure.
std::string run_id_of(const AgentRequest& request, const slurm::StepIdentity& identity);

/// The folder of a run. It belongs to the caller and is readable by the caller alone, unless it exists with
/// another mode. Where nothing is to be kept it is a temporary one, gone with this value, and with this
/// process where that is killed.
class RunDirectory {
public:
  /// Makes it. `run_id` becomes one name: what no folder can be called is written as '_'.
  static util::Result<RunDirectory> make(const AgentRequest& request, const std::string& run_id,
                                         const launch::RuntimeContext& context);
  ~RunDirectory();
  RunDirectory(RunDirectory&& other) noexcept
      : x_path(std::exchange(other.x_path, {})), x_kept(other.x_kept),
        x_held(std::exchange(other.x_held, {})) {}
  RunDirectory& operator=(RunDirectory&&) = delete;

  const std::string& path() const { return x_path; }
  bool is_kept() const { return x_kept; }
  /// The child of this process that removes it where this process is killed; -1: there is none.
  pid_t watcher() const { return x_held.watcher; }
  std::string attempt(unsigned number) const { return x_path + "/attempt_" + std::to_string(number); }
  /// Makes the folder of an attempt's rank.
  util::Status make_rank(unsigned attempt, unsigned rank) const;

private:
  RunDirectory(std::string path, bool kept) : x_path(std::move(path)), x_kept(kept) {}
  std::string x_path;
  bool x_kept = false;
  launch::SelfRemovingDirectory x_held = {};
};

} // namespace hpcml::agent

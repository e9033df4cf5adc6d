// SPDX-License-Identifier: MIT
// Where a run leaves what is to be kept: LOG_FOLDER/RUN_ID/attempt_K/RANK.
#pragma once

#include <string>
#include <utility>

#include "core/slurm/step_env.hpp"
#include "core/util/result.hpp"
#include "run/agent/agent_request.hpp"
#include "run/launch/cache_dirs.hpp"
#include "run/launch/launch_context.hpp"
#include "run/resolve/launch_request.hpp"

namespace hpcml::agent {

/// Begins the names of the directories of a run's attempts; a number follows.
inline constexpr const char* k_attempt_prefix = "attempt_";

/// What a run is called: as it was asked for; in a job "JOB.STEP" and, after a requeue, ".RESTART"; else
/// "none". Pure.
std::string run_id_of(const AgentRequest& request, const slurm::StepIdentity& identity);

/// The directory of a run. Only the user can read it, unless it exists with another mode. If nothing is kept
/// it is temporary, and removed with this value or when this process is killed.
class RunDirectory {
public:
  /// Creates it. `run_id` becomes one name: characters that are not allowed become '_'.
  static util::Result<RunDirectory> make(const AgentRequest& request, const std::string& run_id,
                                         const launch::RuntimeContext& context);
  ~RunDirectory();
  RunDirectory(RunDirectory&& source) noexcept
      : x_path(std::exchange(source.x_path, {})), x_run_id(std::move(source.x_run_id)), x_kept(source.x_kept),
        x_held(std::exchange(source.x_held, {})) {}
  RunDirectory& operator=(RunDirectory&&) = delete;

  const std::string& path() const { return x_path; }
  /// The name of the run, unchanged.
  const std::string& run_id() const { return x_run_id; }
  bool is_kept() const { return x_kept; }
  /// The child of this process that removes it where this process is killed; -1: there is none.
  pid_t watcher() const { return x_held.watcher; }
  std::string attempt(unsigned number) const {
    return x_path + "/" + k_attempt_prefix + std::to_string(number);
  }
  /// Creates the directory of a rank of an attempt.
  util::Status make_rank(unsigned attempt, unsigned rank) const;

private:
  RunDirectory(std::string path, std::string run_id, bool kept)
      : x_path(std::move(path)), x_run_id(std::move(run_id)), x_kept(kept) {}
  std::string x_path;
  std::string x_run_id;
  bool x_kept = false;
  launch::SelfRemovingDirectory x_held = {};
};

} // namespace hpcml::agent

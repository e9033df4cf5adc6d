// SPDX-License-Identifier: MIT
// The job that a batch process belongs to: its names, its restarts, its files, and the environment of its
// script. Pure.
#pragma once

#include <string>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/batch/batch_request.hpp"

namespace hpcml::batch {

/// Set in the script's body to the job's number: the script does not start hpcml again.
inline constexpr const char* k_batch_variable = "HPCML_BATCH";
/// First argument of the script of a job that takes over from another: "--hpcml-successor=FIRST:RESTARTS" if
/// hpcml submitted it, "--hpcml-continue=…" if the user did, who allows as many restarts again.
inline constexpr const char* k_successor_argument = "--hpcml-successor=";
inline constexpr const char* k_continue_argument = "--hpcml-continue=";

/// Hint for a file next to the job's that another user has put there: it is not used.
inline constexpr const char* k_own_file_hint = "remove it: only files of the job's owner are used";

struct BatchJob {
  std::string name;  ///< as Slurm's commands take it: "4711", for a task of an array "4711_3"
  std::string first; ///< the first job of the same work, whose files are used; this one if it is the first
  unsigned restarts = 0;            ///< starts before this one
  unsigned starts_here = 0;         ///< of `restarts` those in the starts file
  unsigned max_restarts = 0;        ///< limit of `restarts`
  std::string array_task;           ///< "3"; empty: no array
  std::string checkpoint_directory; ///< of this work; empty: none
  std::string bad_nodes_file;       ///< empty: no nodes are recorded
  std::vector<std::string> command; ///< without the argument that only hpcml reads

  /// Starts on other nodes of the same job, one line each; they count as restarts.
  std::string starts_file() const { return bad_nodes_file + "-starts"; }
  /// The job that has taken over this one's work.
  std::string successor_file() const { return bad_nodes_file + "-successor-" + name; }
};

/// Errors outside of a job, and for an argument of hpcml that cannot be read.
util::Result<BatchJob> make_batch_job(const BatchRequest& request, const util::EnvSnapshot& env);

/// What the script's body and its steps find in their environment.
util::EnvSnapshot make_script_environment(const BatchRequest& request, const BatchJob& job,
                                          util::EnvSnapshot env);

} // namespace hpcml::batch

// SPDX-License-Identifier: MIT
// Events of a run record: one value per event, each one line of JSON. docs/reference/run-record.md lists
// them.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/failures/rank_failure.hpp"
#include "core/model/retry_classes.hpp"
#include "core/node_health/bad_node_file.hpp"

namespace hpcml::agent {

constexpr int k_record_version = 1; ///< raised by changes that are more than new events or members

/// The first line of every agent's record.
struct RunStarted {
  std::string run_id = {};
  std::string job = {};   ///< Slurm's number; empty: none
  std::string step = {};  ///< of the job
  std::string hpcml = {}; ///< its version
  std::vector<std::string> command = {};
  std::string directory = {}; ///< of the run's logs
  std::string host = {};      ///< of this agent
  unsigned node = 0;          ///< its number
  std::vector<std::string> nodes = {};
  unsigned max_restarts = 0;
  double rendezvous_seconds = 0; ///< seconds from this agent's start until all nodes were connected
};

/// A node that takes part in an attempt.
struct AttemptNode {
  unsigned node = 0;
  std::string host = {};
  unsigned ranks = 0;
};

/// The ranks are about to be started.
struct AttemptStarted {
  unsigned attempt = 0; ///< 0: the first
  unsigned world_size = 0;
  std::vector<AttemptNode> nodes = {};
};

struct RankStarted {
  unsigned attempt = 0, rank = 0, local_rank = 0;
  std::string host = {};
  std::int64_t pid = 0;
  std::string gpu = {};  ///< "GPU 3"; empty: none
  std::string cpus = {}; ///< "0-7,64-71"; empty: not bound
};

/// A part of a rank's start-up is over.
struct RankPhaseEnded {
  unsigned attempt = 0, rank = 0;
  std::string phase = {}; ///< "process", "rendezvous", "output"
  double took = 0;        ///< seconds since the attempt began
};

/// A part of the start-up is over for all ranks.
struct PhaseSummary {
  unsigned attempt = 0;
  std::string phase = {};
  unsigned ranks = 0; ///< how many are counted
  double median = 0;  ///< seconds, as `took`
  unsigned slowest = 0;
  std::string host = {}; ///< of the slowest
  double took = 0;       ///< by the slowest
};

/// The first failure over all nodes.
struct FailureSeen {
  failures::RankFailure note = {};
  std::string hint = {};
};

struct RankEnded {
  unsigned attempt = 0, rank = 0, local_rank = 0;
  std::int64_t pid = 0;
  int status = 0;                     ///< as waitpid gives it
  double took = 0;                    ///< seconds since the attempt began
  std::optional<unsigned> cause_rank; ///< the rank whose failure it was stopped for
};

/// Ranks of this node were asked to end, since another one failed.
struct RanksStopped {
  unsigned attempt = 0;
  std::optional<unsigned> cause_rank;
  std::string host = {}; ///< of that rank; of hpcml if no rank failed
  std::vector<unsigned> ranks = {};
};

struct StallSeen {
  unsigned attempt = 0;
  std::string why = {};    ///< "nothing was written for 60 s"
  std::string stacks = {}; ///< the file with the ranks' stacks; empty: there is none
};

struct RestartBegun {
  unsigned restart = 0; ///< counted from 1
  unsigned max_restarts = 0;
  std::optional<unsigned> cause_rank; ///< rank
  std::string why = {};               ///< where none has failed: a clause
  double pause = 0;                   ///< seconds between the end of the ranks and their restart
};

/// A node was found faulty: the job's next start excludes it.
struct BadNodeSeen {
  node_health::BadNode bad = {};
};

/// The last line, where the agent came to its end.
struct RunEnded {
  int code = 0;
  unsigned restarts = 0;
  std::optional<model::FailureClass> why = {}; ///< none where it ended well
};

using RecordEvent =
    std::variant<RunStarted, AttemptStarted, RankStarted, RankPhaseEnded, PhaseSummary, FailureSeen,
                 RankEnded, RanksStopped, StallSeen, RestartBegun, BadNodeSeen, RunEnded>;

/// When something happened.
struct EventTime {
  std::chrono::system_clock::time_point time = {};
  double seconds = 0; ///< since the record was opened
};

/// "2026-11-25T21:03:04.567Z".
std::string render_time(std::chrono::system_clock::time_point time);
/// One line, its newline with it.
std::string render_event(const RecordEvent& event, const EventTime& when);

/// Which rank of a phase was the slowest, and what the middle one took. `phases` must not be empty.
PhaseSummary find_slowest(const std::vector<RankPhaseEnded>& phases,
                          const std::vector<std::string>& host_of_rank);

} // namespace hpcml::agent

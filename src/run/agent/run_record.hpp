// SPDX-License-Identifier: MIT
// The record of a run: a file of JSON lines that is only ever appended to, so that whatever is killed leaves
// all lines but the last one whole.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/util/result.hpp"
#include "run/agent/record_events.hpp"

namespace hpcml::agent {

/// "record-3.jsonl" of node 3: each agent has its own, since network file systems lose lines of a file that
/// two nodes append to.
std::string record_name(unsigned node);

/// Each event is one write(); none is kept back.
class RunRecord {
public:
  /// Appends to the file, which is created if it does not exist.
  static util::Result<RunRecord> open(const std::string& path);
  RunRecord(RunRecord&& other) noexcept;
  ~RunRecord();
  RunRecord(const RunRecord&) = delete;
  RunRecord& operator=(const RunRecord&) = delete;
  RunRecord& operator=(RunRecord&&) = delete;

  /// A line that cannot be written is lost; the next one is complete again. Fails only at the first of
  /// these, so that a full disk is reported once. A file that was removed is created again, starting with
  /// the facts of the run, which is reported.
  util::Status add(const RecordEvent& event);

private:
  RunRecord(std::string path, int fd, bool cut) : x_path(std::move(path)), x_fd(fd), x_cut(cut) {}
  bool begin_anew();
  util::Status write_line(const RecordEvent& event);
  std::string x_path;
  std::optional<RunStarted> x_run; ///< the last ones
  int x_fd;
  bool x_cut;                 ///< the file ends in the midst of a line
  bool x_is_reported = false; ///< that it cannot be written
  std::chrono::steady_clock::time_point x_start = std::chrono::steady_clock::now();
};

} // namespace hpcml::agent

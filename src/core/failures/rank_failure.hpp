// SPDX-License-Identifier: MIT
// What is known of a rank that failed, and the row of the table that explains it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/failures/failure_table.hpp"

namespace hpcml::failures {

struct RankFailure {
  unsigned attempt = 0;     ///< 0: the first start of the ranks
  bool of_launcher = false; ///< no rank has failed but hpcml itself on `host`: `message` says at what, and
                            ///< what is reported of a rank is not the user's
  unsigned rank = 0;
  unsigned local_rank = 0;
  std::string host;
  std::int64_t pid = 0;
  int status = 0;             ///< as waitpid gives it
  std::string gpu;            ///< "GPU 3", as the rank sees the node's; empty: none
  double seconds = 0;         ///< since the ranks were started
  bool out_of_memory = false; ///< the kernel killed a process of it for lack of memory
  std::string memory;    ///< of whom, as a clause: "its memory limit of 16 GiB was reached"; empty: not known
  std::string gpu_fault; ///< what its node's kernel has said of a GPU that failed; empty: nothing
  std::vector<std::string> last_lines; ///< of its standard error, at most 20
  std::string message;                 ///< of its error file: "ValueError: …", empty: none
  std::string traceback;               ///< of its error file
  std::int64_t reported_at = 0;  ///< of its error file: when it failed, in seconds since 1970 by its node's
                                 ///< clock; 0: not known
  std::int64_t reported_age = 0; ///< milliseconds from then until its agent reported it
  std::int64_t failed_at = 0;    ///< the same moment by the coordinator's clock, in milliseconds; not sent
  bool cut_short = false; ///< it had failed, and was ended by us before its program was: the status is ours

  /// The fields that agents send each other (run/store/message_fields.hpp).
  static void fields(auto& list, auto& m) {
    list("attempt", m.attempt);
    list("of_launcher", m.of_launcher);
    list("rank", m.rank);
    list("local_rank", m.local_rank);
    list("host", m.host);
    list("pid", m.pid, std::int64_t{1} << 32);
    list("status", m.status, 0xffff);
    list("gpu", m.gpu);
    list("seconds", m.seconds);
    list("out_of_memory", m.out_of_memory);
    list("memory", m.memory);
    list("gpu_fault", m.gpu_fault);
    list("last_lines", m.last_lines);
    list("message", m.message);
    list("traceback", m.traceback);
    list("reported_at", m.reported_at, std::int64_t{1} << 40);
    list("reported_age", m.reported_age, std::int64_t{1} << 40);
    list("cut_short", m.cut_short);
  }
};

/// Returns the row that explains the failure: what the kernel reports, then the first row with a line in the
/// rank's message, traceback or last lines, then how it ended. Null if none does.
const KnownError* find_known_error(const RankFailure& failure);
/// Returns the hint of that row; empty if there is none.
std::string find_hint(const RankFailure& failure);
/// Returns a fault that no program causes: one of a GPU that its node's kernel has reported, or a text of
/// the rank, "uncorrectable ECC error". Empty if there is none. Its node is faulty.
std::string find_node_fault(const RankFailure& failure);
/// Returns the class of a run that ends because of the failure.
model::FailureClass class_of(const RankFailure& failure);

} // namespace hpcml::failures

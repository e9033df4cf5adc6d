// SPDX-License-Identifier: MIT
// A report about a log, which is read once from start to end and may have any size.
#pragma once

#include <string>
#include <string_view>

#include "core/util/result.hpp"
#include "diagnose/joblog/failures.hpp"
#include "diagnose/joblog/first_errors.hpp"
#include "diagnose/joblog/networks.hpp"

namespace hpcml::joblog {

/// Takes a log in pieces. Holds one piece and what it has found, never the log.
class LogReader {
public:
  void add(std::string_view piece);
  /// The log is at its end.
  void end();
  std::uint64_t lines() const { return x_cutter.lines(); }
  const NetworkReader& networks() const { return x_networks; }
  /// Known failures. Without one that is a cause, also the first errors that the log itself names.
  std::vector<LogFailure> failures() const;

private:
  void read_block(std::string_view block);
  void read_line(std::uint64_t number, std::string_view line, bool nccl);

  std::string x_rest; ///< a line that has begun
  LineCutter x_cutter;
  NetworkReader x_networks;
  FailureReader x_failures;
  FirstErrorReader x_first_errors;
};

/// Reads all of an open file into `reading`; the error names what went wrong.
util::Status read_log(int fd, LogReader& reading);

/// What a log was found to say.
struct LogReport {
  std::string name; ///< of the file, for places
  std::uint64_t lines = 0;
  NetworkReport network;
  std::vector<LogFailure> failures;
  bool is_bad() const { return network.is_bad() || !failures.empty(); }
};
LogReport make_report(const std::string& name, const LogReader& reading, const SiteNetwork& site);

/// Returns a text for users: the network with its evidence, failures and hints. Control characters of the
/// log are escaped.
std::string render_text(const LogReport& report);
/// The same as one JSON object on a line.
std::string render_json(const LogReport& report);

} // namespace hpcml::joblog

// SPDX-License-Identifier: MIT
// The files that the streams of a node's ranks go into.
#pragma once

#include <array>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/launch/log_file.hpp"
#include "run/launch/matching_line_filter.hpp"
#include "run/launch/output_routes.hpp"

namespace hpcml::launch {

/// Receives a message without the prefix "hpcml: ".
using MessageSink = std::function<void(const std::string&)>;

/// The files of some routes, by the routes' order.
class OutputFiles {
public:
  OutputFiles(const std::vector<OutputRoute>& routes, MessageSink report);
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Descriptors that `open` needs.
  std::size_t count() const;
  /// Creates the directories and opens every file. The first failure is the error.
  util::Status open(const OutputOptions& output_options, unsigned node_rank);
  /// Writes the output of a route's rank. A loss is reported once per file.
  void add(std::size_t index, std::string_view bytes);
  /// The rank writes no more there: ends its last filtered line, and closes its file.
  void finish(std::size_t index);
  /// Closes what all routes share.
  void close();

private:
  struct Entry {
    OutputRoute route;
    LogFile file;
    MatchingLineFilter filter;
  };
  void report(const std::string& sentence) const;
  std::vector<Entry> x_entries;
  std::array<LogFile, 2> x_filtered; ///< of standard output, of standard error
  MessageSink x_report;
  std::optional<sighandler_t> x_size_handler; ///< of SIGXFSZ, while a limit of files must not end us
};

} // namespace hpcml::launch

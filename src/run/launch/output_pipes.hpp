// SPDX-License-Identifier: MIT
// The pipes that the output of ranks comes through.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"
#include "run/launch/system.hpp"

namespace hpcml::launch {

/// Reading ends, by the number of their source. Those of sources whose reader is slow are not polled.
class OutputPipes {
public:
  OutputPipes(System& system, std::size_t count);
  ~OutputPipes();
  OutputPipes(const OutputPipes&) = delete;
  OutputPipes& operator=(const OutputPipes&) = delete;

  /// Takes the end of a source's pipe. `shown`: our reader sees what comes through it.
  util::Status add(std::size_t source, int fd, bool shown);
  bool is_open(std::size_t source) const { return x_fds[source] >= 0; }
  void close(std::size_t source);
  /// The descriptor to poll for reading: of all sources, or of those that are not shown.
  int poll_fd(bool all) const { return all ? x_ready : x_hidden; }
  /// Returns some of the sources with data. Each call starts with another source, so that the last of many
  /// busy ones is read as well.
  std::vector<std::size_t> ready(bool all);
  /// Reads once from a source: nothing if it has no data now, an empty text at its end. The text is valid
  /// until the next call.
  std::optional<std::string_view> read(std::size_t source);

private:
  util::Status watch(int set, std::size_t source);

  System& x_system;
  std::vector<int> x_fds; ///< -1: closed
  int x_ready;            ///< epoll of the sources
  int x_hidden;           ///< of those that are not shown
  unsigned x_turn = 0;    ///< which is read first
};

} // namespace hpcml::launch

// SPDX-License-Identifier: MIT
// Small parts of starting daemons: where their output goes, how a failure before or at exec comes back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::emulate {

/// A channel from a child to its parent that closes when the child executes its program.
class StartChannel {
public:
  StartChannel();
  ~StartChannel();
  StartChannel(const StartChannel&) = delete;
  StartChannel& operator=(const StartChannel&) = delete;
  bool is_open() const { return x_ends[0] >= 0; }
  /// In the child: reports and ends.
  [[noreturn]] void fail(const util::Error& error);
  /// In the child: forgets the parent's end.
  void keep_child_end();
  /// In the parent: waits until the child runs its program; its error otherwise.
  std::optional<util::Error> wait();
  /// Rendezvous points on the way: the child stops until the parent lets it continue. False if the other side
  /// is gone.
  bool wait_for_parent();
  bool wait_for_child();
  bool release_child();

private:
  void close_end(int& end);
  int x_ends[2] = {-1, -1}; ///< parent, child
};

/// Signals as a program expects them at its start, whatever this process did to its own.
void reset_signals();
/// Its own session, input from nowhere, output appended to `log_file` (empty: nowhere).
util::Status detach_from_terminal(const std::string& log_file);
/// Executes argv[0], looked up in the PATH of `env`; returns only on failure.
util::Error execute(const std::vector<std::string>& argv, const util::EnvSnapshot& env);
/// Closes every descriptor from 3 on, except `keep` (-1: none); returns its new number.
int close_all_but(int keep);

/// Passes a descriptor over a socket; false on failure. Receive gives -1 when the sender is gone.
bool send_descriptor(int socket, int fd);
/// Takes a descriptor from a socket.
int receive_descriptor(int socket);

} // namespace hpcml::emulate

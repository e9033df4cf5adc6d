// SPDX-License-Identifier: MIT
// The processes that make a sandbox, from the outside in: the caller, a janitor and a warden on the machine,
// and process 1 of the sandbox, which starts the body. Each ends when the one before it does.
#pragma once

#include <csignal>
#include <functional>
#include <memory>
#include <string>

#include "emulate/namespaces.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// Ends of pipes that the caller shares with process 1.
struct SandboxPipes {
  int control =
      -1; ///< process 1 reads signal numbers to pass on to the body; its end means that the caller is gone
  int report = -1; ///< "R<code>" from the body, "E<what>\0<hint>" when the sandbox could not be made
};

/// What the processes of a sandbox hand down.
struct SandboxContext {
  std::string state_dir;
  JobCgroups job_groups;
  SandboxOptions options;
  SandboxNamespaces isolation;
  SandboxPipes pipes;
  std::function<void()> restore_signals; ///< restores the dispositions from before run_in_sandbox
  std::function<int(Sandbox&)> body;
};

/// Writes the body's result, or why there is no sandbox, to the report's pipe.
void send_report(int fd, const std::string& text);
void send_failure(int fd, const util::Error& error);

/// Process 1: prepares the mounts, starts the body, reaps, passes signals on, and ends with body or caller.
[[noreturn]] void run_sandbox_init(SandboxContext context);

/// What the body talks to. Made in the body's process.
std::unique_ptr<Sandbox> make_sandbox(const SandboxContext& context);

/// What the node's first process needs besides the node itself.
struct NodeStartContext {
  SandboxNamespaces isolation;
  std::string scratch;              ///< a private empty directory on the sandbox's file system
  std::vector<SandboxMount> mounts; ///< generated views first, then the caller's
  unsigned first_tag = 0;
};

class StartChannel;
/// In a fresh child: enters the node's namespaces, puts itself under the filter, hands the listener to
/// `supervisor_socket`, executes the daemon.
[[noreturn]] void become_node(const SandboxNode& node, const NodeStartContext& plan, StartChannel& channel,
                              int supervisor_socket);

} // namespace hpcml::emulate

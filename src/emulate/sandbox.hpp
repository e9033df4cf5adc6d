// SPDX-License-Identifier: MIT
// Namespaces for a cluster on one machine: a private place where nodes have their own host name, interfaces,
// /sys and CPUs, and that is gone, with everything in it, when it ends however it ends.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "core/model/node_shape.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "emulate/job_cgroups.hpp"

namespace hpcml::emulate {

/// A network interface of a node.
struct SandboxInterface {
  std::string name; ///< "hsn0"
  std::string ipv4; ///< "10.66.1.1"; the prefix is /16 per interface number
};

/// A file or directory that processes on a node see in another place; the host keeps its own.
struct SandboxMount {
  std::string source;
  std::string target;
  bool add = false; ///< the directory's entries come to those of the target, where the kernel can do that
};

/// A directory that a node has for itself in the place of the machine's.
struct PerNodeDirectory {
  std::string target; ///< "/tmp"
  std::string source; ///< what the node has there, seen by all nodes under this path
  std::vector<std::string>
      kept; ///< names in the machine's directory that stay visible: directories and links
};

/// A program of a node that runs for each connection to a port, with the connection as its input and output.
struct InetdService {
  unsigned port = 0;
  std::vector<SandboxMount> mounts; ///< seen by the program alone, where their targets exist
  std::vector<std::string> argv;
  util::EnvSnapshot env;
  std::string log_file; ///< its errors
};

/// One node and the daemon that runs on it.
struct SandboxNode {
  std::string name;               ///< host name
  model::CpuShape cpu;            ///< what /sys, /proc and sched_getaffinity show
  unsigned long long mem_mib = 0; ///< for /proc/meminfo and /sys/devices/system/node
  std::vector<SandboxInterface> interfaces;
  std::vector<PerNodeDirectory> own_directories; ///< before the mounts, in this order
  std::vector<SandboxMount> mounts;
  /// The part of the tree of cgroup v2 that the node takes for the whole; empty: it sees the machine's.
  std::string unified_group = {};
  std::vector<std::string> argv; ///< slurmd -D -N NAME …
  util::EnvSnapshot env;
  std::string log_file;
  std::vector<InetdService> services; ///< need a network of the node's own
};

/// What a sandbox is made with.
struct SandboxOptions {
  bool isolate_network = true;       ///< own network namespaces; false: everything on loopback
  std::string login_name = "login1"; ///< host name that the login node's processes see
  /// The login node's address in each network: the k-th is reached through the nodes' k-th interface (it is
  /// the k-th bridge's). A node can have no interface that is not here.
  std::vector<SandboxInterface> login_interfaces;
  ConstrainedResources constrained_resources = {}; ///< its own groups, below which nodes limit their jobs
  /// Where the state directory can be; the first that allows it is taken.
  std::vector<std::string> places = {"/tmp"};
};

/// What the body of a sandbox can do. All processes started here end with the sandbox.
class Sandbox {
public:
  virtual ~Sandbox() = default;
  /// A private directory (tmpfs) seen by all nodes at the same path; gone with the sandbox.
  virtual const std::string& state_dir() const = 0;
  /// False where the kernel did not allow network namespaces: nodes share loopback (and then have no
  /// separate interfaces).
  virtual bool has_networks() const = 0;
  /// The groups by which jobs are limited.
  virtual const JobCgroups& job_groups() const = 0;
  /// The user whom daemons and commands run as, also where the body itself is root of a user namespace.
  virtual unsigned user_id() const = 0;
  /// Sentences about what this machine did not allow; empty on a full sandbox.
  virtual const std::vector<std::string>& limits() const = 0;
  /// Starts a node's daemon in the node's namespaces, under the CPU emulation.
  virtual util::Result<pid_t> start_node(const SandboxNode& node) = 0;
  /// Cuts all links of a node, or plugs them in again; `daemon` is what start_node gave.
  virtual util::Status switch_links(pid_t daemon, bool on) = 0;
  /// Makes all links of a node this many times slower, both ways, than a cable of k_cable_speed; 1:
  /// unchanged.
  virtual util::Status slow_links(pid_t daemon, unsigned factor) = 0;
  /// Ends a node like a loss of power: its peers receive nothing more from it, and its processes are killed.
  virtual util::Status end_node(pid_t daemon) = 0;
  /// Starts a daemon on the "login node" (the sandbox's own namespaces, no CPU emulation).
  virtual util::Result<pid_t> start_service(const std::vector<std::string>& argv,
                                            const util::EnvSnapshot& env, const std::string& log_file) = 0;
  /// Mounts for the login node's processes, before they start (for example a private /etc/hosts).
  virtual util::Status mount_on_login(const SandboxMount& mount) = 0;
  /// Runs the user's command on the login node with this terminal; returns its exit code (128 + signal when
  /// killed).
  virtual int run_command(const std::vector<std::string>& argv, const util::EnvSnapshot& env) = 0;
  /// True while the process runs.
  virtual bool is_alive(pid_t pid) const = 0;
};

/// Makes the sandbox, runs `body` in it, takes it down, returns what body returned. The body runs in its own
/// process: what it changes in memory, the caller does not see; its return value, 0 to any int, is passed.
/// There is no way out to the machine's own network. Works as root and, through user namespaces, without.
/// Ctrl-C, SIGTERM, SIGKILL of this process or a crash leave nothing.
util::Result<int> run_in_sandbox(const SandboxOptions& options, const std::function<int(Sandbox&)>& body);

} // namespace hpcml::emulate

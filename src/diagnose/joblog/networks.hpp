// SPDX-License-Identifier: MIT
// Which network the ranks' traffic uses, read off what NCCL and RCCL write with NCCL_DEBUG=INFO.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/joblog/log_lines.hpp"

namespace hpcml::joblog {

/// What carries the traffic between nodes.
enum class NetworkTransport { unknown, sockets, infiniband, libfabric, plugin };

/// A line that shows the network.
struct NetworkEvidence {
  std::uint64_t line = 0; ///< from 1; 0: there is none
  std::string text;       ///< clipped
};

/// What was seen in the way of the fast network.
enum class NetworkObstacle {
  no_plugin,        ///< libnccl-net.so or librccl-net.so was not found
  plugin_failed,    ///< it was, and did not start
  no_verbs_library, ///< libibverbs.so is missing
  no_device,        ///< InfiniBand's devices are not seen
  switched_off      ///< disabled by a variable: NCCL_IB_DISABLE=1, NCCL_NET=Socket
};

/// What one process has said.
struct ProcessNetwork {
  std::string host;
  std::optional<unsigned> rank; ///< in the largest of its communicators
  unsigned communicator = 0;    ///< ranks of that
  unsigned nodes = 0;           ///< of the largest of its communicators; 0: unknown
  std::string network;          ///< "Using network X"; empty: unknown
  std::string plugin;           ///< "aws-ofi-rccl 1.4.0"
  std::string provider;         ///< libfabric's: "cxi"
  bool has_ib = false;          ///< devices of InfiniBand or RoCE were found
  bool has_sockets = false;
  std::map<std::string, NetworkEvidence>
      evidence; ///< by what they show: "network", "plugin", "provider", "ib", "socket"
  std::map<NetworkObstacle, NetworkEvidence> obstacles;
};

/// What carries this process's traffic, by its own last word.
NetworkTransport carrier_of(const ProcessNetwork& process);

/// Reads the lines of a log one by one. Remembers at most 65,536 processes.
class NetworkReader {
public:
  void read(std::uint64_t number, const NcclLine& line);
  const std::vector<ProcessNetwork>& processes() const { return x_processes; }
  /// Processes beyond the most that are remembered; their lines were passed over.
  bool overflowed() const { return x_overflowed; }

private:
  ProcessNetwork* process_of(const NcclLine& line);

  std::vector<ProcessNetwork> x_processes;
  std::map<std::string, std::size_t> x_places; ///< by host, process and device
  bool x_overflowed = false;
};

/// Ranks whose traffic goes the same way.
struct NetworkGroup {
  NetworkTransport carrier = NetworkTransport::unknown;
  std::string how; ///< "libfabric's provider cxi (aws-ofi-rccl 1.4.0)", "TCP sockets"
  std::set<std::string> hosts;
  std::set<unsigned> ranks;
  std::size_t processes = 0;
  std::vector<NetworkEvidence> evidence;
  std::map<NetworkObstacle, NetworkEvidence> obstacles;
  std::string warning;           ///< a clause; empty: nothing is wrong
  std::vector<std::string> next; ///< what to do, most likely first
};

/// The answer to "is the fast network really used?".
struct NetworkReport {
  std::vector<NetworkGroup> groups; ///< those with a warning first
  std::size_t processes = 0;
  std::size_t hosts = 0;
  bool several_nodes = false; ///< else nothing goes over a network
  bool complete = true;       ///< all processes of the log were remembered
  bool is_bad() const;
};

/// What a site has between its nodes.
struct SiteNetwork {
  std::string name;   ///< of the site; empty: none is known
  std::string fabric; ///< "Slingshot-11, 4 x 200 Gb/s"; empty: not known
};

/// Groups and evaluates the processes that were read.
NetworkReport evaluate_networks(const NetworkReader& reader, const SiteNetwork& site);

} // namespace hpcml::joblog

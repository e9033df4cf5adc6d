// SPDX-License-Identifier: MIT
// What a launch reads of this process, its node and its network, for the decisions of run/resolve.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "run/launch/launch_context.hpp"
#include "run/resolve/node_queries.hpp"
#include "run/resolve/node_view.hpp"

namespace hpcml::launch {

/// Returns this node as the request needs it.
util::Result<NodeView> read_node(const LaunchRequest& request);

/// Returns the names of the processes above this one, nearest first, up to slurmstepd, of which it is the
/// title ("slurmstepd: [123.4+1]"); at most 64.
std::vector<std::string> read_ancestors();

/// Returns the limits of this process.
ProcessLimits read_limits();

/// Sets the soft limits of this process. One that the kernel rejects stays.
void apply_limits(System& system, const ProcessLimits& limits);

/// Returns the fabric of this node that locks memory, "InfiniBand", "Omni-Path" or "RoCE", by its devices
/// below `root`; empty if it has none.
std::string read_locking_fabric(const std::filesystem::path& root = "/");

/// Asks the system. `context` must live as long as this object.
class SystemNodeQueries : public NodeQueries {
public:
  explicit SystemNodeQueries(const RuntimeContext& context) : x_context(context) {}

  bool has_file(const std::string& path) const override;
  std::string text_of_file(const std::string& path) const override;
  util::Result<slurm::StepNodes> step_nodes() const override;
  util::Result<JobChannelKey> job_channel(const slurm::StepIdentity& identity,
                                          bool starts_all_ranks) const override;
  bool may_be_host(const std::string& address, const std::string& node, bool is_here) const override;
  util::Result<unsigned> free_port() const override;
  find_torch::TorchLookupResult torch(const std::vector<std::string>& command,
                                      const util::EnvSnapshot& env) const override;
  NetworkView network(const std::vector<std::string>& hosts) const override;
  std::string site_fabric() const override;

private:
  const RuntimeContext& x_context;
};

} // namespace hpcml::launch

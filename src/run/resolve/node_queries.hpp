// SPDX-License-Identifier: MIT
// What only some launches have to know, and what costs time, a lookup or a socket. A decision asks for it
// when it needs it: run/launch answers from the system, tests answer from values.
#pragma once

#include <string>
#include <vector>

#include "core/slurm/step_order.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/find_torch/find_torch.hpp"
#include "run/resolve/gloo_interface.hpp"
#include "run/resolve/job_channel_key.hpp"

namespace hpcml::launch {

class NodeQueries {
public:
  NodeQueries() = default;
  virtual ~NodeQueries() = default;
  NodeQueries(const NodeQueries&) = delete;
  NodeQueries& operator=(const NodeQueries&) = delete;

  virtual bool has_file(const std::string& path) const = 0;
  /// Empty if the file cannot be read.
  virtual std::string text_of_file(const std::string& path) const = 0;
  /// The nodes of this process's step as Slurm reports them.
  virtual util::Result<slurm::StepNodes> step_nodes() const = 0;
  /// The key of the job. `starts_all_ranks`: all ranks are children of this process, so that a key that is
  /// drawn here is shared. The error is about a key that exists and is invalid.
  virtual util::Result<JobChannelKey> job_channel(const slurm::StepIdentity& identity,
                                                  bool starts_all_ranks) const = 0;
  /// True if the address can mean the node, as far as names resolve. `is_here`: the node is this one.
  virtual bool may_be_host(const std::string& address, const std::string& node, bool is_here) const = 0;
  /// A port on 127.0.0.1 that is free now.
  virtual util::Result<unsigned> free_port() const = 0;
  /// The torch that a command imports or is linked with, with a rank's environment.
  virtual find_torch::TorchLookupResult torch(const std::vector<std::string>& command,
                                              const util::EnvSnapshot& env) const = 0;
  /// This node's way to the first of these hosts that is another node.
  virtual NetworkView network(const std::vector<std::string>& hosts) const = 0;
  /// The fabric of the site that this machine is known to belong to; empty if unknown.
  virtual std::string site_fabric() const = 0;
};

} // namespace hpcml::launch

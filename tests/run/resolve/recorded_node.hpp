// SPDX-License-Identifier: MIT
// Answers of a node, as values.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "run/resolve/node_queries.hpp"

namespace hpcml::testing {

/// Answers from its members, and keeps the names of the questions that it was asked.
class RecordedNode : public launch::NodeQueries {
public:
  std::set<std::string> files;           ///< that exist
  std::string host_file;                 ///< text of any file
  std::optional<slurm::StepNodes> nodes; ///< of the step; unset: Slurm does not answer
  std::set<std::string> aliases;         ///< addresses that mean rank 0's node
  std::optional<store::SecretKey> key;   ///< of the job
  unsigned port = 40000;                 ///< that is free
  launch::NetworkView network_view;      ///< to the other nodes
  find_torch::TorchLookupResult torch_found;
  std::string fabric; ///< of the site
  mutable std::vector<std::string> queried;

  bool has_file(const std::string& path) const override { return record("has_file"), files.count(path) > 0; }
  std::string text_of_file(const std::string&) const override { return record("text_of_file"), host_file; }
  util::Result<slurm::StepNodes> step_nodes() const override {
    record("step_nodes");
    if (nodes) return *nodes;
    return util::Error{"Slurm does not answer"};
  }
  util::Result<launch::JobChannelKey> job_channel(const slurm::StepIdentity&,
                                                  bool starts_all_ranks) const override {
    record("job_channel");
    return launch::JobChannelKey{key, key.has_value() || starts_all_ranks, false,
                                 key ? "the test" : "no key"};
  }
  bool may_be_host(const std::string& address, const std::string&, bool) const override {
    return record("may_be_host"), aliases.count(address) > 0;
  }
  util::Result<unsigned> free_port() const override { return record("free_port"), port; }
  find_torch::TorchLookupResult torch(const std::vector<std::string>&,
                                      const util::EnvSnapshot&) const override {
    return record("torch"), torch_found;
  }
  launch::NetworkView network(const std::vector<std::string>&) const override {
    return record("network"), network_view;
  }
  std::string site_fabric() const override { return record("site_fabric"), fabric; }

private:
  void record(const char* question) const { queried.emplace_back(question); }
};

} // namespace hpcml::testing

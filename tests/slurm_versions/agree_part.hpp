// SPDX-License-Identifier: MIT
// What each part of a job's record is made from, and how it is written down.
#pragma once

#include "agree_fields.hpp"

namespace hpcml::agree {

/// MB as scontrol prints them: in the next unit where that is exact to half of it.
std::string memory_text(std::uint64_t mb);
/// "1-02:00:00", "UNLIMITED".
std::string time_text(const slurm::TimeLimit& limit);
/// "1-3,5".
std::string index_text(const std::vector<unsigned>& indices);

/// One component of a job, and the fields that are known of it so far.
class FieldPart {
public:
  FieldPart(const slurm::JobOptions& request, const slurm::JobSize& size, const slurm::ClusterFacts& cluster,
            slurm::Version version, Fields& fields)
      : r(request), s(size), c(cluster), x_version(version), x_fields(fields) {}

protected:
  using Version = slurm::Version;
  bool from(Version version) const { return x_version >= version; }
  void set(const std::string& key, std::string value, const std::string& hidden) {
    if (value != hidden) x_fields[key] = std::move(value);
  }
  void copy(const std::string& key, std::string_view option) {
    if (r.has(option)) x_fields[key] = r.text(option);
  }

  const slurm::JobOptions& r;
  const slurm::JobSize& s;
  const slurm::ClusterFacts& c;
  Version x_version;
  Fields& x_fields;
};

/// Nodes, tasks, CPUs and memory.
void print_size(const slurm::JobOptions& request, const slurm::JobSize& size,
                const slurm::ClusterFacts& cluster, slurm::Version version, Fields& fields);
/// GPUs and what is asked by them.
void print_gpus(const slurm::JobOptions& request, const slurm::JobSize& size,
                const slurm::ClusterFacts& cluster, slurm::Version version, Fields& fields);

} // namespace hpcml::agree

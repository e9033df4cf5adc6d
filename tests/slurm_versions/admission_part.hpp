// SPDX-License-Identifier: MIT
// What each part of an admission looks at, and how it refuses.
#pragma once

#include <algorithm>

#include "admission.hpp"

namespace hpcml::slurm {

/// One request before one cluster's controller.
class AdmissionPart {
public:
  AdmissionPart(const JobOptions& request, const JobSize& size, const ClusterFacts& cluster, Version version,
                LocatedFindings& findings)
      : r(request), s(size), c(cluster), x_version(version), x_findings(findings) {}

protected:
  bool from(Version version) const { return x_version >= version; }
  void refuse(std::string_view option, std::string code, std::string message, std::string hint = {}) {
    x_findings.error(r.place(option), "site/" + std::move(code), std::move(message), std::move(hint));
  }
  /// The most nodes that a job of the request's partition gets.
  long max_nodes() const {
    long most = static_cast<long>(c.nodes.size());
    const auto partitions = partitions_of(r, c);
    if (partitions.size() == 1 && partitions.front() && partitions.front()->max_nodes)
      most = std::min<long>(most, *partitions.front()->max_nodes);
    return most;
  }

  const JobOptions& r;
  const JobSize& s;
  const ClusterFacts& c;
  Version x_version;
  LocatedFindings& x_findings;
};

/// What a cluster knows by name or by clock: partitions, features, nodes, GRES, jobs, files, users, times.
void check_known_names(const JobOptions& request, const JobSize& size, const ClusterFacts& cluster,
                       Version version, LocatedFindings& findings);

/// What its nodes can hold, as far as the controller looks at them at submission.
void check_nodes(const JobOptions& request, const JobSize& size, const ClusterFacts& cluster, Version version,
                 LocatedFindings& findings);

} // namespace hpcml::slurm

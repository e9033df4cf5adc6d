// SPDX-License-Identifier: MIT
#include "admission.hpp"

#include <algorithm>

#include "admission_part.hpp"
#include "core/slurm/possible.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

void check_admission(const JobOptions& request, const JobSize& size, const ClusterFacts& cluster,
                     Version version, LocatedFindings& findings) {
  check_known_names(request, size, cluster, version, findings);
  check_contradictions(request, size, version, findings);
  check_nodes(request, size, cluster, version, findings);
}

std::vector<const PartitionFacts*> partitions_of(const JobOptions& request, const ClusterFacts& cluster) {
  std::vector<const PartitionFacts*> found;
  if (request.text("partition").find_first_not_of(',') == std::string::npos) {
    if (!cluster.partitions.empty()) found.push_back(&cluster.partitions.front());
    return found;
  }
  for (const auto& name : util::split(request.text("partition"), ',')) {
    if (name.empty()) continue;
    const auto match = std::find_if(cluster.partitions.begin(), cluster.partitions.end(),
                                    [&](const PartitionFacts& p) { return p.name == name; });
    found.push_back(match == cluster.partitions.end() ? nullptr : &*match);
  }
  return found;
}

} // namespace hpcml::slurm

// SPDX-License-Identifier: MIT
// Requests that contradict themselves: no cluster can fulfil them.
#pragma once

#include "core/slurm/job_size.hpp"

namespace hpcml::slurm {

/// Whether --nodelist names nodes to choose from: from 23.02, where it names more than the job needs.
bool has_choice(const JobOptions& request, ComparisonTrackingVersion version);

/// Whether the tasks are more than this many nodes may hold by --ntasks-per-node.
bool exceeds_places(const JobOptions& request, const JobSize& size, long nodes,
                    ComparisonTrackingVersion version);

/// --nodes=0, where nothing else makes nodes, as a finding "slurm/impossible".
void check_no_nodes(const JobOptions& request, ComparisonTrackingVersion version, LocatedFindings& findings);

/// What is refused at once, however few nodes the cluster has, as findings "slurm/impossible".
void check_contradictions(const JobOptions& request, const JobSize& size, ComparisonTrackingVersion version,
                          LocatedFindings& findings);

/// These and what no cluster with enough nodes takes.
void check_possible(const JobOptions& request, const JobSize& size, ComparisonTrackingVersion version,
                    LocatedFindings& findings);

} // namespace hpcml::slurm

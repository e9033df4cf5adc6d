// SPDX-License-Identifier: MIT
// What of a site would take a job as it is planned: partitions and QoS, as words for hints.
#pragma once

#include <string>

#include "generate/plan/layout.hpp"

namespace hpcml::plan {

/// The partitions with such nodes that take so many, as a hint.
std::string partitions_for(const LayoutInput& input, unsigned long long have,
                           model::Known<unsigned> model::Limits::*least,
                           model::Known<unsigned> model::Limits::*most);
/// The QoS that take so many, as a hint.
std::string qos_for(const LayoutInput& input, unsigned long long have,
                    model::Known<unsigned> model::Limits::*most);
/// The partitions like the job's that take so many nodes.
std::string partitions_with_nodes(const LayoutInput& input, unsigned long long nodes);
/// The partitions with such nodes that give the time.
std::string partitions_that_allow(const LayoutInput& input, model::Walltime time);
/// The QoS that a job there could name instead, and that are long enough.
std::string qos_that_allow(const LayoutInput& input, model::Walltime time);
/// The partitions that have a node with so many GPUs.
std::string partitions_with_gpus(const LayoutInput& input, unsigned long long gpus);

} // namespace hpcml::plan

// SPDX-License-Identifier: MIT
// Recorded clusters for the tests of discover.
#pragma once

#include <string>

#include "core/model/site.hpp"
#include "generate/discover/cluster_facts.hpp"
#include "generate/discover/generated_profile.hpp"
#include "generate/discover/node_kinds.hpp"

namespace hpcml::test {

/// What a recorded cluster of tests/generate/discover/recorded says.
discover::ClusterFacts recorded_cluster(const std::string& name);
/// The profile's site; the test fails with the findings when it is not valid under schema and reader.
model::Site read_profile(const std::string& text);
/// The site that discover makes of the recorded cluster.
model::Site discovered(const std::string& name, discover::ProfileGenerationInput request = {});

} // namespace hpcml::test

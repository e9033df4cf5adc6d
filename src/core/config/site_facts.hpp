// SPDX-License-Identifier: MIT
// A merged profile as a flat list of facts.
#pragma once

#include "core/config/json_tree.hpp"
#include "core/config/site_store.hpp"

namespace hpcml::config {

/// Every value of the profile but its sources and its list of unknown facts, with where it came from.
SiteFacts make_facts(const JsonNode& profile);

} // namespace hpcml::config

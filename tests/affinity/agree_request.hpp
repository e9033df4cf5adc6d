// SPDX-License-Identifier: MIT
// Requests and expectations of placement cases as hpcml's own values.
#pragma once

#include <nlohmann/json.hpp>

#include "core/topo/affinity.hpp"
#include "core/topo/check_placement.hpp"
#include "core/topo/compat.hpp"

namespace hpcml::agree {

using Json = nlohmann::json;

/// A number, also one that is written as text; 0 where there is none.
unsigned number_of(const Json& object, std::initializer_list<const char*> keys, unsigned fallback = 0);
std::string text_of(const Json& object, std::initializer_list<const char*> keys);
model::IdSet cpus_of(const Json& object, std::initializer_list<const char*> keys);
std::vector<unsigned> numbers_of(const Json& value);

/// The request in hpcml's own terms, for the cases whose plans are ours to make.
topo::AffinityRequest plan_request(const Json& request);

/// The policy of another tool that the case is about; empty: none.
std::string policy_of(const Json& item);
topo::ThirdPartyAffinityRequest compat_request(const Json& item, const std::string& policy,
                                               const topo::Node& node);

/// Keys of the request, of the expectations and of the checks that no judge reads.
std::vector<std::string> unread_keys(const Json& item);

/// The tasks of a list of expectations.
std::vector<topo::PlacedRank> placed_tasks(const Json& expected);

} // namespace hpcml::agree

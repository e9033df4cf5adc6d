// SPDX-License-Identifier: MIT
// The parts of a profile, one reader each; used by site_reader.cpp only.
#pragma once

#include "model/site.hpp"
#include "spec/object_reader.hpp"

namespace hpcml::spec {

model::When read_when(ObjectReader& owner);
std::optional<model::Policy> read_policy(ObjectReader& object, std::string_view key);
/// A regular expression that compiles and is short enough to be matched safely.
std::string read_pattern(ObjectReader& object, std::string_view key);
/// Whether a text at `key` is a regular expression, where these are tried; if not, that is reported.
bool is_pattern(ObjectReader& object, std::string_view key, const std::string& pattern);

model::NodeType read_node_type(ObjectReader& object);
model::Partition read_partition(ObjectReader& object);
model::Qos read_qos(ObjectReader& object);
void read_policies(ObjectReader& root, model::Site& site);
void read_submit(ObjectReader& root, model::Site& site);
void read_storage(ObjectReader& root, model::Site& site);
void read_request_rules(ObjectReader& root, model::Site& site);
void read_launchers(ObjectReader& root, model::Site& site);
void read_environment(ObjectReader& root, model::Site& site);
void read_software(ObjectReader& root, model::Site& site);
void read_network(ObjectReader& root, model::Site& site);

} // namespace hpcml::spec

// SPDX-License-Identifier: MIT
// The schemas of a profile's objects, each in the file of its kind; site_profile.cpp has the whole.
#pragma once

#include "core/config/object_schema.hpp"
#include "core/model/site.hpp"

namespace hpcml::config {

template <> const ObjectSchema<model::RuleCondition>& schema_of();
template <> const ObjectSchema<model::Site>& schema_of();
template <> const ObjectSchema<model::SourceDocument>& schema_of();
template <> const ObjectSchema<model::DetectionRule>& schema_of();

// site_nodes.cpp
template <> const ObjectSchema<model::NodeType>& schema_of();

// site_limits.cpp
template <> const ObjectSchema<model::Partition>& schema_of();
template <> const ObjectSchema<model::Qos>& schema_of();
template <> const ObjectSchema<model::SiteLimits>& schema_of();

// site_rules.cpp
template <> const ObjectSchema<model::SbatchOptionRule>& schema_of();
template <> const ObjectSchema<model::SiteAddedJobOption>& schema_of();
template <> const ObjectSchema<model::GpuRequestRule>& schema_of();
template <> const ObjectSchema<model::GpuVisibilityRule>& schema_of();
template <> const ObjectSchema<model::LauncherRule>& schema_of();
template <> const ObjectSchema<model::SubmitRule>& schema_of();

// site_software.cpp
template <> const ObjectSchema<model::EnvRule>& schema_of();
template <> const ObjectSchema<model::CacheRule>& schema_of();
template <> const ObjectSchema<model::ConflictRule>& schema_of();
template <> const ObjectSchema<model::ModuleRule>& schema_of();
template <> const ObjectSchema<model::ContainerRule>& schema_of();
template <> const ObjectSchema<model::PythonPackageRule>& schema_of();

// site_network.cpp
template <> const ObjectSchema<model::NetworkRule>& schema_of();
template <> const ObjectSchema<model::StorageRule>& schema_of();

/// The first rule of a list holds the others.
template <class Rule> void add_rule(std::optional<Rule>& first, Rule rule) {
  if (!first)
    first = std::move(rule);
  else
    first->more.push_back(std::move(rule));
}

/// Whether a text at `key` is a regular expression that compiles and is short enough to be matched safely,
/// where these are tried; if not, that is reported.
bool is_pattern(ObjectReader& object, std::string_view key, const std::string& pattern);
/// Whether a text is a day that exists, written YYYY-MM-DD.
bool is_date(std::string_view text);
inline constexpr const char* k_date_fault = "a date is written YYYY-MM-DD";
/// An image may state how it is activated; a profile that fills the variable itself would say what runs.
void check_activation(ObjectReader& container, const model::ContainerRule& rule, const model::Site& site);

/// What a day looks like in a profile.
inline constexpr std::string_view k_day = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";

inline std::vector<std::string> open_or_request() { return {"open", "request"}; }
inline std::vector<std::string> sbatch_or_srun() { return {"sbatch", "srun"}; }

} // namespace hpcml::config

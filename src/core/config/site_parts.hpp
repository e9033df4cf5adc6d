// SPDX-License-Identifier: MIT
// The forms of a profile's objects, each in the file of its kind; site_reader.cpp has the whole.
#pragma once

#include "core/config/object_form.hpp"
#include "core/model/site.hpp"

namespace hpcml::config {

template <> const ObjectForm<model::When>& form_of();
template <> const ObjectForm<model::Site>& form_of();
template <> const ObjectForm<model::SourceDocument>& form_of();
template <> const ObjectForm<model::Detect>& form_of();

// site_nodes.cpp
template <> const ObjectForm<model::NodeType>& form_of();

// site_limits.cpp
template <> const ObjectForm<model::Partition>& form_of();
template <> const ObjectForm<model::Qos>& form_of();
template <> const ObjectForm<model::PolicyRules>& form_of();

// site_rules.cpp
template <> const ObjectForm<model::FlagRule>& form_of();
template <> const ObjectForm<model::CommonOption>& form_of();
template <> const ObjectForm<model::GpuRequest>& form_of();
template <> const ObjectForm<model::GpuVisibility>& form_of();
template <> const ObjectForm<model::LauncherRule>& form_of();
template <> const ObjectForm<model::SubmitRule>& form_of();

// site_software.cpp
template <> const ObjectForm<model::EnvRule>& form_of();
template <> const ObjectForm<model::CacheRule>& form_of();
template <> const ObjectForm<model::ConflictRule>& form_of();
template <> const ObjectForm<model::ModuleRule>& form_of();
template <> const ObjectForm<model::ContainerRule>& form_of();
template <> const ObjectForm<model::PythonRule>& form_of();

// site_network.cpp
template <> const ObjectForm<model::NetworkRule>& form_of();
template <> const ObjectForm<model::StorageRule>& form_of();

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

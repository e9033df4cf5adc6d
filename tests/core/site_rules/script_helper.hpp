// SPDX-License-Identifier: MIT
// Values of sites and requests, and scripts as demands.
#pragma once

#include <string>
#include <utility>

#include "core/model/site.hpp"
#include "core/site_rules/resource_request.hpp"

namespace hpcml::test {

/// A value without an origin.
template <class T> model::Sourced<T> sourced(T value) { return {std::move(value), {}}; }

/// What a script with these options asks for; the newest Slurm takes them.
site_rules::ResourceRequest script_demand(const std::string& options);

} // namespace hpcml::test

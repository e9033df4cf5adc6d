// SPDX-License-Identifier: MIT
// Scripts as demands, and the sites that hpcml comes with.
#pragma once

#include <string>

#include "model/site.hpp"
#include "site/demand.hpp"

namespace hpcml::test {

model::Site shipped_site(const std::string& id);
/// What a script with these options asks for; the newest Slurm takes them.
site::Demand script_demand(const std::string& options);

} // namespace hpcml::test

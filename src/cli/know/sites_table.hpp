// SPDX-License-Identifier: MIT
// Sites as tables of text. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/config/site_store.hpp"
#include "core/model/site.hpp"

namespace hpcml::cli {

/// "production", "early", "retired, see fir".
std::string state_of(const model::Site& site);

/// The column heads of sites_row.
std::vector<std::string> sites_head();
/// One site: id, state, GPUs per node, GPU nodes, longest time and most nodes of its usual partition, the day
/// its newest source was read, name.
/// "?" is what no source says, "-" what there is not.
std::vector<std::string> sites_row(const model::Site& site);

/// Returns the site's partitions: nodes, GPUs, limits, whether jobs get whole nodes ("?" if the profile does
/// not state it); empty if the profile has none.
std::string render_partitions(const model::Site& site, const config::SiteFacts& facts);
/// What the QoS limit; empty where the profile names none.
std::string render_qos(const model::Site& site);

/// "2d", "36h", "1h30m", "10m"; seconds only where there are some.
std::string short_time(const model::Walltime& time);

} // namespace hpcml::cli

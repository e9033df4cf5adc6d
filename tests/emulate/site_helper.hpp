// SPDX-License-Identifier: MIT
// Sites and folders for the emulation's tests.
#pragma once

#include <filesystem>
#include <string>

#include "core/model/site.hpp"
#include "emulate/cluster_layout.hpp"
#include "shipped_site.hpp"
#include "temp_directory.hpp"

namespace hpcml::test {

/// A small made-up site: one type of node with 4 GPUs, partitions "main" (exclusive), "dev" and "other"
/// (other nodes).
model::Site small_site();
/// The layout, which must be possible.
emulate::ClusterLayout layout_of(const model::Site& site, const std::string& partition = {},
                                 unsigned nodes = 2);

} // namespace hpcml::test

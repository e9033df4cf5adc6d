// SPDX-License-Identifier: MIT
// Profiles as the build merged them: a form that is read back without parsing JSON, merging layers or
// hashing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/json_tree.hpp"
#include "core/config/site_store.hpp"
#include "core/util/embedded.hpp"

namespace hpcml::config {

/// A profile with those it extends laid under it.
struct MergedProfile {
  std::string hash; ///< of the tree, as Site has it
  JsonNode root; ///< read back: with files, sources and dates, but without lines and columns, for nothing is
                 ///< wrong with it
};

/// The profile in a form of this program's own, good for the same build only.
std::string render_merged(const MergedProfile& profile);
/// Reads it back; nothing if it is no such text.
std::optional<MergedProfile> parse_merged(std::string_view text);
/// The compiled-in site of that id in that form; empty if there is none.
std::string merge_built_in(const std::string& id);

/// Of each compiled-in site its layers' ids with commas between them, its own first, and its profile in that
/// form.
using MergedProfiles = std::span<const embedded::EmbeddedFile>;
/// Like load_site, but a site none of whose layers is in the directories is taken from `merged`.
SiteLoad load_site(const std::string& id, const std::vector<std::string>& directories, MergedProfiles merged);

} // namespace hpcml::config

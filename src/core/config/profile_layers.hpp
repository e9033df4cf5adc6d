// SPDX-License-Identifier: MIT
// Profiles in layers: centre, site, user; found by id, merged along `extends`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/config/json_tree.hpp"
#include "core/config/site_store.hpp"

namespace hpcml::config {

/// The text of a profile and where it came from.
struct ProfileFile {
  std::string path; ///< "built in: lumi.json" for one that is compiled in
  std::string text;
  bool built_in = false;
  std::size_t place = 0; ///< which of the searched places had it; a layer is looked for after it
  std::string id;
};

/// The profile of that id that is compiled in; `place` is the number of its place.
std::optional<ProfileFile> find_built_in(const std::string& id, std::size_t place = 0);

/// Looks a profile up by its id, in the places from number `from` on; nothing if none has it.
using FindProfile = std::function<std::optional<ProfileFile>(const std::string& id, std::size_t from)>;

/// A merged profile with all that is wrong with its files.
struct ProfileLoadResult {
  std::optional<JsonNode> root;
  diag::Diagnostics diagnostics;
  std::vector<ProfileFile> files; ///< the profile's own first, then the layers it extends
  bool is_abstract = false;       ///< a layer for others, not a site
  bool whole = true; ///< each layer was found and read: else what is missing here may be in one of them
  bool checked_by_build = true; ///< all of the files are compiled in, and this is not the build
};

/// Parses `file` and merges it over the profiles that it extends. A profile may extend one with its own id:
/// that of the next place.
ProfileLoadResult load_layers(const ProfileFile& file, const FindProfile& find,
                              ProfilesToValidate scope = ProfilesToValidate::brought);

/// `over` laid over `base`: objects merge, a null removes, everything else is replaced.
JsonNode merge_layers(JsonNode base, const JsonNode& over);

} // namespace hpcml::config

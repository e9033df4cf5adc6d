// SPDX-License-Identifier: MIT
// The comment by which a generated script names its origin.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpcml::model {

struct ScriptProvenance {
  std::string version; ///< of hpcml
  std::string site;
  std::string profile = {}; ///< hash of the site's profile

  /// "Written by hpcml 0.1.0 for site lumi (profile e9a09ae7ab92b06b)".
  std::string text() const;
};

/// The head in a script's comments; nothing if hpcml has not written it.
std::optional<ScriptProvenance> find_script_head(std::string_view script);

/// The script with a comment after its head that has a checksum of all other lines. Unchanged if it has no
/// head.
std::string add_checksum(const std::string& script);
/// True if the script has the comment of add_checksum and was not edited since.
bool has_valid_checksum(std::string_view script);

} // namespace hpcml::model

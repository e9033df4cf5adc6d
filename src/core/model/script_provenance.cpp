// SPDX-License-Identifier: MIT
#include "core/model/script_provenance.hpp"

#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::model {

namespace {

constexpr std::string_view k_version = "Written by hpcml ", k_site = " for site ", k_profile = " (profile ";

std::string word_at(std::string_view text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return std::string(text.substr(0, text.find_first_of(" :)\r")));
}

constexpr std::string_view k_checksum = "# Checksum ",
                           k_advice =
                               " if this script is edited, hpcml keeps it as FILE.old before it writes "
                               "FILE again";

std::string checksum_text(std::string_view script) {
  return fmt::format("{}{:016x}:", k_checksum, util::fnv1a(script));
}

/// The end of the comment lines that begin with the head; npos if there is none.
std::size_t end_of_head(std::string_view script) {
  auto at =
      script.starts_with("# " + std::string(k_version)) ? 0 : script.find("\n# " + std::string(k_version));
  if (at == std::string_view::npos) return at;
  constexpr std::string_view k_continued = "#  "; // lines of its command
  do {
    at = script.find('\n', at + 1);
    if (at == std::string_view::npos) return at;
  } while (script.substr(at + 1).starts_with(k_continued));
  return at + 1;
}

} // namespace

std::string ScriptProvenance::text() const {
  std::string text = std::string(k_version) + version;
  text += std::string(k_site) + site;
  return text + std::string(k_profile) + profile + ")";
}

std::optional<ScriptProvenance> find_script_head(std::string_view script) {
  for (const auto& line : util::split(std::string(script), '\n')) {
    if (!line.starts_with("#") || line.find(k_version) == std::string::npos) continue;
    return ScriptProvenance{word_at(line, k_version), word_at(line, k_site), word_at(line, k_profile)};
  }
  return std::nullopt;
}

std::string add_checksum(const std::string& script) {
  const auto at = end_of_head(script);
  return at == std::string::npos ? script
                                 : script.substr(0, at) + checksum_text(script) + std::string(k_advice) +
                                       '\n' + script.substr(at);
}

bool has_valid_checksum(std::string_view script) {
  const auto at = end_of_head(script);
  if (at == std::string_view::npos || !script.substr(at).starts_with(k_checksum)) return false;
  const auto end = script.find('\n', at);
  if (end == std::string_view::npos) return false;
  const auto rest = std::string(script.substr(0, at)) + std::string(script.substr(end + 1));
  return script.substr(at).starts_with(checksum_text(rest)); // the advice may be that of another version
}

} // namespace hpcml::model

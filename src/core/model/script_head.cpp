// SPDX-License-Identifier: MIT
#include "core/model/script_head.hpp"

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

} // namespace

std::string ScriptHead::text() const {
  std::string text = std::string(k_version) + version;
  text += std::string(k_site) + site;
  return text + std::string(k_profile) + profile + ")";
}

std::optional<ScriptHead> find_script_head(std::string_view script) {
  for (const auto& line : util::split(std::string(script), '\n')) {
    if (!line.starts_with("#") || line.find(k_version) == std::string::npos) continue;
    return ScriptHead{word_at(line, k_version), word_at(line, k_site), word_at(line, k_profile)};
  }
  return std::nullopt;
}

} // namespace hpcml::model

// SPDX-License-Identifier: MIT
#include "generate/import_script/visible_devices.hpp"

#include <algorithm>

#include "core/model/gpu_vendor.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::import_script {
namespace {

/// Returns the place after a value of shell text that begins at `at`: quotes and brackets contain anything.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  unsigned depth = 0;
  char quote = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '{') ++depth;
    if ((c == ')' || c == '}') && depth > 0) --depth;
    if (c == '"' || c == '\'') quote = quote == 0 ? c : quote == c ? '\0' : quote;
    if (depth == 0 && quote == 0 && std::string_view(" \t\n;&|").find(c) != std::string_view::npos) return at;
  }
  return at;
}

/// Whether the value lists devices, or is chosen by the local rank.
bool is_device_value(std::string_view value) {
  for (const std::string_view rank : {"LOCALID", "LOCAL_RANK", "LOCAL_ID"})
    if (value.find(rank) != std::string_view::npos) return true;
  return !value.empty() && value.find_first_not_of("0123456789,\"'\\") == std::string_view::npos;
}

} // namespace

bool is_device_list(const std::string& name) {
  return util::contains(model::k_visible_devices_variables, name);
}

std::optional<ByteRange> find_device_setting(std::string_view text, std::size_t from) {
  constexpr std::string_view k_equals = "_VISIBLE_DEVICES=";
  for (auto at = text.find(k_equals, from); at != std::string_view::npos; at = text.find(k_equals, at + 1)) {
    auto begin = at;
    while (begin > from && shell::is_name_char(text[begin - 1])) --begin;
    const auto value = at + k_equals.size();
    auto end = end_of_value(text, value);
    // In "export X=1" within quotes the quote that ends the text ends the value as well.
    if (end == text.size() && end > value && (text.back() == '"' || text.back() == '\'')) --end;
    if (is_device_value(text.substr(value, end - value))) return ByteRange{begin, end};
  }
  return std::nullopt;
}

std::string without_device_settings(const std::string& text) {
  constexpr std::string_view k_export = "export ";
  std::string result;
  std::size_t at = 0;
  while (const auto setting = find_device_setting(text, at)) {
    const auto before = text.substr(at, setting->begin - at);
    if (before.ends_with(k_export)) {
      result += before.substr(0, before.size() - k_export.size()) + "true";
      at = setting->end;
    } else {
      result += before;
      at = std::min(text.find_first_not_of(" \t", setting->end), text.size());
    }
  }
  return result + text.substr(at);
}

void cut_device_prefix(TextCuts& cuts, std::string_view text, std::size_t launch) {
  const auto line = cuts.line_begin(launch);
  const auto before = text.substr(line, launch - line);
  std::size_t at = 0;
  while (const auto setting = find_device_setting(before, at)) {
    at = std::min(before.find_first_not_of(" \t", setting->end), before.size());
    const bool is_of_launch = before.find_first_of(";&|", setting->end) == std::string_view::npos;
    if (is_of_launch) cuts.cut({line + setting->begin, line + at});
  }
}

void drop_device_settings(std::vector<std::string>& words) {
  if (words.empty()) return;
  const bool by_env = words.front() == "env";
  for (auto& word : words)
    if (by_env || word.find_first_of(" \n") != std::string::npos) word = without_device_settings(word);
  if (by_env) std::erase(words, "");
}

} // namespace hpcml::import_script

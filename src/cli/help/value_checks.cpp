// SPDX-License-Identifier: MIT
#include "cli/help/value_checks.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

/// "{text,json}": closed_values() reads it from the type of the option.
std::string listed(const std::vector<std::string>& words) { return "{" + util::join(words, ",") + "}"; }

} // namespace

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](std::string& text) {
    return util::contains(words, text) ? std::string() : "invalid value '" + text + "'";
  };
  return {check, listed(words)};
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](std::string& text) {
    const auto number = util::parse_unsigned(text);
    return number && *number >= least && *number <= most
               ? std::string()
               : fmt::format("must be a whole number from {} to {}, not '{}'", least, most, text);
  };
  return {check, ""};
}

CLI::Validator values_shown(const std::vector<std::string>& words) {
  return {[](std::string& /*text*/) { return std::string(); }, listed(words)};
}

CLI::Option* add_format(CLI::App& command, std::string& format, const std::vector<std::string>& words,
                        const std::string& text) {
  return command.add_option("--format", format, text)
      ->type_name("FORMAT")
      ->check(one_of(words))
      ->capture_default_str();
}

std::string value_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  if (option.get_items_expected_max() == 0) return {};
  const auto type = option.get_type_name();
  return type.substr(0, type.find(":{")); // the closed set is what follows
}

std::vector<std::string> closed_values(const CLI::Option& option) {
  const auto type = option.get_type_name();
  const auto begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return util::split(type.substr(begin + 1, end - begin - 1), ',');
}

} // namespace hpcml::cli

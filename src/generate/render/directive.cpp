// SPDX-License-Identifier: MIT
#include "generate/render/directive.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::render {

namespace {
// Slurm copies each word into a buffer of BUFSIZ bytes; the name of the option shares it.
constexpr std::size_t k_longest_value = 8000;
} // namespace

util::Result<std::string> escape_directive_value(std::string_view value, std::string_view option) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto c = static_cast<unsigned char>(value[i]);
    if (c == '\n' || c == '\r')
      return util::Error{
          fmt::format("the value of {} cannot contain a line break: an #SBATCH line has one line", option),
          "remove the line break from the value", i};
    if (c < 0x20 || c == 0x7f)
      return util::Error{
          fmt::format(
              "the value of {} cannot contain a control character in an #SBATCH line: byte {} is {:#04x}",
              option, i + 1, c),
          "remove the character from the value", i};
  }
  if (value.size() > k_longest_value)
    return util::Error{
        fmt::format("the value of {} has {} bytes and exceeds what Slurm reads in an #SBATCH line "
                    "({} bytes)",
                    option, value.size(), k_longest_value),
        "use a shorter value", k_longest_value};
  const bool plain = std::all_of(value.begin(), value.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./=:,@%+^[]*{}&|!~?").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (plain && !value.empty()) return std::string(value);
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

util::Status check_directive_name(std::string_view name) {
  const bool longer = name.size() > 2 && name.starts_with("--");
  const bool letters = longer && std::all_of(name.begin() + 2, name.end(),
                                             [](char c) { return util::is_name_char(c) || c == '-'; });
  const bool brief =
      name.size() == 2 && name[0] == '-' && std::isalpha(static_cast<unsigned char>(name[1])) != 0;
  if (letters || brief) return util::Success{};
  return util::Error{fmt::format("'{}' is not the name of an sbatch option", name),
                     "use the form --NAME=VALUE, such as --sbatch=--reservation=test"};
}

} // namespace hpcml::render

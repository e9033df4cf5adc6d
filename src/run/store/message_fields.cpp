// SPDX-License-Identifier: MIT
#include "run/store/message_fields.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "core/util/visible.hpp"

namespace hpcml::store {

namespace {

constexpr std::string_view k_program = "hpcml ";
constexpr std::size_t k_longest_version = 32;
constexpr std::size_t k_longest_printed = 200;

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= k_longest_version && text.front() >= '0' && text.front() <= '9' &&
         text.find('.') != std::string_view::npos && std::all_of(text.begin(), text.end(), [](char c) {
           return util::is_name_char(c) || c == '.' || c == '-' || c == '+';
         });
}

} // namespace

std::string message_mark(std::string_view name) {
  return fmt::format("{}{} {}", k_program, HPCML_VERSION, name);
}

std::optional<std::string> other_version(std::string_view bytes) {
  auto mark = WireReader(bytes).text();
  if (!mark.starts_with(k_program)) return std::nullopt;
  mark.remove_prefix(k_program.size());
  const auto version = mark.substr(0, mark.find(' '));
  if (!is_version(version) || version == HPCML_VERSION) return std::nullopt;
  return std::string(version);
}

util::Error message_error(std::string_view bytes, std::string_view name, std::string_view fault) {
  if (const auto version = other_version(bytes))
    return {fmt::format("uses hpcml {}, and this process uses hpcml {}", *version, HPCML_VERSION),
            "use the same version of hpcml on all nodes"};
  if (WireReader(bytes).text() != message_mark(name))
    return {fmt::format("sent a message other than '{}'", name)};
  return {fmt::format("sent an invalid message '{}': {}", name,
                      fault.empty() ? "it is too long" : fmt::format("field '{}'", fault))};
}

std::string printed_text(std::string_view text) {
  auto line = util::visible(text.substr(0, k_longest_printed));
  for (auto at = line.find('\n'); at != std::string::npos; at = line.find('\n', at))
    line.replace(at, 1, "\\n");
  return text.size() > k_longest_printed ? line + "…" : line;
}

} // namespace hpcml::store
